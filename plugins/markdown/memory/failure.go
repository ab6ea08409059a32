package memory

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies/signs"
)

// failureLine is the line of a result that says it failed, or nothing. A line
// that says what failed goes before one that says only that something did.
func failureLine(m *abi.InputMessage) string {
	text := signs.Ends(m.Text())
	bare := ""
	if signs.MayFail(text) {
		for l := range strings.Lines(text) {
			l = strings.TrimSpace(l)
			switch {
			case len(l) <= 3 || len(l) >= 400 || !signs.IsFailure(l):
			case !isBare(strings.ToLower(l)):
				return l
			case bare == "":
				bare = l
			}
		}
	}
	if bare == "" && m.IsError {
		return clip(text, 140)
	}
	return bare
}

// tells reports whether a line says what failed. What stands in brackets stands
// for output that was taken away.
func tells(l string) bool {
	return !isBare(strings.ToLower(l)) && strings.Contains(l, " ") && !(strings.HasPrefix(l, "[") && strings.HasSuffix(l, "]"))
}

// isBare reports whether a line says that something failed, and not what.
func isBare(l string) bool {
	l = strings.Trim(l, ".:! ")
	return strings.HasPrefix(l, "exit ") || strings.HasSuffix(l, "[build failed]") || strings.HasSuffix(l, "[setup failed]") || l == "fail" || l == "failed" || l == "failure" || l == "error" || l == "command aborted"
}
