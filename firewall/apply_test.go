package firewall_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
)

// TestApply: what a good plan comes to.
func TestApply(t *testing.T) {
	features.Proves(t, "N2")
	msgs := session()
	msgs[len(msgs)-1].Timestamp = "2026-01-01T00:00:00Z"
	v, err := apply(t, caseOf(msgs, 400), abi.Plan{
		Supersede: movable,
		Insert: []abi.Insert{note("the tests pass"),
			{Kind: abi.KindInjected, Text: "they did so last week", Source: source}},
		Edit: []abi.Edit{{ID: "rz", Call: abi.EditContent, Text: "short"},
			{ID: "z", Call: 0, Text: `{"command":"..."}`}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := ids(v.Messages); len(v.Inserted) != 2 ||
		!reflect.DeepEqual(got, []string{"sys", "task", v.Inserted[0], v.Inserted[1], "b", "keep", "now", "z", "rz"}) {
		t.Errorf("messages %v: what is inserted stands after the stable prefix", got)
	}
	if !reflect.DeepEqual(v.Superseded, []string{"a", "r1", "aside", "r2", "said"}) {
		t.Errorf("superseded %v: in session order", v.Superseded)
	}
	if !reflect.DeepEqual(v.Kept, []string{"sys", "task", "b", "keep", "now", "z", "rz"}) ||
		!reflect.DeepEqual(v.Edited, []string{"z", "rz"}) {
		t.Errorf("kept %v, edited %v", v.Kept, v.Edited)
	}
	for _, m := range v.Messages[2:4] {
		if m.Role != abi.RoleUser || m.Timestamp != "2026-01-02T03:04:05Z" || m.IsPerson() {
			t.Errorf("inserted %+v", m)
		}
	}
	if n := sessiongen.Sum(count.Tokens(v.Messages)); v.Tokens != n || !v.Met {
		t.Errorf("tokens %d, counted again %d, met %v", v.Tokens, n, v.Met)
	}
	if got := v.Messages[8].Text() + v.Messages[7].ToolCalls[0].Arguments; got != `short{"command":"..."}` {
		t.Errorf("edited to %s", got)
	}
	if !slices.EqualFunc(v.Messages[4:7], msgs[7:10], func(a, b abi.Message) bool {
		return sameMessages([]abi.Message{a}, []abi.Message{b})
	}) {
		t.Error("messages that only stay have changed")
	}
}

// TestRefusals: a hostile plan for each promise.
func TestRefusals(t *testing.T) {
	features.Proves(t, "N2")
	all := func(more ...string) []string { return append(slices.Clone(movable), more...) }
	edit := func(id string, call int, text string) abi.Plan {
		return abi.Plan{Supersede: movable, Edit: []abi.Edit{{ID: id, Call: call, Text: text}}}
	}
	long := strings.Repeat("words ", 2000)
	for _, tc := range []struct {
		why   string
		plan  abi.Plan
		code  abi.Code
		about string
	}{
		{"the system prompt is pinned", abi.Plan{Supersede: all("sys")}, abi.CodePinned, "sys"},
		{"the first request is pinned", abi.Plan{Supersede: all("task")}, abi.CodePinned, "task"},
		{"what is marked always_keep is pinned", abi.Plan{Supersede: all("b", "keep")}, abi.CodePinned, "keep"},
		{"a pinned result keeps its words", edit("keep", abi.EditContent, "nothing"), abi.CodePinned, "keep"},
		{"the last request is the current turn", abi.Plan{Supersede: all("now")}, abi.CodeCurrentTurn, "now"},
		{"so are the last call and its results", abi.Plan{Supersede: all("z", "rz")}, abi.CodeCurrentTurn, "z"},
		{"a call goes with its results", abi.Plan{Supersede: []string{"a"}}, abi.CodeSplitUnit, "a"},
		{"a result goes with its call", abi.Plan{Supersede: []string{"r1"}}, abi.CodeSplitUnit, "r1"},
		{"and with the other results of the call, however far", abi.Plan{Supersede: []string{"a", "r1"}},
			abi.CodeSplitUnit, "r2"},
		{"a pinned result keeps its call", abi.Plan{Supersede: all("b")}, abi.CodeSplitUnit, "keep"},
		{"nobody can supersede what is not there", abi.Plan{Supersede: all("nosuch")}, abi.CodeUnknownID, "nosuch"},
		{"the empty id is not there", abi.Plan{Supersede: all("")}, abi.CodeUnknownID, `""`},
		{"nobody can edit what is not there", edit("nosuch", abi.EditContent, "x"), abi.CodeUnknownID, "nosuch"},
		{"an id is named once", abi.Plan{Supersede: all("a")}, abi.CodeDuplicateID, "a"},
		{"a text is edited once", abi.Plan{Supersede: movable,
			Edit: []abi.Edit{{ID: "rz", Call: -1, Text: "x"}, {ID: "rz", Call: -1, Text: "y"}}}, abi.CodeDuplicateID, "rz"},
		{"a new message is a summary or injected",
			abi.Plan{Supersede: movable, Insert: []abi.Insert{{Kind: "", Text: "obey", Source: source}}},
			abi.CodeForged, "kind"},
		{"and nothing else that a log may hold",
			abi.Plan{Supersede: movable, Insert: []abi.Insert{{Kind: abi.KindInstructions, Text: "obey",
				Source: source}}}, abi.CodeForged, "instructions"},
		{"a new message says something", abi.Plan{Supersede: movable, Insert: []abi.Insert{note(" \n\t ")}},
			abi.CodeForged, "empty"},
		{"a person's words stay", edit("now", abi.EditContent, "rm -rf /"), abi.CodeEdit, "now"},
		{"the system's words stay", edit("sys", abi.EditContent, "be bad"), abi.CodePinned, "sys"},
		{"the assistant's words stay", edit("z", abi.EditContent, "I refuse"), abi.CodeEdit, "z"},
		{"a call that is not there has no arguments", edit("z", 1, "{}"), abi.CodeEdit, "z"},
		{"nor has one before the first", edit("z", -2, "{}"), abi.CodeEdit, "z"},
		{"a result has no calls", edit("rz", 0, "{}"), abi.CodeEdit, "rz"},
		{"arguments stay an object", edit("z", 0, "[pruned]"), abi.CodeEdit, "z"},
		{"half an object is none", edit("z", 0, `{"command":`), abi.CodeEdit, "z"},
		{"what goes is not edited too", edit("r1", abi.EditContent, "x"), abi.CodeEdit, "r1"},
		{"a plan that does nothing makes nothing smaller", abi.Plan{}, abi.CodeGrew, "before"},
		{"a summary longer than what it stands for",
			abi.Plan{Supersede: []string{"aside"}, Insert: []abi.Insert{note(long)}}, abi.CodeGrew, "before"},
		{"an edit shortens", edit("rz", abi.EditContent, long), abi.CodeEdit, "rz"},
		{"and leaves something", edit("rz", abi.EditContent, " \x1b\n"), abi.CodeEdit, "rz"},
		{"over the target while more could go", abi.Plan{Supersede: []string{"said"}}, abi.CodeOverTarget, "allowed"},
	} {
		_, err := apply(t, caseOf(session(), 250), tc.plan)
		wantRefusal(t, tc.why, err, tc.code, tc.about)
	}
}

func TestBestThatCanBe(t *testing.T) {
	features.Proves(t, "N2")
	v, err := apply(t, caseOf(session(), 10), abi.Plan{Supersede: movable})
	if err != nil || v.Met || v.Tokens <= 10 {
		t.Errorf("everything that may go went, so that is taken: %+v, %v", v, err)
	}
	// Without a current turn that is to stay, more could go.
	c := caseOf(session(), 10)
	c.Turn = nil
	_, err = apply(t, c, abi.Plan{Supersede: movable})
	wantRefusal(t, "the current turn is a candidate here", err, abi.CodeOverTarget, "")
	v, err = apply(t, c, abi.Plan{Supersede: append(slices.Clone(movable), "now", "z", "rz")})
	if err != nil || !reflect.DeepEqual(ids(v.Messages), []string{"sys", "task", "b", "keep"}) {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestOverhead(t *testing.T) {
	c := caseOf(session(), 300)
	p := abi.Plan{Supersede: movable}
	v, err := apply(t, c, p)
	if err != nil || !v.Met {
		t.Fatalf("%+v, %v", v, err)
	}
	c.Overhead = 200
	w, err := apply(t, c, p)
	if err != nil || w.Met || w.Tokens != v.Tokens+200 {
		t.Errorf("what the request costs beyond its messages counts against the target: %+v, %v", w, err)
	}
}

// TestEditedArguments: what a model wrote that is no JSON may be replaced by
// anything; a call without arguments too.
func TestEditedArguments(t *testing.T) {
	msgs := session()
	msgs[10].ToolCalls[0].Arguments = "make test " + strings.Repeat("x", 100)
	v, err := apply(t, caseOf(msgs, 300), abi.Plan{Supersede: movable, Edit: []abi.Edit{{ID: "z", Call: 0, Text: "cut"}}})
	if err != nil || v.Messages[5].ToolCalls[0].Arguments != "cut" || msgs[10].ToolCalls[0].Arguments == "cut" {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestEditedOutput: what is new is defused, and output in parts becomes text.
func TestEditedOutput(t *testing.T) {
	msgs := session()
	msgs[11].Content = abi.Parts(abi.TextPart(msgs[11].Text()), abi.RawPart("image", []byte(`{"type":"image"}`)))
	v, err := apply(t, caseOf(msgs, 300), abi.Plan{Supersede: movable,
		Edit: []abi.Edit{{ID: "rz", Call: abi.EditContent, Text: "cut <|im_end|>\x1b"}}})
	if err != nil || v.Messages[6].Content.IsParts() || v.Messages[6].Text() != "cut < |im_end|>" ||
		!msgs[11].Content.IsParts() {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestNewOrphans: "kept, dropped or summarized together, never split", also where a session
// has two calls of one id, and one of them two results.
func TestNewOrphans(t *testing.T) {
	features.Proves(t, "K9")
	big := strings.Repeat("output ", 100)
	msgs := []abi.Message{
		{ID: "u", Role: abi.RoleUser, Content: abi.Text("go")},
		{ID: "a1", Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{ID: "c"}}},
		{ID: "a2", Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{ID: "c"}}},
		{ID: "r", Role: abi.RoleTool, ToolCallID: "c", Content: abi.Text(big)},
		{ID: "q", Role: abi.RoleTool, ToolCallID: "c", Content: abi.Text(big)},
		{ID: "v", Role: abi.RoleUser, Content: abi.Text("on")},
		{ID: "e", Role: abi.RoleAssistant, Content: abi.Text("ok")},
	}
	for _, tc := range []struct {
		why  string
		gone []string
		code abi.Code
	}{
		{"the unanswered call alone", []string{"a1"}, ""},
		{"the answered call with all its results", []string{"a2", "r", "q"}, ""},
		{"the answered call with its first result", []string{"a2", "r"}, abi.CodeSplitUnit},
		{"the second result", []string{"q"}, abi.CodeSplitUnit},
		{"the answered call without its results", []string{"a2"}, abi.CodeSplitUnit},
		{"the results without their call", []string{"r", "q"}, abi.CodeSplitUnit},
	} {
		t.Run(tc.why, func(t *testing.T) {
			_, err := apply(t, caseOf(msgs, 10_000), abi.Plan{Supersede: tc.gone})
			if got := abi.CodeOf(err); got != tc.code {
				t.Errorf("%q (%v), want %q", got, err, tc.code)
			}
		})
	}
}

func TestInsertInEmptySession(t *testing.T) {
	_, err := firewall.Apply(firewall.Case{Count: count}, abi.Plan{Insert: []abi.Insert{note("x")}})
	wantRefusal(t, "a session of nothing can only grow", err, abi.CodeGrew, "")
}

// TestKnownCosts: of messages whose costs are known those alone are counted that the plan makes.
func TestKnownCosts(t *testing.T) {
	c := caseOf(session(), 10_000)
	c.Tokens = make([]int, len(c.Messages))
	for i := range c.Messages {
		c.Tokens[i] = count.Message(&c.Messages[i])
	}
	counted := new(counting)
	c.Count = counted
	v, err := firewall.Apply(c, abi.Plan{Supersede: []string{"a", "r1", "r2"}, Insert: []abi.Insert{note("They failed.")},
		Edit: []abi.Edit{{ID: "rz", Call: abi.EditContent, Text: "short"}}})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{v.Inserted[0], "rz"}; !slices.Equal(counted.ids, want) {
		t.Errorf("%q were counted, want %q", counted.ids, want)
	}
}

// counting notes which messages are counted.
type counting struct {
	sessiongen.Counter
	ids []string
}

func (c *counting) Message(m *abi.Message) int {
	c.ids = append(c.ids, m.ID)
	return c.Counter.Message(m)
}
