package action

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// Before are the files that the commands of a script changed before the one that failed. The code of an exit is that of
// the last command; where a check failed, as the output tells, what it was joined to by && had ended well before.
func (a *Action) Before(output string, checkFailed bool) (files []File) {
	if slices.ContainsFunc(a.Commands, func(c toolcall.Command) bool {
		return strings.HasPrefix(c.Quote, toolcall.LeftOut+" ") // in a loop or under a condition
	}) {
		return nil
	}
	ended, complains := a.ended(checkFailed), complainers(output)
	for _, s := range a.Steps {
		switch c := &a.Commands[s.At]; {
		case s.At >= ended, s.Kind != Writes, !a.ran(s.At, ended):
		case complains["sh"], len(c.Words) > 0 && (complains[c.Words[0]] || complains["git"] && c.Words[0] == "git"):
			return files // what stood behind it may have needed it
		default:
			if w, _ := writerOf(c.Words); w == nil || simple[w.does] {
				files = append(files, slices.DeleteFunc(slices.Clone(s.Files), func(f File) bool { return f.Use == Read })...)
			}
		}
	}
	return files
}

// ran reports whether a command ran before the end is known: nothing stands before it on which that hangs, or what does
// hangs on it as well.
func (a *Action) ran(at, ended int) bool {
	if at == 0 || a.Commands[at-1].Then == ";" || a.Commands[at-1].SetsScene() && a.Commands[at-1].Then == "&&" {
		return true
	}
	return !slices.ContainsFunc(a.Commands[at-1:ended], func(c toolcall.Command) bool { return c.Then != "&&" })
}

// simple is what programs do that name themselves where they fail.
var simple = set.Of("deletes", "moves", "copies", "creates", "streams", "makes", "shreds", "reads")

// ended is the place of the first command of which it is not known that it ran: those before it did.
func (a *Action) ended(checkFailed bool) (at int) {
	stops := slices.ContainsFunc(a.Commands, func(c toolcall.Command) bool {
		return len(c.Words) > 0 && c.Words[0] == "set"
	})
	for i := range len(a.Commands) - 1 {
		if a.Commands[i].Then == ";" && !stops {
			at = i + 1
		}
	}
	if checkFailed {
		if i := slices.IndexFunc(a.Steps, func(s Step) bool { return s.Kind == Checks }); i >= 0 {
			at = max(at, a.Steps[i].At)
		}
	}
	return at
}

// complainers are the programs that an output names before what went wrong, "sed: can't read a.go"; "sh" is any shell.
func complainers(output string) map[string]bool {
	all := make(map[string]bool)
	for line := range strings.Lines(output) {
		name, _, ok := strings.Cut(strings.TrimSpace(line), ": ")
		name = name[strings.LastIndexByte(name, '/')+1:]
		switch {
		case !ok || strings.Contains(name, " "):
		case name == "fatal", name == "error":
			all["git"] = true
		case name == "bash", name == "zsh", name == "dash":
			all["sh"] = true
		default:
			all[name] = true
		}
	}
	return all
}
