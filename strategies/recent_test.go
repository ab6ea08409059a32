package strategies_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/strategies"
)

// talk is a pinned task and exchanges of a question and an answer of 50 tokens
// each, with what only the harness sees between.
func talk() []abi.Message {
	bookmark := sized("mark", abi.RoleUser, 50)
	bookmark.Kind = abi.KindBookmark
	shown := sized("shown", abi.RoleAssistant, 50)
	shown.Kind = abi.KindDisplayOnly
	meta := sized("meta", abi.RoleUser, 50)
	meta.Kind = abi.KindMetadata
	return []abi.Message{
		sized("task", abi.RoleUser, 50), sized("a0", abi.RoleAssistant, 50),
		sized("q1", abi.RoleUser, 50), sized("a1", abi.RoleAssistant, 50),
		sized("q2", abi.RoleUser, 50), shown, sized("a2", abi.RoleAssistant, 50), bookmark, meta,
		sized("q3", abi.RoleUser, 50), sized("a3", abi.RoleAssistant, 50),
	}
}

// shell is a turn of an agent that writes its commands down: they are answered in the
// role of the user.
func shell() []abi.Message {
	msgs := []abi.Message{sized("task", abi.RoleUser, 50), sized("a0", abi.RoleAssistant, 50),
		sized("q1", abi.RoleUser, 50)}
	for _, n := range []string{"1", "2", "3"} {
		output := sized("o"+n, abi.RoleUser, 50)
		output.Content = abi.Text(output.Text() + "\nbash-$")
		msgs = append(msgs, sized("a"+n, abi.RoleAssistant, 50), output)
	}
	return msgs
}

func TestCutKeeping(t *testing.T) {
	features.Proves(t, "A3", "A11", "I2")
	calls := results("x:50", "x:50", "x:50")
	for _, tc := range []struct {
		why    string
		msgs   []abi.Message
		target int
		room   int
		keep   strategies.KeepConfig
		want   string
	}{
		{"A3: the last 4 stay; what is internal does not count, and stays between", talk(), 1000, 0,
			strategies.KeepConfig{Messages: 4}, "a0 q1 a1"},
		{"A3: the last 10 by count are 8 here", talk(), 1000, 0, strategies.KeepConfig{Messages: 10}, ""},
		{"what is older goes though all would fit", talk(), 1000, 100, strategies.KeepConfig{Messages: 2},
			"a0 q1 a1 q2 shown a2 mark meta"},
		{"nothing goes where all is recent and fits", talk(), 1000, 900, strategies.KeepConfig{Messages: 100}, ""},
		{"I2: by exchanges", talk(), 1000, 0, strategies.KeepConfig{Exchanges: 2}, "a0 q1 a1"},
		{"I2: one exchange is the current turn", talk(), 1000, 0, strategies.KeepConfig{Exchanges: 1},
			"a0 q1 a1 q2 shown a2 mark meta"},
		{"I2: what a shell answers is no exchange", shell(), 1000, 0, strategies.KeepConfig{Exchanges: 1}, "a0"},
		{"T1: by tokens, the one that crosses the line with them", talk(), 1000, 0, strategies.KeepConfig{Tokens: 301},
			"a0 q1 a1"},
		{"the larger of messages and exchanges counts", talk(), 1000, 0,
			strategies.KeepConfig{Messages: 1, Exchanges: 2}, "a0 q1 a1"},
		{"I2: tokens are the budget of exchanges: two of them take 350", talk(), 1000, 0,
			strategies.KeepConfig{Tokens: 350, Exchanges: 3}, "a0 q1 a1"},
		{"I2: an exchange that does not fit the budget goes whole", talk(), 1000, 0,
			strategies.KeepConfig{Tokens: 349, Exchanges: 3}, "a0 q1 a1 q2 shown a2 mark meta"},
		{"I2: at least one stays, however long", talk(), 1000, 0, strategies.KeepConfig{Tokens: 1, Exchanges: 3},
			"a0 q1 a1 q2 shown a2 mark meta"},
		{"I2: no more than are wanted, whatever the budget", talk(), 1000, 0,
			strategies.KeepConfig{Tokens: 900, Exchanges: 1}, "a0 q1 a1 q2 shown a2 mark meta"},
		{"I2: a budget that holds all of them", talk(), 1000, 0, strategies.KeepConfig{Tokens: 900, Exchanges: 9}, ""},
		{"A11: where that does not fit it shrinks from its old end", talk(), 300, 0, strategies.KeepConfig{Messages: 4},
			"a0 q1 a1 q2 shown"},
		{"A11: and more beside a note", talk(), 300, 80, strategies.KeepConfig{Messages: 4}, "a0 q1 a1 q2 shown a2 mark"},
		{"A11: down to nothing", talk(), 60, 0, strategies.KeepConfig{Messages: 10}, "a0 q1 a1 q2 shown a2 mark meta"},
		{"the zero value is drop", talk(), 400, 0, strategies.KeepConfig{}, "a0 q1 a1"},
		{"a unit is recent with its last message", calls, 1000, 0, strategies.KeepConfig{Messages: 3}, "a0 r0"},
		{"negative is not set", talk(), 1000, 0, strategies.KeepConfig{Messages: -1}, ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got := strings.Join(strategies.Cut(view(tc.msgs, tc.target, 0, false), tc.room, tc.keep), " ")
			if got != tc.want {
				t.Errorf("%q went, want %q", got, tc.want)
			}
		})
	}
}

// TestRecentProperties: what is older than the recent end goes, what is recent
// stays where it fits, and where it does not, the cut is drop's of what is
// recent: no second try with fewer messages finds more to keep.
func TestRecentProperties(t *testing.T) {
	features.Proves(t, "A11")
	var shrunk, held int
	rapid.Check(t, func(t *rapid.T) {
		msgs := sessiongen.Messages(60).Draw(t, "session")
		total := sessiongen.Sum(count.Tokens(msgs))
		v := view(msgs, rapid.IntRange(0, total+40).Draw(t, "target"), rapid.IntRange(0, 30).Draw(t, "overhead"),
			rapid.IntRange(0, 3).Draw(t, "all") == 3)
		n, room := rapid.IntRange(1, 20).Draw(t, "messages"), rapid.IntRange(0, 60).Draw(t, "room")
		cut := strategies.Cut(v, room, strategies.KeepConfig{Messages: n})
		gone := map[string]bool{}
		for _, id := range cut {
			gone[id] = true
		}
		first := lastMessages(msgs, n)
		older, kept, recent := 0, 0, 0
		for _, u := range v.Units {
			if !v.Candidate(u) {
				continue
			}
			switch id := msgs[u[0]].ID; {
			case u[len(u)-1] < first && !gone[id] && len(cut) > 0:
				t.Fatalf("%s is older than the last %d, and stays", id, n)
			case u[len(u)-1] < first && msgs[u[0]].Kind == abi.KindSummary: // one does not go alone
			case u[len(u)-1] < first:
				older++
			default:
				recent += v.UnitTokens(u)
				if !gone[id] {
					kept += v.UnitTokens(u)
				}
			}
		}
		if older > 0 && len(cut) == 0 {
			t.Fatal("what is older than the recent end is still there")
		}
		space := v.Target - room - v.Fixed()
		switch {
		case len(cut) == 0:
		case recent <= space && kept < recent:
			t.Fatalf("%d recent tokens fit %d, and only %d stay", recent, space, kept)
		case kept > max(0, space):
			t.Fatalf("%d tokens stay in %d", kept, space)
		case kept < recent:
			shrunk++
		default:
			held++
		}
		checkWhole(t, v, gone)
	})
	if shrunk == 0 || held == 0 {
		t.Errorf("shrunk %d, held %d: not all were seen", shrunk, held)
	}
}

func checkWhole(t *rapid.T, v *strategies.View, gone map[string]bool) {
	t.Helper()
	for i, m := range v.Messages {
		if gone[m.ID] && (v.Pinned[i] || v.Turn[i]) || gone[m.ID] != gone[v.Messages[v.Units[v.UnitOf[i]][0]].ID] {
			t.Fatalf("%s: pinned, in the current turn, or of a unit that is split", m.ID)
		}
	}
}

// lastMessages is where the last n messages that count begin.
func lastMessages(msgs []abi.Message, n int) int {
	internal := []abi.Kind{abi.KindDisplayOnly, abi.KindBookmark, abi.KindMetadata}
	for i := len(msgs) - 1; i >= 0; i-- {
		if !slices.Contains(internal, msgs[i].Kind) {
			n--
		}
		if n == 0 {
			return i
		}
	}
	return 0
}

// TestRecentBytes: a session within its tokens, and too large in bytes.
func TestRecentBytes(t *testing.T) {
	features.Proves(t, "complaint 6")
	sized := func(target, bytes, room int) string {
		v := view(chat(), target, 0, false)
		v.TargetBytes = bytes
		for i := range v.Messages {
			v.Bytes = append(v.Bytes, 10*v.Tokens[i])
			v.TotalBytes += 10 * v.Tokens[i]
		}
		v.Bytes[6] += 50_000 // a2
		v.TotalBytes += 50_000
		return strings.Join(strategies.Cut(v, room, strategies.KeepConfig{}), " ")
	}
	for _, tc := range []struct {
		why                 string
		target, bytes, room int
		want                string
	}{
		{"no target for bytes", 1000, 0, 0, ""},
		{"within both", 1000, 100_000, 0, ""},
		{"a giant in bytes takes what is older along", 1000, 10_000, 0, "m1 a m2 r a2 r2"},
		{"bytes and tokens both have to fit", 340, 10_000, 0, "m1 a m2 r a2 r2"},
		{"oldest first in bytes, too", 1000, 54_000, 0, "m1 a r"},
		{"all that may go", 1000, 100, 0, "m1 a m2 r a2 r2 m3"},
		{"the note takes bytes, too", 1000, 55_300, 200, "m1 a r"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := sized(tc.target, tc.bytes, tc.room); got != tc.want {
				t.Errorf("%q went, want %q", got, tc.want)
			}
		})
	}
}
