package strategies_test

import (
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies"
)

// TestTightNoteIsLeftAlone: where what is pinned leaves no room, a note is none of what the next compaction has to
// remove, and one of more than a twentieth of the window is. In a window in use it has room for names.
func TestTightNoteIsLeftAlone(t *testing.T) {
	features.Proves(t, "N8", "complaint 1")
	// In a smaller window the frame of a note alone is more than a twentieth of it.
	for window := 4400; window < 40_000; window += 200 {
		worth := func(tokens int) (*strategies.View, bool) {
			list := []abi.Message{
				{ID: "task", Role: abi.RoleUser, Content: abi.Text("Mend it.")},
				{ID: "note", Role: abi.RoleUser, Kind: abi.KindSummary,
					Content: abi.Text(abi.Fence(abi.KindSummary, "drop", "", "It is mended."))},
				{ID: "next", Role: abi.RoleUser, Content: abi.Text("Go on.")},
			}
			limits := strategies.Limits{Window: window, Upper: window * 85 / 100, Lower: window * 60 / 100}
			limits.Target = limits.Lower
			v := strategies.NewView(strategies.NewList(list, []int{window * 9 / 10, tokens, 5},
				[]bool{true, false, false}, 0), limits, count)
			return v, v.WorthTrying()
		}
		v, _ := worth(0)
		b := strategies.NewBudget(v, strategies.NoteConfig{}, strategies.DropSource)
		if !b.Tight {
			t.Fatalf("a window of %d has room", window)
		}
		if _, again := worth(b.Note); again {
			t.Errorf("a note of %d tokens in a window of %d is compacted again", b.Note, window)
		}
		if _, again := worth(window/20 + 1); !again {
			t.Errorf("%d tokens that may go are left in a window of %d", window/20+1, window)
		}
		if b.Host < 150 && window > 8000 {
			t.Errorf("a note of %d tokens in a window of %d has no room for names", b.Host, window)
		}
	}
}
