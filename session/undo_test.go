package session_test

import (
	"fmt"
	"reflect"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/session"
)

// TestUndoRedo: an undo brings back what the last compaction superseded, and that
// alone; a redo takes the undo back, as often as there are undos, until something new
// arrives.
func TestUndoRedo(t *testing.T) {
	features.Proves(t, "K11")
	features.Proves(t, "N5")
	s := open(t, newCompactor(t, kagewasm.Options{}), 100_000, chat(60))
	var lists [][]abi.Message
	var records []string
	for k := range 3 {
		lists = append(lists, s.Messages())
		r, err := s.Compact(t.Context(), kagewasm.Request{Target: new(300 - 80*k)})
		if err != nil || !r.Report.Compacted {
			t.Fatalf("compaction %d: %s, %v", k, r.Report.Reason, err)
		}
		records = append(records, r.Record.ID)
	}
	last := s.Messages()
	for k := 2; k >= 0; k-- {
		r, err := s.Undo(t.Context())
		if err != nil || r.ID != records[k] || !reflect.DeepEqual(s.Messages(), lists[k]) || len(s.Compactions()) != k {
			t.Fatalf("undo of compaction %d: %v, %v", k, r, err)
		}
	}
	if _, err := s.Undo(t.Context()); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("nothing to undo: %v", err)
	}
	for k := range 3 {
		if err := s.Redo(t.Context()); err != nil {
			t.Fatal(err)
		}
		if want := append(lists[1:], last)[k]; !reflect.DeepEqual(s.Messages(), want) {
			t.Fatalf("redo of compaction %d: %s, want %s", k, ids(s.Messages()), ids(want))
		}
	}
	if err := s.Redo(t.Context()); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("nothing to redo: %v", err)
	}
	if _, err := s.Undo(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), abi.Message{ID: "new", Role: abi.RoleUser}); err != nil {
		t.Fatal(err)
	}
	if err := s.Redo(t.Context()); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("something new arrived, and the undo was taken back: %v", err)
	}
}

// TestRollbackInsideAnAppend: what arrived behind a message is taken back, also where
// it arrived with it.
func TestRollbackInsideAnAppend(t *testing.T) {
	features.Proves(t, "K11")
	h, err := session.OpenHistory(t.Context(), new(session.MemoryJournal), "s", nil)
	if err != nil {
		t.Fatal(err)
	}
	msgs := chat(10)
	if err := h.Append(t.Context(), msgs...); err != nil {
		t.Fatal(err)
	}
	if err := h.Rollback(t.Context(), msgs[4].ID); err != nil || !reflect.DeepEqual(h.Messages(), msgs[:5]) {
		t.Errorf("%s, %v", ids(h.Messages()), err)
	}
	if err := h.Redo(t.Context()); err != nil || !reflect.DeepEqual(h.Messages(), msgs) {
		t.Errorf("%s, %v", ids(h.Messages()), err)
	}
}

// TestFollow: a list that somebody else keeps is known by what it says, whatever its
// messages are called.
func TestFollow(t *testing.T) {
	features.Proves(t, "K11")
	msgs := chat(12)
	named := func(prefix string, list []abi.Message) (out []abi.Message) {
		for i, m := range list {
			m.ID = fmt.Sprintf("%s%d", prefix, i)
			out = append(out, m)
		}
		return out
	}
	note := abi.Message{ID: "note", Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text("what was said")}
	compacted := append([]abi.Message{msgs[0], note}, msgs[8:10]...)
	for _, c := range []struct {
		name    string
		list    []abi.Message
		want    []abi.Message
		entries int // that are added
		records int
	}{
		{"the same", named("x", compacted), compacted, 0, 1},
		{"more of it", named("x", append(compacted[:4:4], msgs[10:]...)), nil, 1, 1},
		{"the list before the compaction", named("x", msgs[:10]), msgs[:10], 1, 0},
		{"more of that", named("x", msgs), nil, 2, 0},
		{"a part of that", named("x", msgs[:6]), msgs[:6], 1, 0},
		{"another end of that", named("x", append(msgs[:6:6], msgs[11])), nil, 2, 0},
		{"nothing of it", named("x", msgs[5:7]), nil, 2, 0},
		{"ids that others have", append(compacted[:4:4], abi.Message{ID: "u0", Role: abi.RoleUser, Content: abi.Text("new")}),
			nil, 1, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := session.OpenHistory(t.Context(), new(session.MemoryJournal), "s", nil)
			if err == nil {
				err = h.Append(t.Context(), msgs[:10]...)
			}
			if err == nil {
				err = h.Rewrite(t.Context(), compacted, &abi.Record{ID: "cmp-1"})
			}
			if err != nil {
				t.Fatal(err)
			}
			before := h.Len()
			list, err := h.Follow(t.Context(), c.list)
			if err != nil || !reflect.DeepEqual(list, h.Messages()) || h.Len() != before+c.entries ||
				len(h.Compactions()) != c.records {
				t.Fatalf("%s in the session, %s returned, %d entries more, %v", ids(h.Messages()), ids(list), h.Len()-before, err)
			}
			if c.want != nil && !reflect.DeepEqual(list, c.want) {
				t.Errorf("%s, want %s", ids(list), ids(c.want))
			}
			for i := range list {
				if list[i].Text() != c.list[i].Text() {
					t.Errorf("message %d says %q, want %q", i, list[i].Text(), c.list[i].Text())
				}
			}
			if n := h.Shared(c.list); n != len(c.list) {
				t.Errorf("%d messages of the list are known afterwards, want all %d", n, len(c.list))
			}
		})
	}
}

// TestFollowEdits: a result that was shortened where a list is kept, as pi does, is pruned, and the compaction before
// that holds. One that says what an earlier state said goes back to that.
func TestFollowEdits(t *testing.T) {
	result := abi.Message{ID: "r", Role: abi.RoleTool, ToolCallID: "c", Content: abi.Text("a long text")}
	all := []abi.Message{
		{ID: "u", Role: abi.RoleUser, Content: abi.Text("do it")},
		{ID: "a", Role: abi.RoleAssistant, Content: abi.Text("I did something")},
		{ID: "b", Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{ID: "c", Name: "look", Arguments: "{}"}}},
		result,
	}
	note := abi.Message{ID: "note", Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text("what was said")}
	compacted := []abi.Message{all[0], note, all[2], result}
	h, err := session.OpenHistory(t.Context(), new(session.MemoryJournal), "s", nil)
	if err == nil {
		err = h.Append(t.Context(), all...)
	}
	if err == nil {
		err = h.Rewrite(t.Context(), compacted, &abi.Record{ID: "cmp-1", Superseded: []string{"a"},
			Inserted: []string{"note"}})
	}
	if err != nil {
		t.Fatal(err)
	}
	follow := func(list []abi.Message) {
		t.Helper()
		got, err := h.Follow(t.Context(), list)
		if err != nil || !reflect.DeepEqual(got, h.Messages()) || len(h.Compactions()) != 1 || len(got) != len(list) {
			t.Fatalf("%s returned, %d compactions, %v", ids(got), len(h.Compactions()), err)
		}
		for i := range got {
			if got[i].ID != list[i].ID || got[i].Text() != list[i].Text() {
				t.Errorf("message %d is %s, which says %q", i, got[i].ID, got[i].Text())
			}
		}
	}
	short := result
	short.Content = abi.Text("short")
	list := []abi.Message{all[0], note, all[2], short, {ID: "u2", Role: abi.RoleUser, Content: abi.Text("and on")}}
	before := h.Len()
	follow(list)
	if n := h.Len() - before; n != 2 {
		t.Errorf("%d entries were added, want the pruning and what arrived", n)
	}
	follow(list)
	follow(compacted)
}
