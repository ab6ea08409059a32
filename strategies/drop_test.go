package strategies_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/cost"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/strategies"
)

// view is a session to cut, with extra tokens of overhead.
func view(msgs []abi.Message, target, overhead int, all bool) *strategies.View {
	return strategies.NewView(strategies.NewList(msgs, count.Tokens(msgs), abi.Pinned(msgs), overhead),
		strategies.Limits{Window: 1000, Target: target, All: all}, count)
}

// sized is a message of so many tokens, frame included.
func sized(id string, role abi.Role, n int) abi.Message {
	return abi.Message{ID: id, Role: role, Content: abi.Text(strings.Repeat("word", n-1))}
}

// chat has a pinned head of 20 tokens, units of 100 (a call of 1, a result
// that stands off), and a current turn of 20.
func chat() []abi.Message {
	call := func(id, call string) abi.Message {
		return abi.Message{ID: id, Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{ID: call}}}
	}
	result := sized("r", abi.RoleTool, 99)
	result.ToolCallID = "c"
	again := result
	again.ID = "r2"
	return []abi.Message{
		sized("sys", abi.RoleSystem, 10), sized("task", abi.RoleUser, 10),
		sized("m1", abi.RoleAssistant, 100),
		call("a", "c"), sized("m2", abi.RoleUser, 100), result,
		call("a2", "c"), again,
		sized("m3", abi.RoleAssistant, 100),
		sized("now", abi.RoleUser, 10), sized("last", abi.RoleAssistant, 10),
	}
}

func TestDrop(t *testing.T) {
	features.Proves(t, "K4")
	keep := chat()
	keep[5].Meta = abi.Meta{abi.MetaAlwaysKeep: []byte("true")} // r
	giant := chat()
	giant[8] = sized("m3", abi.RoleAssistant, 10_000)
	for _, tc := range []struct {
		why          string
		msgs         []abi.Message
		target, room int
		overhead     int
		all          bool
		want         string
	}{
		{"the oldest go until the rest fits, with room for a note", chat(), 300, 50, 0, false, "m1 a m2 r"},
		{"the note's room is taken off", chat(), 300, 70, 0, false, "m1 a m2 r a2 r2"},
		{"what fits exactly stays", chat(), 240, 0, 0, false, "m1 a m2 r"},
		{"a call and its result go together, however far they are apart", chat(), 439, 0, 0, false, "m1 a r"},
		{"overhead counts", chat(), 300, 50, 150, false, "m1 a m2 r a2 r2 m3"},
		{"nothing goes where all fits, with a note or without", chat(), 540, 0, 0, false, ""},
		{"and no note is written then that would need room", chat(), 540, 500, 0, false, ""},
		{"all that may go goes where what stays does not fit", chat(), 30, 0, 0, false, "m1 a m2 r a2 r2 m3"},
		{"or does not fit beside the note", chat(), 100, 90, 0, false, "m1 a m2 r a2 r2 m3"},
		{"a unit with a pinned member stays whole", keep, 240, 0, 0, false, "m1 m2 a2 r2"},
		{"the current turn goes too where it is asked for", chat(), 0, 0, 0, true, "m1 a m2 r a2 r2 m3 now last"},
		{"a giant that is not cut takes what is older along", giant, 439, 0, 0, false, "m1 a m2 r a2 r2 m3"},
		{"nothing comes of nothing", nil, 0, 0, 0, false, ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			plan, err := strategies.Drop{Keep: strategies.KeepConfig{MessageTokens: -1}}.Plan(
				t.Context(), view(tc.msgs, tc.target, tc.overhead, tc.all), strategies.Budget{Note: tc.room})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(plan.Supersede, " "); got != tc.want {
				t.Errorf("%q went, want %q", got, tc.want)
			}
			if plan.Source.Name != "drop" || plan.Source.Type != abi.SourceStrategy || len(plan.Insert)+
				len(plan.Edit) > 0 || plan.Summary != "" {
				t.Errorf("plan %+v", plan)
			}
		})
	}
}

// TestUnitsReusedIDs: a call id that is used again pairs with its own
// results, also when only one of the two goes.
func TestUnitsReusedIDs(t *testing.T) {
	features.Proves(t, "K9")
	if got := strategies.Cut(view(chat(), 340, 0, false), 0, strategies.KeepConfig{}); !reflect.DeepEqual(
		got, []string{"m1", "a", "r"}) {
		t.Errorf("%v went, want m1 and the first call of id c with its result", got)
	}
}

// TestDropProperties: for any session, target and room.
func TestDropProperties(t *testing.T) {
	features.Proves(t, "K4", "K9", "K10")
	var some, none, everything int
	rapid.Check(t, func(t *rapid.T) {
		msgs := sessiongen.Messages(60).Draw(t, "session")
		total := sessiongen.Sum(count.Tokens(msgs))
		v := view(msgs, rapid.IntRange(0, total+40).Draw(t, "target"), rapid.IntRange(0, 30).Draw(t, "overhead"),
			rapid.IntRange(0, 3).Draw(t, "all") == 3)
		room := rapid.IntRange(0, 60).Draw(t, "room")
		before := sessiongen.JSONL(msgs)
		cut := strategies.Cut(v, room, strategies.KeepConfig{})
		checkCut(t, v, room, cut)
		if string(sessiongen.JSONL(msgs)) != string(before) {
			t.Fatal("the session was changed")
		}
		if !reflect.DeepEqual(cut, strategies.Cut(v, room, strategies.KeepConfig{})) {
			t.Fatal("another cut the second time")
		}
		switch {
		case len(cut) == 0:
			none++
		case v.Fixed()+room > v.Target:
			everything++
		default:
			some++
		}
	})
	if some == 0 || none == 0 || everything == 0 {
		t.Errorf("cuts of some %d, of nothing %d, of everything %d: not all were seen", some, none, everything)
	}
}

func checkCut(t *rapid.T, v *strategies.View, room int, cut []string) {
	t.Helper()
	gone := map[string]bool{}
	for _, id := range cut {
		gone[id] = true
	}
	var order []string
	left := v.Total
	for i, m := range v.Messages {
		if gone[m.ID] {
			order = append(order, m.ID)
			left -= v.Tokens[i]
		}
		if gone[m.ID] && (v.Pinned[i] || v.Turn[i]) {
			t.Fatalf("%s is pinned or the current turn, and went", m.ID)
		}
		if gone[m.ID] != gone[v.Messages[v.Units[v.UnitOf[i]][0]].ID] {
			t.Fatalf("the unit of %s is split", m.ID)
		}
	}
	if !slices.Equal(order, cut) {
		t.Fatalf("cut %v is not in session order, or names one twice", cut)
	}
	space := v.Target - room - v.Fixed()
	switch {
	case v.Total <= v.Target && len(cut) > 0:
		t.Fatalf("%d of %d tokens fit, and %v went", v.Total, v.Target, cut)
	case v.Total <= v.Target:
	case space < 0:
		for _, u := range v.Units {
			if v.Candidate(u) && !gone[v.Messages[u[0]].ID] {
				t.Fatalf("what stays does not fit, and %s is still there", v.Messages[u[0]].ID)
			}
		}
	case left+room > v.Target:
		t.Fatalf("%d tokens and a note of %d do not fit %d", left, room, v.Target)
	default:
		checkOldestFirst(t, v, gone, space)
	}
}

// checkOldestFirst: what went is older than all that stayed, but for units
// larger than half of the space.
func checkOldestFirst(t *rapid.T, v *strategies.View, gone map[string]bool, space int) {
	t.Helper()
	stayed, answered := false, strategies.Answered(v)
	for _, u := range v.Units {
		if !v.Candidate(u) || len(answered) > 0 && u[0] == answered[0] {
			continue
		}
		id := v.Messages[u[0]].ID
		if gone[id] && stayed && v.UnitTokens(u) <= space/2 {
			t.Fatalf("%s went before older ones did, with %d tokens of %d", id, v.UnitTokens(u), space)
		}
		stayed = stayed || !gone[id]
	}
}

// TestLinear: ten times the session takes about ten times as long.
func TestLinear(t *testing.T) {
	cost.Linear(t, 2_000, func(turns int) func() {
		v := view(sessiongen.Long(turns, 5), 5000, 0, false)
		return func() {
			if len(strategies.Cut(v, 100, strategies.KeepConfig{})) == 0 {
				t.Fatal("nothing went")
			}
		}
	})
}
