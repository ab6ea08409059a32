package strategies_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/strategies"
)

// earlier is the message an earlier compaction left.
func earlier(text string) abi.Message {
	return abi.Message{ID: "kw-1", Role: abi.RoleUser, Kind: abi.KindSummary,
		Content: abi.Text(abi.Fence(abi.KindSummary, "model:m", "Record of earlier messages.",
			text+"\n\n## Exact names\nNames: FooBar"))}
}

// after puts messages behind the first n of a session.
func after(msgs []abi.Message, n int, more ...abi.Message) []abi.Message {
	return slices.Insert(slices.Clone(msgs), n, more...)
}

// TestPrepare: what a preparation says of sessions of all kinds, and when
// there is none.
func TestPrepare(t *testing.T) {
	features.Proves(t, "T4")
	keepAll := turns(3, 3, 3)
	for i := range keepAll {
		keepAll[i].Meta = abi.Meta{abi.MetaAlwaysKeep: []byte("true")}
	}
	silent := turns(0)
	for _, id := range []string{"s1", "s2"} {
		silent = append(silent, abi.Message{ID: id, Role: abi.RoleUser, Kind: abi.KindSynthetic,
			Content: abi.Text(strings.Repeat("noise ", 500))})
	}
	silent = append(silent, turns(0, 0)[2])
	for _, tc := range []struct {
		why    string
		msgs   []abi.Message
		target int
		keep   int
		cfg    strategies.Config
		err    string // what there is to say where nothing goes
		gone   string
		split  bool
		from   string // the first message that stays
		prev   string
	}{
		{why: "the oldest units go, at least the window", msgs: turns(3, 3, 3), target: 3000, keep: 2,
			cfg:  strategies.Config{WindowMessages: 4, MaxSummaryTokens: 100},
			gone: "a0.0 r0.0 a0.1 r0.1", split: true, from: "a0.2"},
		{why: "and more where the target needs it", msgs: turns(3, 3, 3), target: 2000, keep: 2,
			cfg:  strategies.Config{WindowMessages: 4, MaxSummaryTokens: 100},
			gone: "a0.0 r0.0 a0.1 r0.1 a0.2 r0.2 u1 a1.0 r1.0", split: true, from: "a1.1"},
		{why: "the caller's room counts", msgs: turns(3, 3, 3), target: 3000, keep: 2,
			cfg:  strategies.Config{WindowMessages: 4, MaxSummaryTokens: 100, Room: 700},
			gone: "a0.0 r0.0 a0.1 r0.1 a0.2 r0.2", from: "u1"},
		{why: "no more than the last messages are kept from", msgs: turns(3, 3, 3), target: 10, keep: 13,
			cfg:  strategies.Config{WindowMessages: 4},
			gone: "a0.0 r0.0 a0.1 r0.1 a0.2 r0.2 u1", split: true, from: "a1.0"},
		{why: "a unit that reaches into them stays", msgs: turns(3, 3, 3), target: 10, keep: 12,
			cfg:  strategies.Config{WindowMessages: 4},
			gone: "a0.0 r0.0 a0.1 r0.1 a0.2 r0.2 u1", split: true, from: "a1.0"},
		{why: "a turn keeps its beginning where the target does not need it", msgs: turns(3, 3, 3), target: 3000,
			keep: 2, cfg: strategies.Config{WindowMessages: 7, MaxSummaryTokens: 100},
			gone: "a0.0 r0.0 a0.1 r0.1 a0.2 r0.2", from: "u1"},
		{why: "an earlier summary goes with what came after it, and is no message to summarize",
			msgs: after(turns(3, 3, 3), 2, earlier("## Goal\nship")), target: 3000, keep: 2,
			cfg: strategies.Config{WindowMessages: 4, MaxSummaryTokens: 100}, gone: "kw-1 a0.0 r0.0 a0.1 r0.1",
			from: "a0.2", prev: "## Goal\nship"},
		{why: "none under the target", msgs: turns(3, 3, 3), target: 100_000, keep: 2, err: "within its target"},
		{why: "none where the last entry is a compaction", msgs: append(turns(3, 3, 3), earlier("x")), target: 10,
			keep: 0, err: "ends in a summary"},
		{why: "a bookmark behind it does not count",
			msgs: append(turns(3, 3, 3), earlier("x"),
				abi.Message{ID: "b", Role: abi.RoleUser, Kind: abi.KindBookmark}), target: 10, keep: 0, err: "ends in a summary"},
		{why: "none where all is kept", msgs: turns(3, 3, 3), target: 10, keep: 30, err: "pinned, recent"},
		{why: "none where all is pinned", msgs: keepAll, target: 10, keep: 0, err: "pinned, recent"},
		{why: "none where what may go says nothing", msgs: silent, target: 10, keep: 0, err: "says anything"},
		{why: "none where only an earlier summary may go", msgs: after(turns(0), 2, earlier("x"), turns(0, 0)[2]),
			target: 10, keep: 0, err: "pinned, recent"},
		{why: "none of nothing", target: -1, keep: 0, err: "pinned, recent"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			p, err := strategies.Prepare(toSummarize(tc.msgs, tc.target), tc.cfg, tc.keep)
			if (err != nil) != (tc.err != "") ||
				err != nil && (abi.CodeOf(err) != abi.CodeBadSummary || !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("%v, want %q", err, tc.err)
			}
			if err != nil || tc.err != "" {
				return
			}
			if got := strings.Join(p.Supersede, " "); got != tc.gone || p.SplitTurn != tc.split ||
				tc.msgs[p.Cut].ID != tc.from || p.Previous != tc.prev {
				t.Errorf("%q goes (split %v), from %q is kept, previous %q", got, p.SplitTurn, tc.msgs[p.Cut].ID, p.Previous)
			}
		})
	}
}

// TestSummaryBytes: a session within its tokens goes down to a budget of
// bytes, and what goes is enough for that.
func TestSummaryBytes(t *testing.T) {
	features.Proves(t, "complaint 6")
	v := toSummarize(turns(6, 6, 6), 1_000_000)
	for i := range v.Messages {
		v.Bytes = append(v.Bytes, strategies.Bytes(&v.Messages[i]))
	}
	cfg := strategies.Config{WindowMessages: 2, MaxSummaryTokens: 100}
	if _, err := strategies.Prepare(v, cfg, 2); err == nil {
		t.Error("prepared without a target for bytes")
	}
	v.TotalBytes = sessiongen.Sum(v.Bytes)
	for _, target := range []int{v.TotalBytes * 3 / 4, v.TotalBytes / 2, 500} {
		t.Run(fmt.Sprintf("target of %d", target), func(t *testing.T) {
			v.TargetBytes = target
			p, err := strategies.Prepare(v, cfg, 2)
			if err != nil {
				t.Fatalf("%d bytes: %v", target, err)
			}
			left := v.TotalBytes
			for i := range v.Messages {
				if slices.Contains(p.Supersede, v.Messages[i].ID) {
					left -= v.Bytes[i]
				}
			}
			if p.Fits != (target > 500) || p.Fits && left > target {
				t.Errorf("%d bytes of %d stay, %d allowed; fits: %v", left, v.TotalBytes, target, p.Fits)
			}
		})
	}
}

// TestDefaults: twenty messages at least, ten kept, a cap of 1,500.
func TestDefaults(t *testing.T) {
	features.Proves(t, "K25")
	msgs := sessiongen.Long(40, 20)
	v := toSummarize(msgs, sessiongen.Sum(counter.Tokens(msgs))-1)
	p, err := strategies.Prepare(v, strategies.Config{MaxSummaryTokens: 1}, 10)
	if err != nil || len(p.Supersede) != 20 {
		t.Errorf("%d messages go where the target needs two", len(p.Supersede))
	}
	v.Target = 0
	p, err = strategies.Prepare(v, strategies.Config{}, strategies.Config{}.Recent())
	if err != nil || len(msgs)-p.Cut < 10 || len(msgs)-p.Cut > 11 {
		t.Errorf("%d messages stay, want ten, or eleven for a unit to be whole", len(msgs)-p.Cut)
	}
	f := &fake{}
	mustRun(t, f, p, strategies.Config{})
	if n := f.requests[0].MaxTokens; n > 1500 || n < 1480 || f.requests[0].Model != "" {
		t.Errorf("asked %q for %d tokens", f.requests[0].Model, f.requests[0].MaxTokens)
	}
}

// TestInternal: what is there for the harness alone does not count among the
// last messages.
func TestInternal(t *testing.T) {
	features.Proves(t, "A3")
	msgs := turns(6)
	for _, kind := range []abi.Kind{abi.KindDisplayOnly, abi.KindBookmark, abi.KindMetadata} {
		msgs = append(msgs, abi.Message{ID: string(kind), Role: abi.RoleUser, Kind: kind, Content: abi.Text("x")})
	}
	p, err := strategies.Prepare(toSummarize(msgs, 1), strategies.Config{}, 4)
	if err != nil || msgs[p.Cut].ID != "a0.4" {
		t.Errorf("kept from %q on, want the last two units", msgs[p.Cut].ID)
	}
}

// TestPrepareProperties: for any session, units go whole, what is pinned and
// the newest stay, and the two parts of a turn are all that is read.
func TestPrepareProperties(t *testing.T) {
	features.Proves(t, "K9", "K10", "T4")
	var some, split, updates int
	rapid.Check(t, func(t *rapid.T) {
		msgs := sessiongen.Messages(80).Draw(t, "session")
		v := toSummarize(msgs, rapid.IntRange(0, 400).Draw(t, "target"))
		keep := rapid.IntRange(0, 12).Draw(t, "keep")
		cfg := strategies.Config{WindowMessages: rapid.IntRange(1, 20).Draw(t, "window"),
			MaxSummaryTokens: rapid.IntRange(1, 50).Draw(t, "cap")}
		before := sessiongen.JSONL(msgs)
		p, err := strategies.Prepare(v, cfg, keep)
		if string(sessiongen.JSONL(msgs)) != string(before) {
			t.Fatal("the session was changed")
		}
		if err != nil {
			return
		}
		again, _ := strategies.Prepare(v, cfg, keep)
		if !reflect.DeepEqual(p, again) {
			t.Fatal("another preparation the second time")
		}
		checkPreparation(t, v, p, keep)
		some++
		if p.SplitTurn {
			split++
		}
		if p.Previous != "" {
			updates++
		}
	})
	if some == 0 || split == 0 || updates == 0 {
		t.Errorf("%d preparations, %d with a split turn, %d with an earlier summary: some were not tested", some, split,
			updates)
	}
}

func checkPreparation(t *rapid.T, v *strategies.View, p *strategies.Ready, keep int) {
	gone := make(map[string]bool)
	for _, id := range p.Supersede {
		gone[id] = true
	}
	cost, counted := 0, 0
	for _, u := range v.Units {
		for _, i := range u {
			if gone[v.Messages[i].ID] != gone[v.Messages[u[0]].ID] {
				t.Fatalf("unit %v is split", u)
			}
		}
	}
	for i, m := range v.Messages {
		if gone[m.ID] {
			cost += v.Tokens[i]
			if v.Pinned[i] || v.Turn[i] {
				t.Fatalf("%s goes, and may not", m.ID)
			}
			if i >= p.Cut {
				t.Fatalf("%s goes from behind the cut", m.ID)
			}
		} else if i >= p.Cut && m.Kind != abi.KindDisplayOnly && m.Kind != abi.KindBookmark && m.Kind != abi.KindMetadata {
			counted++
		}
	}
	if cost != p.Replaced || cost == 0 {
		t.Fatalf("%d tokens go, %d were said to", cost, p.Replaced)
	}
	if counted < keep {
		t.Fatalf("%d of the last %d stay", counted, keep)
	}
	for _, u := range append(slices.Clone(p.History), p.TurnPrefix...) {
		for _, i := range u {
			delete(gone, v.Messages[i].ID)
		}
	}
	for i := range v.Messages { // what is not read can only be the previous summary
		if m := &v.Messages[i]; gone[m.ID] && (m.Kind != abi.KindSummary || len(gone) > 1) {
			t.Fatalf("%s goes, and is not read", m.ID)
		}
	}
	if p.Previous != "" && len(gone) == 0 || p.SplitTurn != (len(p.TurnPrefix) > 0) {
		t.Fatalf("previous %q, %d messages that are not read, split: %v", p.Previous, len(gone), p.SplitTurn)
	}
	persons := abi.Persons(v.Messages)
	for _, u := range p.TurnPrefix {
		for i := u[0] + 1; i < p.Cut; i++ {
			if persons[i] {
				t.Fatalf("the turn's first part has a turn's beginning at %d", i)
			}
		}
	}
}

// TestPreparationNamesAll: for any session a preparation lists what goes once, by what becomes of it, and all from the
// first message that is kept on stays.
func TestPreparationNamesAll(t *testing.T) {
	features.Proves(t, "T4")
	some := 0
	rapid.Check(t, func(t *rapid.T) {
		v := toSummarize(sessiongen.Messages(80).Draw(t, "session"), rapid.IntRange(0, 400).Draw(t, "target"))
		s := strategies.Summarize{Config: strategies.SummarizeConfig{
			WindowMessages: rapid.IntRange(1, 20).Draw(t, "window"), MaxSummaryTokens: rapid.IntRange(1, 50).Draw(t, "cap")}}
		p, err := s.Prepare(v, strategies.Budget{})
		if err != nil {
			if p != nil || !errors.Is(err, strategies.ErrNothing) {
				t.Fatalf("%+v, %v", p, err)
			}
			return
		}
		some++
		listed := slices.Concat(p.Summarize, p.TurnPrefix)
		if p.Previous != "" {
			listed = append(listed, p.Previous)
		}
		gone := slices.Clone(p.Superseded)
		slices.Sort(listed)
		slices.Sort(gone)
		if !slices.Equal(listed, gone) || p.SplitTurn != (len(p.TurnPrefix) > 0) || p.TokensBefore != v.Total ||
			!slices.Contains(p.Superseded, p.Boundary) || p.Boundary == p.Previous {
			t.Fatalf("%+v of %d tokens", p, v.Total)
		}
		kept := false
		for i := range v.Messages {
			id := v.Messages[i].ID
			kept = kept || id == p.Cut
			if goes := slices.Contains(gone, id); goes && kept {
				t.Fatalf("%s goes from behind %s", id, p.Cut)
			}
		}
		if kept != (p.Cut != "") {
			t.Fatalf("%q is kept first, which is not there", p.Cut)
		}
	})
	if some == 0 {
		t.Error("there was no preparation")
	}
}
