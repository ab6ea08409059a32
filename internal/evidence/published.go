package evidence

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// locomoCategories are the numbers of LoCoMo's file.
var locomoCategories = map[string]string{"1": "multi-hop", "2": "temporal", "3": "open-domain", "4": "single-hop",
	"5": "adversarial"}

// dialogID matches the ids in LoCoMo's evidence, several of which can stand in
// one string.
var dialogID = regexp.MustCompile(`D(\d+):0*(\d+)`)

// parseLoCoMo reads an entry of locomo10.json: its sessions stand under
// session_1, session_2, ... with session_1_date_time beside them.
func parseLoCoMo(doc []byte) (Dataset, error) {
	var file struct {
		ID           string `json:"sample_id"`
		Conversation map[string]json.RawMessage
		QA           []struct {
			Question string
			Category json.RawMessage
			Evidence []string
		}
	}
	if err := json.Unmarshal(doc, &file); err != nil {
		return Dataset{}, err
	}
	d := Dataset{ID: file.ID}
	for n := 1; ; n++ {
		key := fmt.Sprintf("session_%d", n)
		raw, ok := file.Conversation[key]
		if !ok {
			break
		}
		var turns []struct {
			Speaker, Text string

			ID      string `json:"dia_id"`
			Caption string `json:"blip_caption"`
		}
		if err := json.Unmarshal(raw, &turns); err != nil {
			return d, fmt.Errorf("%s: %w", key, err)
		}
		s := Session{ID: fmt.Sprint(n), Date: scalar(file.Conversation[key+"_date_time"])}
		for _, t := range turns {
			s.Turns = append(s.Turns, Turn{ID: t.ID, Speaker: t.Speaker, Said: t.Text, Caption: t.Caption})
		}
		d.Sessions = append(d.Sessions, s)
	}
	for _, q := range file.QA {
		question := Question{Text: q.Question, Category: scalar(q.Category)}
		if name, ok := locomoCategories[question.Category]; ok {
			question.Category = name
		}
		for _, m := range dialogID.FindAllStringSubmatch(strings.Join(q.Evidence, " "), -1) {
			question.Evidence = append(question.Evidence, "D"+m[1]+":"+m[2])
		}
		d.Questions = append(d.Questions, question)
	}
	return d, nil
}

// parseLongMemEval reads an entry of longmemeval_s.json or one of its sisters:
// one question, and the sessions it is looked for in. Questions that are to be
// abstained from, whose ids end in _abs, have no evidence.
func parseLongMemEval(doc []byte) (Dataset, error) {
	var file struct {
		ID       string   `json:"question_id"`
		Type     string   `json:"question_type"`
		Question string   `json:"question"`
		Date     string   `json:"question_date"`
		Answers  []string `json:"answer_session_ids"`
		IDs      []string `json:"haystack_session_ids"`
		Dates    []string `json:"haystack_dates"`
		Sessions [][]struct {
			Role, Content string

			HasAnswer bool `json:"has_answer"`
		} `json:"haystack_sessions"`
	}
	if err := json.Unmarshal(doc, &file); err != nil {
		return Dataset{}, err
	}
	if len(file.IDs) != len(file.Sessions) {
		return Dataset{}, errors.New("haystack_session_ids and haystack_sessions are not of one length")
	}
	d := Dataset{ID: file.ID}
	q := Question{Text: file.Question, Date: file.Date, Category: file.Type, Sessions: file.Answers}
	for i, turns := range file.Sessions {
		s := Session{ID: file.IDs[i]}
		if i < len(file.Dates) {
			s.Date = file.Dates[i]
		}
		for k, t := range turns {
			id := fmt.Sprintf("%d/%s/%d", i, s.ID, k+1) // some haystacks hold a session twice
			s.Turns = append(s.Turns, Turn{ID: id, Speaker: t.Role, Said: t.Content})
			if t.HasAnswer {
				q.Evidence = append(q.Evidence, id)
			}
		}
		d.Sessions = append(d.Sessions, s)
	}
	if strings.HasSuffix(file.ID, "_abs") {
		q.Evidence, q.Sessions = nil, nil
	}
	d.Questions = []Question{q}
	return d, nil
}
