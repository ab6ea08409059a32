package abi_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

func TestUnits(t *testing.T) {
	features.Proves(t, "K9")
	for name, c := range map[string]struct {
		why     string
		msgs    []abi.Message
		units   []abi.Unit
		calls   []string
		results []string
	}{
		"empty": {"no messages, no units", nil, nil, nil, nil},
		"plain": {"what calls no tool stands alone", script("sys", "user", "say"),
			[]abi.Unit{{0}, {1}, {2}}, nil, nil},
		"several calls": {"all results of one message join it, in any order", script("call:a,b", "res:b", "res:a"),
			[]abi.Unit{{0, 1, 2}}, nil, nil},
		"result far from its call": {"what stands between is no part of the unit", script("call:a", "user", "say", "res:a"),
			[]abi.Unit{{0, 3}, {1}, {2}}, nil, nil},
		"overlapping": {"units may cross", script("call:a", "call:b", "res:a", "res:b"),
			[]abi.Unit{{0, 2}, {1, 3}}, nil, nil},
		"unanswered": {"a call without a result is a unit and an orphan", script("call:a", "user"),
			[]abi.Unit{{0}, {1}}, []string{"m0/a"}, nil},
		"half answered": {"one of two calls has no result", script("call:a,b", "res:a"),
			[]abi.Unit{{0, 1}}, []string{"m0/b"}, nil},
		"orphan result": {"nobody asked", script("user", "res:a"),
			[]abi.Unit{{0}, {1}}, nil, []string{"m1/a"}},
		"result before its call": {"a result answers no later call", script("res:a", "call:a"),
			[]abi.Unit{{0}, {1}}, []string{"m1/a"}, []string{"m0/a"}},
		"answered twice": {"all results of a call are one unit with it", script("call:a", "res:a", "res:a"),
			[]abi.Unit{{0, 1, 2}}, nil, nil},
		"answered again later": {"wherever they stand", script("call:a", "res:a", "user", "call:b", "res:b", "say", "res:a"),
			[]abi.Unit{{0, 1, 6}, {2}, {3, 4}, {5}}, nil, nil},
		"answered twice of two": {"a second result answers no other call", script("call:a,b", "res:a", "res:a"),
			[]abi.Unit{{0, 1, 2}}, []string{"m0/b"}, nil},
		"answered twice, id in one message twice": {"each takes one, all others are further ones",
			script("call:a,a", "res:a", "res:a", "res:a"), []abi.Unit{{0, 1, 2, 3}}, nil, nil},
		"id in one message twice": {"one result answers one of them; the other is open", script("call:a,a", "res:a"),
			[]abi.Unit{{0, 1}}, []string{"m0/a"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			checkUnits(t, c.why, c.msgs, c.units)
			calls, results := abi.Orphans(c.msgs)
			if got := slices.Sorted(maps.Keys(calls)); !slices.Equal(got, c.calls) {
				t.Errorf("orphaned calls %v, want %v: %s", got, c.calls, c.why)
			}
			if got := slices.Sorted(maps.Keys(results)); !slices.Equal(got, c.results) {
				t.Errorf("orphaned results %v, want %v: %s", got, c.results, c.why)
			}
		})
	}
}

func TestUnitsReusedIDs(t *testing.T) {
	features.Proves(t, "K9")
	checkUnits(t, "an id may serve again once it is answered",
		script("call:a", "res:a", "call:a", "res:a"), []abi.Unit{{0, 1}, {2, 3}})
	checkUnits(t, "a further result belongs to the call before the next one of its id",
		script("call:a", "res:a", "res:a", "call:a", "res:a", "res:a"), []abi.Unit{{0, 1, 2}, {3, 4, 5}})
	msgs := script("call:a", "call:a", "res:a", "res:a")
	checkUnits(t, "the results of an id used twice belong to the latest call", msgs, []abi.Unit{{0}, {1, 2, 3}})
	calls, results := abi.Orphans(msgs)
	if !calls["m0/a"] || len(calls) != 1 || len(results) != 0 {
		t.Errorf("orphans %v, %v: want the earlier call", calls, results)
	}
}

func checkUnits(t *testing.T, why string, msgs []abi.Message, want []abi.Unit) {
	t.Helper()
	units, of := abi.Units(msgs)
	if !reflect.DeepEqual(units, want) {
		t.Errorf("units %v, want %v: %s", units, want, why)
	}
	checkPartition(t, msgs, units, of)
}

// checkPartition holds what every answer of Units promises: each message is in
// the one unit that of names, indices ascend, units are ordered by their first.
func checkPartition(t interface{ Fatalf(string, ...any) }, msgs []abi.Message, units []abi.Unit, of []int) {
	if len(of) != len(msgs) {
		t.Fatalf("%d messages, a unit for %d", len(msgs), len(of))
	}
	n, first := 0, -1
	for u, unit := range units {
		if len(unit) == 0 || unit[0] <= first || !slices.IsSorted(unit) {
			t.Fatalf("unit %d: %v after one that begins at %d", u, unit, first)
		}
		first = unit[0]
		for _, i := range unit {
			if of[i] != u {
				t.Fatalf("message %d stands in unit %d, of says %d", i, u, of[i])
			}
		}
		n += len(unit)
	}
	if n != len(msgs) {
		t.Fatalf("%d messages in units, %d in the list", n, len(msgs))
	}
}

// event is one use of a call id: a call or a result, in message i.
type event struct {
	i      int
	result bool
}

// events lists the uses of each call id in order. All of the pairing follows
// from it: of a run of calls the last message's are open, the results behind
// answer one after the other, and all of them belong to it.
func events(msgs []abi.Message) map[string][]event {
	ev := make(map[string][]event)
	for i, m := range msgs {
		if m.Role == abi.RoleAssistant {
			for _, c := range m.ToolCalls {
				ev[c.ID] = append(ev[c.ID], event{i, false})
			}
		}
		if m.Role == abi.RoleTool {
			ev[m.ToolCallID] = append(ev[m.ToolCallID], event{i, true})
		}
	}
	return ev
}

// pairing says of each result event which message's call it answers (-1: none)
// and of each call event whether it is answered.
func pairing(list []event) (answers map[int]int, answered []bool) {
	answers, answered = make(map[int]int), make([]bool, len(list))
	for k := 0; k < len(list); {
		first := k
		for k < len(list) && !list[k].result {
			k++
		}
		var open []int // events of the last message of the run
		for e := first; e < k; e++ {
			if list[e].i == list[k-1].i {
				open = append(open, e)
			}
		}
		by := -1
		if k > first {
			by = list[k-1].i
		}
		for ; k < len(list) && list[k].result; k++ {
			answers[k] = by
			if len(open) > 0 {
				answered[open[0]] = true
				open = open[1:]
			}
		}
	}
	return answers, answered
}

// naiveUnits derives units from the events.
func naiveUnits(msgs []abi.Message) []abi.Unit {
	head := make([]int, len(msgs)) // the message whose unit it is
	for i := range head {
		head[i] = i
	}
	for _, list := range events(msgs) {
		answers, _ := pairing(list)
		for k, by := range answers {
			if by >= 0 {
				head[list[k].i] = by
			}
		}
	}
	var units []abi.Unit
	for i := range msgs {
		var u abi.Unit
		for j, h := range head {
			if h == i {
				u = append(u, j)
			}
		}
		if u != nil {
			units = append(units, u)
		}
	}
	return units
}

func naiveOrphans(msgs []abi.Message) (calls, results map[string]bool) {
	calls, results = make(map[string]bool), make(map[string]bool)
	for id, list := range events(msgs) {
		answers, answered := pairing(list)
		for k, e := range list {
			key := msgs[e.i].ID + "/" + id
			switch {
			case e.result && answers[k] < 0:
				results[key] = true
			case !e.result && !answered[k]:
				calls[key] = true
			}
		}
	}
	return calls, results
}

func TestUnitsAgainstNaive(t *testing.T) {
	features.Proves(t, "K9")
	rapid.Check(t, func(t *rapid.T) {
		msgs := drawMessages(t)
		units, of := abi.Units(msgs)
		checkPartition(t, msgs, units, of)
		if want := naiveUnits(msgs); !reflect.DeepEqual(units, want) {
			t.Fatalf("units %v, naively %v", units, want)
		}
		calls, results := abi.Orphans(msgs)
		wantCalls, wantResults := naiveOrphans(msgs)
		if !maps.Equal(calls, wantCalls) || !maps.Equal(results, wantResults) {
			t.Fatalf("orphans %v %v, naively %v %v", calls, results, wantCalls, wantResults)
		}
	})
}

// TestDroppingUnitsOrphansNothing: whatever set of whole units goes, no pair
// is parted that was not parted before, and no result stays whose call went. This is what units are for.
func TestDroppingUnitsOrphansNothing(t *testing.T) {
	features.Proves(t, "K9")
	rapid.Check(t, func(t *rapid.T) {
		msgs := drawMessages(t)
		calls, results := abi.Orphans(msgs)
		units, of := abi.Units(msgs)
		drop := rapid.SliceOfN(rapid.Bool(), len(units), len(units)).Draw(t, "drop")
		var kept []abi.Message
		for i, m := range msgs {
			if !drop[of[i]] {
				kept = append(kept, m)
			}
		}
		keptCalls, keptResults := abi.Orphans(kept)
		for key := range keptCalls {
			if !calls[key] {
				t.Fatalf("call %s is orphaned by dropping units %v", key, drop)
			}
		}
		for key := range keptResults {
			if !results[key] {
				t.Fatalf("result %s is orphaned by dropping units %v", key, drop)
			}
		}
	})
}
