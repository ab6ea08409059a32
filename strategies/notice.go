package strategies

import (
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/excerpt"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// maxReference is the most bytes of the reference in a notice: the name of a tool and what
// [toolcall.Subject] says of its call.
const maxReference = 256

// pruneNotice returns the text that stands for n tokens of pruned text. In the middle of a text it has
// a line of its own, and stands for what was left out there.
func pruneNotice(n int) string { return excerpt.Pruned + strconv.Itoa(n) + " tokens]" }

// referenceNotice returns a notice that also says what the text came from, so that the agent can get it
// again: the tool, and the path or the command of its call. Where the call says nothing it is the plain
// notice.
func referenceNotice(n int, call *abi.ToolCall) string {
	if call == nil {
		return pruneNotice(n)
	}
	subject := toolcall.Subject(call.Arguments)
	if isNotice(subject) { // pruned as well
		subject = ""
	}
	ref := strings.Join(strings.Fields(abi.Defuse(call.Name+" "+subject)), " ")
	if ref == "" || len(ref) > maxReference {
		return pruneNotice(n)
	}
	return strings.TrimSuffix(pruneNotice(n), "]") + ": " + ref + "]"
}

// isNotice reports whether text is nothing but a notice. Pruning that again could make it shorter, but
// would lose how much it stands for.
func isNotice(text string) bool {
	rest, ok := strings.CutPrefix(text, excerpt.Pruned)
	if !ok {
		return false
	}
	digits := clip.Digits(rest)
	if digits == 0 {
		return false
	}
	rest, ok = strings.CutPrefix(rest[digits:], " tokens")
	if !ok || rest == "]" {
		return ok
	}
	return strings.HasPrefix(rest, ": ") && strings.HasSuffix(rest, "]") &&
		len(rest) <= len(": ]")+maxReference && !strings.Contains(rest, "\n")
}
