package strategies

import (
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

const noticeStart = "[Pruned — "

// maxReference is how long the reference in a notice can be, in bytes: the name
// of a tool and what [toolcall.Subject] says of its call.
const maxReference = 256

// pruneNotice is what stands for pruned text of n tokens. In the middle of a
// text it stands on a line of its own, for what was left out there.
func pruneNotice(n int) string { return noticeStart + strconv.Itoa(n) + " tokens]" }

// referenceNotice is the notice that says, too, what the text came from, so that
// the agent can have it again: the tool and the path or
// the command of its call. It is the plain notice where the call says nothing.
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

// isNotice reports whether text is nothing but a notice. One notice may be
// shorter than another, and yet says more than one about itself.
func isNotice(text string) bool {
	rest, ok := strings.CutPrefix(text, noticeStart)
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
