package transcript_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/transcript"
)

// The functions below read a log as the program that writes it does when it
// goes on with the session, with nothing of this package: a line for each
// thing that the model is shown.

// shown are the readers, by format.
var shown = map[transcript.Format]func(tb rapid.TB, log []byte) []string{
	codex:     codexShows,
	pi:        piShows,
	openHands: handsShows,
}

func logLines(data []byte) (lines [][]byte) {
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			lines = append(lines, line)
		}
	}
	return lines
}

type codexItem struct {
	Type, Role, Name, Arguments, Input string
	CallID                             string `json:"call_id"`
	Encrypted                          string `json:"encrypted_content"`
	Content, Output, Action            json.RawMessage
}

func (it codexItem) line() string {
	switch {
	case it.Type == "message" && it.Role == "developer":
		return "system " + textOf(it.Content)
	case it.Type == "message":
		return it.Role + " " + textOf(it.Content)
	case strings.HasPrefix(it.Type, "compaction"):
		return "user encrypted"
	case strings.HasSuffix(it.Type, "_output"):
		return "result " + it.CallID + " " + textOf(it.Output)
	case strings.HasSuffix(it.Type, "_call") && it.CallID != "":
		return "call " + it.CallID
	}
	return "" // reasoning and the like
}

// person is what Codex takes for words of the person.
func (it codexItem) person() bool {
	text := textOf(it.Content)
	return it.Type == "message" && it.Role == "user" && !strings.Contains(text, "</") || strings.HasPrefix(text,
		"<compaction_summary-") ||
		strings.HasPrefix(text, "<injected-")
}

func codexShows(tb rapid.TB, log []byte) (lines []string) {
	var items []codexItem
	base := ""
	for _, line := range logLines(log) {
		l := unmarshal[struct {
			Type    string
			Payload json.RawMessage
		}](tb, line)
		switch l.Type {
		case "session_meta":
			base = unmarshal[struct {
				Base struct{ Text string } `json:"base_instructions"`
			}](tb, l.Payload).Base.Text
		case "response_item":
			items = append(items, unmarshal[codexItem](tb, l.Payload))
		case "compacted":
			c := unmarshal[struct {
				Message  string
				Replaced []codexItem `json:"replacement_history"`
			}](tb, l.Payload)
			if c.Replaced != nil {
				items = slices.Clone(c.Replaced)
				break
			}
			summary, _ := json.Marshal(c.Message)
			items = slices.DeleteFunc(items, func(it codexItem) bool { // what it rewrites itself, and the person
				own := it.Role == "user" && strings.HasPrefix(textOf(it.Content), "# AGENTS") || it.Role == "developer"
				return !own && !(it.person() && !strings.HasPrefix(textOf(it.Content), "Another language model"))
			})
			items = append(items, codexItem{Type: "message", Role: "user", Content: summary})
		case "event_msg":
			e := unmarshal[struct {
				Type  string
				Turns int `json:"num_turns"`
			}](tb, l.Payload)
			for n := e.Turns; e.Type == "thread_rolled_back" && n > 0; n-- {
				for i := len(items) - 1; i >= 0; i-- {
					if items[i].person() {
						items = items[:i]
						break
					}
				}
			}
		}
	}
	if base != "" {
		lines = append(lines, "system "+base)
	}
	for _, it := range items {
		if line := it.line(); line != "" && line != "assistant " {
			lines = append(lines, line)
		}
	}
	return lines
}

// textOf is the text of a string, of a list of parts, or of an object around
// either.
func textOf(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var parts []struct{ Text string }
	if json.Unmarshal(raw, &parts) == nil {
		var texts []string
		for _, p := range parts {
			if p.Text != "" {
				texts = append(texts, p.Text)
			}
		}
		return strings.Join(texts, "\n")
	}
	var in struct{ Content json.RawMessage }
	if json.Unmarshal(raw, &in) == nil && in.Content != nil {
		return textOf(in.Content)
	}
	return ""
}

type piEntry struct {
	Type, ID, Summary, CustomType string
	ParentID                      *string
	FirstKeptEntryID              string
	FirstKeptEntryIndex           *int
	Version                       int
	Content                       json.RawMessage
	Message                       *struct {
		Role, ToolCallID, Command string
		Content                   json.RawMessage
	}
}

func (e *piEntry) lines(tb rapid.TB) []string {
	switch {
	case e.Type == "branch_summary":
		return []string{"user " + e.Summary}
	case e.Type == "custom_message":
		return []string{"user " + textOf(e.Content)}
	case e.Type != "message":
		return nil
	}
	text := textOf(e.Message.Content)
	switch e.Message.Role {
	case "toolResult":
		return []string{"result " + e.Message.ToolCallID + " " + text}
	case "bashExecution":
		return []string{"user Ran `" + e.Message.Command + "`"}
	case "user":
		return []string{"user " + text}
	}
	var lines []string
	if text != "" {
		lines = append(lines, "assistant "+text)
	}
	for _, b := range unmarshal[[]struct{ Type, ID string }](tb, e.Message.Content) {
		if b.Type == "toolCall" {
			lines = append(lines, "call "+b.ID)
		}
	}
	return lines
}

// piShows also holds that every parent stands before its child.
func piShows(tb rapid.TB, log []byte) (lines []string) {
	var entries []*piEntry
	for _, line := range logLines(log) {
		e := unmarshal[piEntry](tb, line)
		entries = append(entries, &e)
	}
	if entries[0].Version < 2 { // pi gives such a session ids when it loads it
		for i, e := range entries[1:] {
			e.ID = fmt.Sprint("i", i+1)
			if i > 0 {
				e.ParentID = &entries[i].ID
			}
			if e.FirstKeptEntryIndex != nil {
				e.FirstKeptEntryID = fmt.Sprint("i", *e.FirstKeptEntryIndex)
			}
		}
	}
	byID := make(map[string]*piEntry)
	for i, e := range entries[1:] {
		if e.ParentID != nil && byID[*e.ParentID] == nil {
			tb.Fatalf("line %d: the parent %s of %s is not there\n%s", i+2, *e.ParentID, e.ID, log)
		}
		if byID[e.ID] != nil {
			tb.Fatalf("line %d: %s stands there twice", i+2, e.ID)
		}
		byID[e.ID] = e
	}
	var path []*piEntry
	for e := entries[len(entries)-1]; e != nil; e = byID[*e.ParentID] {
		if path = append(path, e); e.ParentID == nil {
			break
		}
	}
	slices.Reverse(path)
	last := -1
	for i, e := range path {
		if e.Type == "compaction" {
			last = i
		}
	}
	from := last < 0
	if last >= 0 {
		lines = append(lines, "user "+path[last].Summary)
	}
	for i, e := range path {
		if from = from || i > last || e.ID == path[last].FirstKeptEntryID; from {
			lines = append(lines, e.lines(tb)...)
		}
	}
	return lines
}

type handsEvent struct {
	ID                          int
	Action, Observation, Source string
	Cause                       *int
	Content                     string
	Args                        struct {
		Content, Command, Thought, Summary *string
		Final                              string `json:"final_thought"`
		Forgotten                          []int  `json:"forgotten_event_ids"`
		From                               *int   `json:"forgotten_events_start_id"`
		To                                 *int   `json:"forgotten_events_end_id"`
		Offset                             int    `json:"summary_offset"`
	}
	Extras struct {
		Instructions string `json:"repo_instructions"`
	}
	Meta *struct {
		ID       string `json:"tool_call_id"`
		Response *struct {
			ID      string
			Choices []struct {
				Message struct {
					Content json.RawMessage
					Calls   []struct{ ID string } `json:"tool_calls"`
				}
			}
		} `json:"model_response"`
	} `json:"tool_call_metadata"`
}

func handsShows(tb rapid.TB, log []byte) (lines []string) {
	var events []handsEvent
	if log = bytes.TrimSpace(log); log[0] == '[' {
		events = unmarshal[[]handsEvent](tb, log)
	} else {
		events = unmarshal[struct{ History []handsEvent }](tb, log).History
	}
	forgotten := make(map[int]bool)
	var last *handsEvent
	for i, e := range events {
		for _, id := range e.Args.Forgotten {
			forgotten[id] = true
		}
		for id := 0; e.Args.From != nil && id <= *e.Args.To; id++ {
			forgotten[id] = forgotten[id] || id >= *e.Args.From
		}
		if e.Action == "condensation" && e.Args.Summary != nil {
			last = &events[i]
		}
	}
	kept := slices.DeleteFunc(slices.Clone(events), func(e handsEvent) bool { return forgotten[e.ID] })
	if last != nil {
		summary := handsEvent{Observation: "condense", Content: *last.Args.Summary}
		kept = slices.Insert(kept, min(last.Args.Offset, len(kept)), summary)
	}
	answered := make(map[string]bool)
	for _, e := range kept {
		lines = append(lines, e.lines(answered)...)
	}
	return lines
}

func (e *handsEvent) lines(answered map[string]bool) (lines []string) {
	switch {
	case e.Action == "system":
		return []string{"system " + *e.Args.Content}
	case e.Action == "message" && e.Source == "user":
		return []string{"user " + *e.Args.Content}
	case e.Action == "message":
		return []string{"assistant " + *e.Args.Content}
	case e.Action == "finish" && e.Meta == nil:
		return []string{"assistant " + e.Args.Final}
	case e.Action == "run" && e.Source == "user":
		return []string{"user " + *e.Args.Command}
	case e.Action != "" && e.Meta != nil:
		res := e.Meta.Response
		if answered[res.ID] {
			return nil
		}
		answered[res.ID] = true
		if text := textOf(res.Choices[0].Message.Content); text != "" {
			lines = append(lines, "assistant "+text)
		}
		for _, c := range res.Choices[0].Message.Calls {
			lines = append(lines, "call "+c.ID)
		}
		return lines
	case e.Action == "run":
		return []string{"assistant " + *e.Args.Thought, fmt.Sprint("call event:", e.ID)}
	case e.Observation == "condense":
		return []string{"user " + e.Content}
	case e.Observation == "recall" && e.Extras.Instructions != "":
		return []string{"user " + e.Extras.Instructions}
	case e.Observation != "" && e.Meta != nil:
		return []string{"result " + e.Meta.ID + " " + e.Content}
	case e.Observation == "run" && e.Source == "user" || e.Observation == "error":
		return []string{"user " + e.Content}
	case e.Observation == "run" || e.Observation == "read":
		return []string{fmt.Sprint("result event:", *e.Cause, " ", e.Content)}
	}
	return nil
}
