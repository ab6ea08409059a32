package keep

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// What tools that edit and tools that read are called, in lower case.
var (
	editWords = []string{"edit", "write", "create", "replace", "insert", "patch", "delete", "move"}
	readWords = []string{"read", "view", "open", "cat", "show", "list", "ls"}
)

// decisionWords are what decisions are said with, in lower case.
var decisionWords = []string{"decide", "decision", "agreed", "instead of", " always ", " never ", " must ", "don't",
	"do not", "prefer", "remember", "important"}

// endBytes is how much of a long text is read, from its beginning and its end.
const endBytes = 2000

// matters reports whether a unit holds an error, a decision or a summary.
func matters(in *abi.Input, u *unit) bool {
	for _, i := range u.at {
		m := &in.Messages[i].Message
		switch {
		case m.Kind == abi.KindSummary, m.Role == abi.RoleTool && failure(m) != "":
			return true
		case (m.IsPerson() || m.Role == abi.RoleAssistant) && decides(m.Text()):
			return true
		}
	}
	return false
}

func decides(text string) bool {
	return toolcall.HasAny(strings.ToLower(" "+clip.Ends(text, endBytes)+" "), decisionWords)
}

// failure is the line that says that a tool failed, or nothing.
func failure(m *abi.Message) string {
	text := clip.Ends(m.Text(), endBytes)
	if toolcall.MayFail(text) {
		for l := range strings.Lines(text) {
			if l = strings.TrimSpace(l); len(l) < 400 && toolcall.IsFailure(l) {
				return clip.Line(l, 100)
			}
		}
	}
	if m.IsError {
		return "failed: " + clip.Line(text, 80)
	}
	return ""
}
