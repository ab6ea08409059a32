package work

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/toolcall"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
)

// What stands between backquotes is word for word what the agent ran: whole commands of its script, and a mark in the
// place of what is left out of one or between two.

// quote tells steps of a script in one line.
func quote(a *action.Action, steps []action.Step) string {
	return toolcall.Quote(a.Commands, func(i int) bool {
		return slices.ContainsFunc(steps, func(s action.Step) bool { return s.At == i })
	})
}

// whole is a script as it is told.
func whole(a *action.Action) string { return quoted(line(a)) }

// line is a script in one line, without what only sets the scene for it and what shortens its output.
func line(a *action.Action) string {
	if s := toolcall.QuoteScript(a.Commands); s != "" {
		return s
	}
	first, rest, _ := strings.Cut(strings.TrimSpace(a.Script), "\n") // of another language
	if strings.TrimSpace(rest) != "" {
		return strings.TrimSpace(first) + " " + toolcall.LeftOut
	}
	return first
}

// quoted is a command in one line, as it is told.
func quoted(line string) string { return "`" + short(line, maxCommand) + "`" }

// short is a command in about so many characters, without the text that is fed into an argument. No word is cut that is
// not very long: a path would be another one.
func short(line string, chars int) string {
	if i := strings.Index(line, "\"$(cat <<"); i > 0 {
		line = line[:i] + toolcall.LeftOut
	}
	if first := clip.First(line, chars-1); len(first) > len(clip.Chars(line, chars-1))*3/4 {
		return clip.Words(line, chars)
	}
	told := clip.Whole(line, chars)
	if told == line {
		return line
	}
	return strings.TrimSuffix(told, " "+toolcall.LeftOut) + toolcall.LeftOut
}
