package note_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

const (
	approval = "User has approved your plan. You can now start coding.\n\nYour plan has been saved to: /srv/plans/a.md\n" +
		"You can refer back to it.\n\n## Approved Plan:\n"
	approvedPlan = "# Leases\n\n## Steps\n\n1. Take the lease in `ring.go`.\n2. Give it back after 40 s.\n\n" +
		"## Not done\n\nRenewals stay as they are."
)

// TestApprovedPlan: a plan that the person approved is told as it was written while its turn goes on, in a chain too,
// and not any more once the agent has said what came of it.
func TestApprovedPlan(t *testing.T) {
	features.Proves(t, "N13")
	const want = "- Agent: Plan that was approved:\n  # Leases\n  ## Steps\n  1. Take the lease in `ring.go`.\n" +
		"  2. Give it back after 40 s.\n  ## Not done\n  Renewals stay as they are."
	goes := session("Plan the leases.", called("ExitPlanMode", map[string]any{"plan": approvedPlan}, approval+approvedPlan,
		false), edit("ring.go", "ok", false))
	tail := session(edit("lease.go", "ok", false))
	told := func(count int, msgs []abi.Message) string {
		return write(goneUpTo(count, msgs), note.Options{Budget: 1000})
	}
	text := told(len(goes), session(goes, tail))
	for round := range 3 {
		if got := thread(text); !strings.Contains(got, want) {
			t.Errorf("round %d:\n%s", round, got)
		}
		more := session(summary(text), edit("lease.go", "ok", false))
		text = told(len(more), session(more, tail))
	}
	done := session(summary(text), edit("lease.go", "ok", false), said("The leases are given back."), "Thanks, and now?")
	text = told(len(done), session(done, said("I look."), tail))
	if got := thread(text); strings.Contains(got, "Plan that was approved") || !strings.Contains(got, "given back.") {
		t.Errorf("%s", got)
	}
}

// TestApprovedPlanOfWhichMuchIsLeftOut: a long plan is told by its beginning and its end, with the headings of what is
// left out between them, and takes a third of a note at most.
func TestApprovedPlanOfWhichMuchIsLeftOut(t *testing.T) {
	features.Proves(t, "N13")
	var plan strings.Builder
	plan.WriteString("# Leases\n\nThey are given back.\n\n")
	for _, part := range []string{"Ring", "Store", "Clock", "Tests"} {
		plan.WriteString("## " + part + "\n\n" + strings.Repeat("The "+part+" keeps what it has for now.\n", 40))
	}
	goes := session("Plan the leases.", called("ExitPlanMode", nil, approval+plan.String(), false))
	msgs := session(goes, edit("lease.go", "ok", false))
	got := thread(write(goneUpTo(len(goes), msgs), note.Options{Budget: 3000}))
	_, told, ok := strings.Cut(got, "- Agent: Plan that was approved:")
	if !ok || !strings.Contains(told, "They are given back.") || !strings.Contains(told, "(left out: ") ||
		byRune(told) > 1100 {
		t.Errorf("%d tokens:\n%s", byRune(told), got)
	}
}

// TestReportsAreToldOnce: what another agent reported last is told in the thread, which the next note reads, and not
// among the last steps too.
func TestReportsAreToldOnce(t *testing.T) {
	features.Proves(t, "N13")
	goes := session("Find the lock.", called("Task", map[string]any{"description": "Find the lock", "prompt": "Find it."},
		"The lock is taken in lease.go, and never released.", false), said("I see."))
	tail := session(edit("lease.go", "ok", false))
	text := write(goneUpTo(len(goes), session(goes, tail)), note.Options{Budget: 3000})
	if n := strings.Count(text, "never released."); n != 1 {
		t.Errorf("told %d times:\n%s", n, text)
	}
}
