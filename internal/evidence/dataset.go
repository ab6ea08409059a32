package evidence

import (
	"fmt"
	"slices"
)

// Dataset is one conversation with questions about it. In its plain form it is
// a JSON object with id, turns[{id, session, date, speaker, text, caption}] and
// questions[{question, evidence[ids], evidence_sessions[], category,
// category_name, question_date}].
type Dataset struct {
	ID        string
	Sessions  []Session
	Questions []Question
}

// Session is turns that were said together, in order.
type Session struct {
	ID    string
	Date  string // as the source writes it; may be empty
	Turns []Turn
}

// Turn is what one speaker said.
type Turn struct {
	ID      string
	Speaker string
	Said    string
	Caption string // of a picture that was shared
}

// Text is the turn as memories are given it.
func (t *Turn) Text() string {
	text := t.Speaker + ` said, "` + t.Said + `"`
	if t.Caption != "" {
		text += " and shared " + t.Caption
	}
	return text
}

// Question is asked after the whole conversation.
type Question struct {
	Text     string
	Date     string
	Category string
	// Evidence are the ids of the turns an answer needs.
	Evidence []string
	// Sessions are the ids of the sessions an answer needs, those of the
	// evidence where the source names none.
	Sessions []string
}

// check fixes what can be told without guessing and refuses the rest.
func (d *Dataset) check() error {
	session := make(map[string]string)
	for _, s := range d.Sessions {
		for _, t := range s.Turns {
			if _, twice := session[t.ID]; twice || t.ID == "" {
				return fmt.Errorf("conversation %q: two turns have the id %q: each needs one of its own", d.ID, t.ID)
			}
			session[t.ID] = s.ID
		}
	}
	if len(session) == 0 {
		return fmt.Errorf("conversation %q has no turns", d.ID)
	}
	for i := range d.Questions {
		q := &d.Questions[i]
		q.Evidence = unique(q.Evidence)
		if len(q.Sessions) == 0 {
			for _, id := range q.Evidence {
				if s, ok := session[id]; ok {
					q.Sessions = append(q.Sessions, s)
				}
			}
		}
		q.Sessions = unique(q.Sessions)
	}
	return nil
}

// unique is a list without repetitions, in its order.
func unique(list []string) (out []string) {
	for _, s := range list {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
