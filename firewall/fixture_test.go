package firewall_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
)

var count = sessiongen.Counter{}

// source is the plugin whose plans are judged here.
var source = abi.Source{Type: abi.SourcePlugin, Name: "p", Version: "1"}

// session is a small one with every shape a plan can break: a call with two
// results of which one stands far off, a pinned result, an open call.
func session() []abi.Message {
	call := func(id string, calls ...string) abi.Message {
		m := abi.Message{ID: id, Role: abi.RoleAssistant, Content: abi.Text("calling")}
		for _, c := range calls {
			m.ToolCalls = append(m.ToolCalls, abi.ToolCall{ID: c, Name: "bash", Arguments: `{"command":"make test"}`})
		}
		return m
	}
	result := func(id, call string) abi.Message {
		return abi.Message{ID: id, Role: abi.RoleTool, ToolCallID: call, Name: "bash",
			Content: abi.Text(strings.Repeat("output ", 60))}
	}
	said := func(id string, r abi.Role, text string) abi.Message {
		return abi.Message{ID: id, Role: r, Content: abi.Text(text)}
	}
	keep := result("keep", "k")
	keep.Meta = abi.Meta{abi.MetaAlwaysKeep: json.RawMessage("true")}
	return []abi.Message{
		said("sys", abi.RoleSystem, "be good"),
		said("task", abi.RoleUser, "make the tests pass"),
		call("a", "c1", "c2"),
		result("r1", "c1"),
		said("aside", abi.RoleUser, "hurry"),
		result("r2", "c2"),
		said("said", abi.RoleAssistant, "they pass "+strings.Repeat("nearly ", 20)),
		call("b", "k"),
		keep,
		said("now", abi.RoleUser, "and now the linter"),
		call("z", "c9"),
		result("rz", "c9"),
	}
}

// caseOf judges plans for the session with its pins and its current turn.
func caseOf(msgs []abi.Message, target int) firewall.Case {
	return firewall.Case{Messages: msgs, Pinned: abi.Pinned(msgs), Turn: abi.CurrentTurn(msgs), Target: target,
		Count: count, Time: "2026-01-02T03:04:05Z"}
}

// movable are the ids of session() that may go.
var movable = []string{"a", "r1", "r2", "aside", "said"}

// note is an insertion as a strategy would make it.
func note(text string) abi.Insert {
	return abi.Insert{Kind: abi.KindSummary, Text: text, Source: source}
}

// reporter is a test, a property or a fuzz target.
type reporter interface {
	Helper()
	Error(args ...any)
	Errorf(format string, args ...any)
}

// apply is firewall.Apply, and fails where the list it was given has changed, and where it is judged otherwise once it
// is known what the messages cost.
func apply(tb reporter, c firewall.Case, p abi.Plan) (*firewall.Verdict, error) {
	tb.Helper()
	before := string(sessiongen.JSONL(c.Messages))
	v, err := firewall.Apply(c, p)
	if string(sessiongen.JSONL(c.Messages)) != before {
		tb.Error("the messages of the case were changed")
	}
	if (v == nil) == (err == nil) {
		tb.Errorf("verdict %v, error %v: one of the two", v, err)
	}
	c.Tokens = make([]int, len(c.Messages))
	for i := range c.Messages {
		c.Tokens[i] = count.Message(&c.Messages[i])
	}
	if known, knownErr := firewall.Apply(c, p); !reflect.DeepEqual(known, v) || abi.CodeOf(knownErr) != abi.CodeOf(err) {
		tb.Errorf("with known costs %+v, %v; without %+v, %v", known, knownErr, v, err)
	}
	return v, err
}

// wantRefusal checks the code, and that the error says in words what, and
// about which message.
func wantRefusal(tb testing.TB, why string, err error, code abi.Code, about string) {
	tb.Helper()
	e := abi.AsError(err)
	switch {
	case e == nil:
		tb.Errorf("%s: taken, want %s", why, code)
	case e.Code != code:
		tb.Errorf("%s: %s (%v), want %s", why, e.Code, e, code)
	case e.Phase != abi.PhaseCheck || !strings.Contains(e.Message, about):
		tb.Errorf("%s: the error does not say where, or about %q: %+v", why, about, e)
	}
}

func ids(msgs []abi.Message) []string {
	list := make([]string, len(msgs))
	for i := range msgs {
		list[i] = msgs[i].ID
	}
	return list
}

func sameMessages(a, b []abi.Message) bool {
	return reflect.DeepEqual(ids(a), ids(b)) && string(sessiongen.JSONL(a)) == string(sessiongen.JSONL(b))
}
