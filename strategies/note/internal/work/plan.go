package work

import (
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
)

// approved begins the result of a call that showed a plan to the person.
const approved = "User has approved your plan"

// approval is how it is told that the person approved a plan: whether they edited it first, and where it is.
func approval(text string) string {
	told := approved
	head, plan, _ := strings.Cut(clip.Head(text, maxPlanHead), planHead)
	if strings.HasPrefix(plan, " (edited by user)") {
		told += " after editing it: what holds is the edited one"
	}
	if _, rest, ok := strings.Cut(head, "Your plan has been saved to: "); ok {
		file, _, _ := strings.Cut(rest, "\n")
		told += ", saved to " + clip.Line(file, maxScript)
	}
	return told
}

// PlanOf is the plan that the person approved, as the result of a call says it; empty where it says none.
func PlanOf(text string) string {
	if !strings.HasPrefix(text, approved) {
		return ""
	}
	at := strings.Index(clip.Head(text, maxPlanHead), planHead)
	if at < 0 {
		return ""
	}
	_, plan, _ := strings.Cut(text[at:], "\n")
	return strings.TrimSpace(plan)
}

// planHead is the heading of the plan in such a result.
const planHead = "## Approved Plan"

// maxPlanHead is how much of a result stands before the plan in it, in bytes.
const maxPlanHead = 1000
