package session_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/modeltest"
	"github.com/kagewasm/kagewasm/session"
)

var errTooLong = errors.New("prompt is too long: 210000 tokens > 200000 maximum")

// takes is a provider that takes so many messages at most, whatever they cost.
func takes(most int, given *[][]abi.Message) session.Call {
	return func(ctx context.Context, msgs []abi.Message) ([]abi.Message, error) {
		*given = append(*given, msgs)
		if len(msgs) > most {
			return nil, errTooLong
		}
		return said("x", nil)(ctx, msgs)
	}
}

// descends is a session in a window that the provider's words say nothing of.
func descends(t *testing.T, msgs []abi.Message) *session.Session {
	t.Helper()
	return open(t, newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Recovery: kagewasm.RecoverDescend}}),
		1_000_000, msgs)
}

// TestDescend: the last 10 messages stay at first, then one less at each refusal, until the
// provider takes it; all of that is one step of the agent.
func TestDescend(t *testing.T) {
	features.Proves(t, "A11")
	const fixed = 3                                                // system prompt, task, note
	for _, most := range []int{fixed + 10, fixed + 5, fixed + 1} { // one is what a person said last
		var given [][]abi.Message
		s := descends(t, chat(60))
		d, err := s.Dispatch(t.Context(), takes(most, &given))
		if err != nil {
			t.Fatalf("%d messages: %v", most, err)
		}
		if got := len(given[len(given)-1]); got > most || got < most-1 { // a call and its result go together
			t.Errorf("%d messages: %d were sent at last", most, got)
		}
		for i := 1; i < len(given); i++ {
			if i > 1 && len(given[i-1])-len(given[i]) > 2 && len(given[i]) > fixed {
				t.Errorf("%d messages: from %d to %d at once", most, len(given[i-1]), len(given[i]))
			}
		}
		if d.Calls != len(given) || len(d.Messages) != 1 || !has(s.Messages(), "x") {
			t.Errorf("%d messages: %d calls told, %d made; answer %v", most, d.Calls, len(given), d.Messages)
		}
		if n := len(s.Compactions()); n >= d.Calls+1 {
			t.Errorf("%d messages: %d compactions for %d calls", most, n, d.Calls)
		}
	}
}

// TestDescendWithAModel: the conversation is rebuilt as system prompt and the model's
// summary at each step, and the model is given its last one to go on with.
func TestDescendWithAModel(t *testing.T) {
	features.Proves(t, "A11")
	asked, without := 0, 0
	m := modeltest.ScriptFunc(func(r modeltest.Request) modeltest.Answer {
		if asked++; asked > 1 && !strings.Contains(fmt.Sprint(r), "The depot closes at six.") {
			without++
		}
		return modeltest.Answer{Text: inForm(r, "The depot closes at six.")}
	})
	s := open(t, newCompactor(t, kagewasm.Options{Model: m,
		Policy: kagewasm.Policy{Recovery: kagewasm.RecoverDescend}}), 1_000_000, chat(60))
	var given [][]abi.Message
	if _, err := s.Dispatch(t.Context(), takes(3+5, &given)); err != nil {
		t.Fatal(err)
	}
	if len(given) < 4 || without > 0 {
		t.Errorf("%d calls; %d of %d summaries start from scratch", len(given), without, asked)
	}
	for i, msgs := range given[1:] {
		if !strings.Contains(msgs[2].Text(), "The depot closes at six.") {
			t.Errorf("call %d: the model's summary is not in %s", i+1, msgs[2].Text())
		}
	}
}

// TestDescendByOne: of questions and answers exactly 10 stay, then 9 and so on, whoever summarizes the others and
// whichever of the two begins what stays.
func TestDescendByOne(t *testing.T) {
	features.Proves(t, "A11")
	msgs := []abi.Message{{ID: "task", Role: abi.RoleUser, Content: abi.Text("Mend the depot.")}}
	for i := range 50 {
		msgs = append(msgs,
			abi.Message{ID: fmt.Sprint("a", i), Role: abi.RoleAssistant, Content: abi.Text(fmt.Sprintf("Part %d is done.", i))},
			abi.Message{ID: fmt.Sprint("q", i), Role: abi.RoleUser, Content: abi.Text(fmt.Sprintf("Mend part %d.", i+1))})
	}
	answers := modeltest.ScriptFunc(func(r modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Text: inForm(r, "The depot closes at six.")}
	})
	for name, m := range map[string]abi.Model{"no model": nil, "a model": answers} {
		t.Run(name, func(t *testing.T) {
			var given [][]abi.Message
			s := open(t, newCompactor(t, kagewasm.Options{Model: m,
				Policy: kagewasm.Policy{Recovery: kagewasm.RecoverDescend}}), 1_000_000, msgs)
			if _, err := s.Dispatch(t.Context(), takes(3, &given)); err != nil {
				t.Fatal(err)
			}
			var kept []int
			for _, msgs := range given[1:] {
				kept = append(kept, len(msgs)-2) // beside the task and the note
			}
			if want := []int{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}; !slices.Equal(kept, want) {
				t.Errorf("kept %d, want %d", kept, want)
			}
		})
	}
}

// TestDescendToNothing: with nothing left but what a person said last, and still refused, it warns with the state and
// returns an error that is final.
func TestDescendToNothing(t *testing.T) {
	features.Proves(t, "A11")
	var given [][]abi.Message
	d, err := descends(t, chat(60)).Dispatch(t.Context(), takes(0, &given))
	if abi.CodeOf(err) != abi.CodeExceedsWindow || !errors.Is(err, errTooLong) || abi.AsError(err).Hint == "" {
		t.Fatalf("%v", err)
	}
	if got := ids(given[len(given)-1]); !strings.HasPrefix(got, "sys goal ") || !strings.HasSuffix(got, " last") ||
		len(given[len(given)-1]) != 4 {
		t.Errorf("sent at last: %s", got)
	}
	if most := 2 + kagewasm.RecoverFrom; d.Calls > most {
		t.Errorf("%d calls, %d are enough", d.Calls, most)
	}
	last := d.Results[len(d.Results)-1].Report
	for _, state := range []string{"4 messages", "the provider takes 200000", "start a new session"} {
		if !strings.Contains(last.Warning, state) {
			t.Errorf("the warning does not tell %q: %s", state, last.Warning)
		}
	}
}

// TestDescendJumps: where fewer messages do not make the list shorter none stays at once.
func TestDescendJumps(t *testing.T) {
	features.Proves(t, "A11")
	msgs := chat(3)
	last := &msgs[len(msgs)-1]
	last.Content = abi.Text(strings.Repeat("word ", 2000)) // what the model is to answer, which is cut and never goes
	var given [][]abi.Message
	_, err := descends(t, msgs).Dispatch(t.Context(), takes(2, &given))
	if abi.CodeOf(err) != abi.CodeExceedsWindow {
		t.Fatal(err)
	}
	if len(given) > 4 {
		t.Errorf("%d calls", len(given))
	}
	if sent := given[len(given)-1]; !has(sent, "last") || len(sent) != 4 || len(sent[3].Text()) > 6000 {
		t.Errorf("sent at last: %s", ids(sent))
	}
}

// TestDescendJumpsWhereItDoesNotShrink: a step that puts a note in the place of one message leaves as many as there
// were. It is worth a call, as it has fewer tokens; where that is refused none stays at once.
func TestDescendJumpsWhereItDoesNotShrink(t *testing.T) {
	features.Proves(t, "A11")
	msgs := []abi.Message{
		{ID: "sys", Role: abi.RoleSystem, Content: abi.Text("You are careful.")},
		{ID: "goal", Role: abi.RoleUser, Content: abi.Text("Mend the parser.")}}
	for i := range 5 {
		role := []abi.Role{abi.RoleAssistant, abi.RoleUser}[i%2]
		msgs = append(msgs, abi.Message{ID: fmt.Sprintf("m%d", i), Role: role,
			Content: abi.Text(strings.Repeat(fmt.Sprintf("part %d of the parser is read now ", i), 30))})
	}
	var given [][]abi.Message
	d, err := descends(t, msgs).Dispatch(t.Context(), takes(0, &given))
	if abi.CodeOf(err) != abi.CodeExceedsWindow {
		t.Fatal(err)
	}
	var sent []int
	for _, list := range given {
		sent = append(sent, len(list))
	}
	if first := d.Results[1].Report; first.MessagesBefore != first.MessagesAfter || !first.Compacted {
		t.Fatalf("the first step goes from %d messages to %d", first.MessagesBefore, first.MessagesAfter)
	}
	if !slices.Equal(sent, []int{7, 7, 4}) {
		t.Errorf("%d messages were sent, want 7, 7 and none but what always stays, and what a person said last", sent)
	}
}

// TestDescendKeepsTheRequest: an agent that works on what a person asked ten calls ago is refused. The request stays
// while there is anything else that can go, no step between is left out for it, and it stays when nothing else does.
func TestDescendKeepsTheRequest(t *testing.T) {
	features.Proves(t, "A11", "K10")
	msgs := chat(30)
	msgs[len(msgs)-1].Content = abi.Text("Move the lamps to the depot.")
	for k := range 5 {
		id := fmt.Sprintf("c%d", k)
		msgs = append(msgs, abi.Message{ID: "call" + id, Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{ID: id,
			Name: "look"}}}, abi.Message{ID: "r" + id, Role: abi.RoleTool, ToolCallID: id,
			Content: abi.Text(strings.Repeat("what was found ", 20))})
	}
	for most, left := range map[int]int{12: 12, 10: 10, 8: 8, 6: 6, 4: 4, 0: 4} {
		var given [][]abi.Message
		_, err := descends(t, msgs).Dispatch(t.Context(), takes(most, &given))
		if most > 0 && err != nil || most == 0 && abi.CodeOf(err) != abi.CodeExceedsWindow {
			t.Errorf("%d messages: %v", most, err)
		}
		for _, sent := range given {
			if i := slices.IndexFunc(sent, func(m abi.Message) bool { return m.ID == "last" }); i < 0 ||
				sent[i].Text() != "Move the lamps to the depot." {
				t.Errorf("%d messages: without the request: %s", most, ids(sent))
			}
		}
		if n := len(given[len(given)-1]); n != left {
			t.Errorf("%d messages: %d were sent at last: %s", most, n, ids(given[len(given)-1]))
		}
	}
}

// TestDescendWastesNoLook: where calls with many results go together, no look of the descent finds nothing that may go.
// One that did not make the list shorter is the last but that for none.
func TestDescendWastesNoLook(t *testing.T) {
	features.Proves(t, "A11")
	for _, results := range []int{1, 2, 5, 7} {
		msgs := chat(3)
		for k := range 8 {
			call := abi.Message{ID: fmt.Sprintf("call%d", k), Role: abi.RoleAssistant, Content: abi.Text("I look at it.")}
			var answers []abi.Message
			for i := range results {
				id := fmt.Sprintf("c%d-%d", k, i)
				call.ToolCalls = append(call.ToolCalls, abi.ToolCall{ID: id, Name: "look"})
				answers = append(answers, abi.Message{ID: "r" + id, Role: abi.RoleTool, ToolCallID: id,
					Content: abi.Text(strings.Repeat("what was found ", 20))})
			}
			msgs = append(append(msgs, call), answers...)
		}
		var given [][]abi.Message
		d, err := descends(t, msgs).Dispatch(t.Context(), takes(0, &given))
		if abi.CodeOf(err) != abi.CodeExceedsWindow {
			t.Fatal(err)
		}
		idle, looks := 0, d.Results[1:] // behind the one before the call
		for _, r := range looks {
			if !r.Report.Compacted {
				idle++
			}
		}
		if steps := 10/(results+1) + 2; idle > 1 || len(looks) > steps+1 {
			t.Errorf("calls with %d results: %d looks of which %d did nothing, want %d", results, len(looks), idle, steps)
		}
		if n := len(given); len(given[n-1]) != 4 || n < 3 {
			t.Errorf("calls with %d results: %d calls, %d messages at last", results, n, len(given[n-1]))
		}
	}
}

// TestRetryIsTheDefault: one compaction, one more call, and then the provider's own error.
func TestRetryIsTheDefault(t *testing.T) {
	features.Proves(t, "A11", "K3")
	var given [][]abi.Message
	s := open(t, newCompactor(t, kagewasm.Options{}), 1_000_000, chat(60))
	if d, err := s.Dispatch(t.Context(), takes(0, &given)); !errors.Is(err, errTooLong) || d.Calls != 2 {
		t.Errorf("%d calls, %v", d.Calls, err)
	}
	if _, err := kagewasm.New(kagewasm.Options{Counter: wordCounter{},
		Policy: kagewasm.Policy{Recovery: "hope"}}); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("a recovery that is none: %v", err)
	}
}

// TestDescendNeedsACompactor: without anybody to compact it is not attempted.
func TestDescendNeedsACompactor(t *testing.T) {
	features.Proves(t, "A11")
	var given [][]abi.Message
	s := open(t, newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{NoFloor: true,
		Recovery: kagewasm.RecoverDescend}}), 1_000_000, chat(60))
	if d, err := s.Dispatch(t.Context(), takes(0, &given)); abi.CodeOf(err) != abi.CodeNoCompactor || d.Calls != 1 {
		t.Errorf("%d calls, %v", d.Calls, err)
	}
}

// TestDescendTellsWhatFailed: where the model that summarizes failed and the floor is switched off, the error says so,
// and not that there is no model.
func TestDescendTellsWhatFailed(t *testing.T) {
	features.Proves(t, "A11")
	var given [][]abi.Message
	c := newCompactor(t, kagewasm.Options{Model: down{}, Policy: kagewasm.Policy{NoFloor: true,
		Recovery: kagewasm.RecoverDescend}})
	d, err := open(t, c, 1_000_000, chat(60)).Dispatch(t.Context(), takes(0, &given))
	said := fmt.Sprint(err)
	if e := abi.AsError(err); err != nil {
		said += e.Hint
	}
	if err == nil || !strings.Contains(said, "the line is down") || strings.Contains(said, "no model") ||
		strings.Contains(said, "give the agent a summarizing model") {
		t.Errorf("%s", said)
	}
	for _, r := range d.Results {
		if strings.Contains(r.Report.Reason, "no model") {
			t.Errorf("the report: %s", r.Report.Reason)
		}
	}
}

// down is a model that does not answer.
type down struct{}

func (down) Complete(context.Context, abi.ModelRequest) (abi.ModelResponse, error) {
	return abi.ModelResponse{}, errors.New("the line is down")
}
