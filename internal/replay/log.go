package replay

import (
	"context"
	"slices"
	"strings"

	json "github.com/goccy/go-json"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/strictjson"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// log is a recorded session, with what is looked up in it.
type log struct {
	messages []abi.Message
	calls    []toolCall     // in order
	byAnswer map[string]int // first call of an assistant message, by its id
}

// toolCall is a call with what came back.
type toolCall struct {
	at              int // index of the assistant message
	result          int // index of its result, -1 where there is none
	name, arguments string
	texts           []string // the short values of its arguments
	failure         *failure // nil where it did not fail
}

func newLog(ctx context.Context, msgs []abi.Message) *log {
	failed := note.Failed(ctx, msgs)
	l := &log{messages: msgs, byAnswer: make(map[string]int)}
	units, _ := abi.Units(msgs)
	for _, u := range units {
		m := &msgs[u[0]]
		if m.Role != abi.RoleAssistant {
			continue
		}
		l.byAnswer[m.ID] = len(l.calls)
		results := slices.Clone(u[1:])
		for _, c := range m.ToolCalls {
			t := toolCall{at: u[0], result: -1, name: c.Name, arguments: c.Arguments,
				texts: shortValues(c.Arguments)}
			k := slices.IndexFunc(results, func(i int) bool { return msgs[i].ToolCallID == c.ID })
			if k >= 0 {
				t.result = results[k]
				results = slices.Delete(results, k, k+1)
				t.failure = failureOf(&t, &msgs[t.result], failed[t.result])
			}
			l.calls = append(l.calls, t)
		}
	}
	return l
}

// of are the calls that an answer of the log makes.
func (l *log) of(answer *abi.Message) []toolCall {
	first, ok := l.byAnswer[answer.ID]
	if !ok {
		return nil
	}
	return l.calls[first : first+len(answer.ToolCalls)]
}

// until are the calls made before the log's message of that index.
func (l *log) until(at int) []toolCall {
	n, _ := slices.BinarySearchFunc(l.calls, at, func(c toolCall, at int) int { return c.at - at })
	return l.calls[:n]
}

// shortValue is up to how many bytes an argument is a path, a command or a
// pattern, and not the contents of a file.
const shortValue = 1000

// shortValues are the short texts in a call's arguments; the whole where it is
// no JSON.
func shortValues(arguments string) (list []string) {
	doc := []byte(arguments)
	var v any
	if strictjson.Check(doc, nil) != nil || json.Unmarshal(doc, &v) != nil {
		v = arguments
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if s := strings.TrimSpace(v); s != "" && len(s) <= shortValue {
				list = append(list, s)
			}
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(v)
	slices.Sort(list)
	return list
}
