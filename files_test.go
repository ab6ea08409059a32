package kagewasm_test

import (
	"fmt"
	"slices"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies"
)

// edits are a person's message and calls that edit files, of n a round.
func edits(round, n int) (msgs []abi.Message) {
	msgs = append(msgs, abi.Message{ID: fmt.Sprint("u", round), Role: abi.RoleUser, Content: abi.Text("Go on.")})
	for i := range n {
		id := fmt.Sprintf("%d-%d", round, i)
		msgs = append(msgs, abi.Message{ID: "c" + id, Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{ID: "t" + id,
			Name: "edit", Arguments: `{"path":"` + fileOf(round, i) + `","old":"a","new":"b"}`}}},
			abi.Message{ID: "r" + id, Role: abi.RoleTool, ToolCallID: "t" + id, Content: abi.Text("ok " + words(60))})
	}
	return append(msgs, abi.Message{ID: fmt.Sprint("a", round), Role: abi.RoleAssistant, Content: abi.Text(words(200))})
}

func fileOf(round, i int) string {
	return fmt.Sprintf("/srv/app/part%d/module_%d/handler.go", round, i)
}

// TestFilesAreCumulative: a record lists all files that were modified so far, also those for which no note had room.
func TestFilesAreCumulative(t *testing.T) {
	features.Proves(t, "T7")
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Note: strategies.NoteConfig{Tokens: 120}}})
	msgs := []abi.Message{{ID: "s", Role: abi.RoleSystem, Content: abi.Text("You are an agent.")},
		{ID: "u", Role: abi.RoleUser, Content: abi.Text("Mend the shop.")}}
	const files = 12
	for round := range 3 {
		msgs = append(msgs, edits(round, files)...)
		msgs = append(msgs, abi.Message{ID: fmt.Sprint("n", round), Role: abi.RoleUser, Content: abi.Text("And now?")})
		r, err := c.Compact(t.Context(), kagewasm.Request{Messages: msgs, Force: true, Target: new(0)})
		if abi.CodeOf(err) != "" && abi.CodeOf(err) != abi.CodeExceedsWindow {
			t.Fatal(err)
		}
		if !r.Report.Compacted || r.Record.Files == nil {
			t.Fatalf("round %d: %s", round, r.Report.Reason)
		}
		for k := range (round + 1) * files {
			if want := fileOf(k/files, k%files); !slices.Contains(r.Record.Files.Modified, want) {
				t.Errorf("round %d: %s is not modified", round, want)
			}
		}
		msgs = r.Messages
	}
}
