package kagewasm_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
)

// TestAppendOnlyFindsTheSame: whatever becomes of a list that nobody writes into, a look at it comes to what one comes
// to that compares each message.
func TestAppendOnlyFindsTheSame(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		quick, careful := newCompactor(t, kagewasm.Options{}), newCompactor(t, kagewasm.Options{})
		all := sessiongen.Messages(40).Draw(rt, "messages")
		var list []abi.Message
		for n := range rapid.IntRange(1, 8).Draw(rt, "looks") {
			switch upTo := rapid.IntRange(0, len(all)).Draw(rt, "messages there are"); {
			case upTo > len(list) && rapid.Bool().Draw(rt, "appended"):
				list = append(list, all[len(list):upTo]...)
			case rapid.Bool().Draw(rt, "the beginning of it"):
				list = slices.Clip(list[:min(upTo, len(list))])
			default:
				list = slices.Clone(all[:upTo])
			}
			req := request(rapid.SampledFrom([]int{300, 1_000, 1_000_000}).Draw(rt, "window"), list)
			want, err := careful.Compact(t.Context(), req)
			req.AppendOnly = true
			got, gotErr := quick.Compact(t.Context(), req)
			if abi.CodeOf(err) != abi.CodeOf(gotErr) {
				rt.Fatalf("look %d: %v, and %v where each is compared", n, gotErr, err)
			}
			if want == nil {
				continue
			}
			if a, b := asJSON(rt, got), asJSON(rt, want); a != b {
				rt.Fatalf("look %d:\n%s\nwhere each is compared:\n%s", n, a, b)
			}
		}
	})
}

// asJSON is a result without the time that it took.
func asJSON(t *rapid.T, r *kagewasm.Result) string {
	report := r.Report
	report.Metrics.MS = 0
	text, err := json.Marshal(struct {
		Messages []abi.Message
		Report   kagewasm.Report
	}{r.Messages, report})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAppendOnlyTakesTheHostsWord: what stands in its place is not looked at again; a list that stands elsewhere is,
// and so is one of a host that says nothing.
func TestAppendOnlyTakesTheHostsWord(t *testing.T) {
	words := func(n int) abi.Message {
		return abi.Message{ID: "goal", Role: abi.RoleUser, Content: abi.Text(strings.Repeat("word ", 10*n))}
	}
	for _, tc := range []struct {
		name       string
		appendOnly bool
		elsewhere  bool
		seen       bool
	}{
		{"its word holds", true, false, false},
		{"another list", true, true, true},
		{"no word", false, false, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, list := newCompactor(t, kagewasm.Options{}), []abi.Message{words(1)}
			req := request(1_000_000, list)
			req.AppendOnly = tc.appendOnly
			before := compact(t, c, req).Report.TokensBefore
			if list[0] = words(9); tc.elsewhere {
				list = slices.Clone(list)
			}
			req.Messages = list
			if after := compact(t, c, req).Report.TokensBefore; (after != before) != tc.seen {
				t.Errorf("%d tokens, and %d before", after, before)
			}
		})
	}
}

// appended looks at a list that grows, in a small window.
func appended(t *testing.T) func(more ...abi.Message) *kagewasm.Result {
	c, list := newCompactor(t, kagewasm.Options{}), make([]abi.Message, 0, 200)
	return func(more ...abi.Message) *kagewasm.Result {
		list = append(list, more...)
		req := request(400, list)
		req.AppendOnly = true
		return compact(t, c, req)
	}
}

// TestAppendedOutputOfACommand: a command of the harness is no task, also where its output came after the first look.
func TestAppendedOutputOfACommand(t *testing.T) {
	features.Proves(t, "K10")
	user := func(id, text string) abi.Message {
		return abi.Message{ID: id, Role: abi.RoleUser, Content: abi.Text(text)}
	}
	look := appended(t)
	look(user("command", "<command-name>/feedback</command-name>\n<command-args>the diff view is nice</command-args>"))
	look(user("output", "<local-command-stdout>Thanks</local-command-stdout>"))
	look(user("task", "TASK fix the bug in the parser"))
	r := look(chat(60)[2:]...)
	if !r.Report.Compacted || has(r.Messages, "command") || !has(r.Messages, "task") {
		t.Errorf("compacted %v to %s", r.Report.Compacted, ids(r.Messages))
	}
}

// TestAppendedSystemPrompt: the first message of the system is the prompt, also where it came after a look.
func TestAppendedSystemPrompt(t *testing.T) {
	features.Proves(t, "K10")
	look := appended(t)
	all := chat(60)
	system := func(id string) abi.Message {
		return abi.Message{ID: id, Role: abi.RoleSystem, Content: abi.Text("Be careful, " + id + ".")}
	}
	look(all[1:5]...)
	look(append([]abi.Message{system("prompt")}, all[5:9]...)...)
	look(append([]abi.Message{system("reminder")}, all[9:11]...)...)
	if r := look(all[11:]...); !r.Report.Compacted || !has(r.Messages, "prompt") || has(r.Messages, "reminder") {
		t.Errorf("compacted %v to %s", r.Report.Compacted, ids(r.Messages))
	}
}

// TestTaskStaysTheTask: what is appended behind a first message that says nothing does not become the task.
func TestTaskStaysTheTask(t *testing.T) {
	list := append([]abi.Message{{ID: "nothing", Role: abi.RoleUser},
		{ID: "a", Role: abi.RoleAssistant, Content: abi.Text("What is it?")},
		{ID: "b", Role: abi.RoleAssistant, Content: abi.Text("I wait.")}}, chat(30)...)
	quick, careful := newCompactor(t, kagewasm.Options{}), newCompactor(t, kagewasm.Options{})
	for _, n := range []int{2, 3, len(list)} {
		req := request(400, list[:n])
		want := compact(t, careful, req)
		req.AppendOnly = true
		if got := compact(t, quick, req); !slices.Equal(got.Report.Pinned, want.Report.Pinned) {
			t.Errorf("%d messages: %v are pinned, and %v where each is compared", n, got.Report.Pinned, want.Report.Pinned)
		}
	}
}
