package kagewasm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

// TestInstructionsWithoutAModel: with drop and no plugin, names and terms of the instructions
// raise what bears on them in the note, and the report says what they did.
func TestInstructionsWithoutAModel(t *testing.T) {
	features.Proves(t, "T8")
	msgs := chat(0)[:2]
	for i := range 120 {
		call, n := fmt.Sprintf("c%d", i), fmt.Sprint(i)
		said := "Now look at step " + n + " of the plan and tell me whether its port " + n + "77 is open to everybody."
		output := "ok step" + n + " in pkg/step" + n + "/run.go and pkg/other" + n + "/walk.go at line 1" + n
		if i == 20 {
			said = "Postpone the Billing schema: Ines wants it read by the auditors before anybody touches the tables of it."
			output += "\nwrote deploy/billing/0042_ledger.sql"
		}
		msgs = append(msgs,
			abi.Message{ID: "u" + n, Role: abi.RoleUser, Content: abi.Text(said)},
			abi.Message{ID: "a" + n, Role: abi.RoleAssistant, Content: abi.Text("I look."),
				ToolCalls: []abi.ToolCall{{ID: call, Name: "run", Arguments: `{"command": "go test ./step` + n + `"}`}}},
			abi.Message{ID: "t" + n, Role: abi.RoleTool, ToolCallID: call, Content: abi.Text(output)})
	}
	c := newCompactor(t, kagewasm.Options{Counter: realCounter()})
	report := func(instructions string) kagewasm.Report {
		req := request(8000, msgs)
		req.Force, req.Target, req.Instructions = true, new(1500), instructions
		return compact(t, c, req).Report
	}
	const words, file = "Ines wants it read by the auditors before anybody touches the tables of it.", "0042_ledger.sql"
	without := report("")
	if strings.Contains(without.Summary, words) || strings.Contains(without.Summary, file) || without.Focus != nil {
		t.Fatalf("told without instructions: %s", without.Summary)
	}
	with := report("Keep everything about billing, and the frobnicator.")
	if !strings.Contains(with.Summary, words) || !strings.Contains(with.Summary, file) {
		t.Errorf("not told with instructions: %s", with.Summary)
	}
	f := with.Focus
	if f == nil || !slices.Equal(f.Terms, []string{"billing"}) || !slices.Equal(f.Unused, []string{"frobnicator"}) ||
		f.Lines < 2 {
		t.Errorf("the report says %+v", f)
	}
	if with.TokensAfter > with.Target {
		t.Errorf("%d tokens, target %d", with.TokensAfter, with.Target)
	}
	if all := report("Keep every step of the port."); all.Focus == nil || len(all.Focus.Terms) > 0 {
		t.Errorf("what everything bears on raises nothing: %+v", all.Focus)
	}
}
