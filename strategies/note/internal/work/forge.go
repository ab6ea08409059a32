package work

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/toolcall"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
)

// onForge begins the line on the checks of a forge, which may end otherwise than those that ran here.
const onForge = "On the forge: "

// forgeChecks are the checks of a forge as its command listed them last.
type forgeChecks struct {
	failed, pending []string
	passed          int
}

// listsForgeChecks reports whether a script lists the checks of a forge.
func listsForgeChecks(a *action.Action) bool {
	return slices.ContainsFunc(a.Commands, func(c toolcall.Command) bool {
		return strings.HasPrefix(strings.Join(c.Words, " ")+" ", "gh pr checks ")
	})
}

// readForgeChecks reads "lint\tfail\t16s\thttps://...", a line for each check. It is nil where there is none.
func readForgeChecks(output string) *forgeChecks {
	var f forgeChecks
	for line := range strings.Lines(output) {
		name, rest, _ := strings.Cut(line, "\t")
		how, _, ok := strings.Cut(rest, "\t")
		switch {
		case !ok || name == "":
		case how == "pass":
			f.passed++
		case how == "fail":
			f.failed = append(f.failed, clip.Line(name, maxCommand))
		case how == "pending":
			f.pending = append(f.pending, clip.Line(name, maxCommand))
		}
	}
	if f.passed+len(f.failed)+len(f.pending) == 0 {
		return nil
	}
	return &f
}

// list are the checks as they are told, those that failed first.
func (f *forgeChecks) list() (list []string) {
	if f == nil {
		return nil
	}
	for _, name := range f.failed {
		list = append(list, name+" failed")
	}
	for _, name := range f.pending {
		list = append(list, name+" had not ended")
	}
	if f.passed > 0 {
		list = append(list, plural(f.passed, "check passed", "checks passed"))
	}
	return list
}
