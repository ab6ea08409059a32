package outcome

import (
	"path"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/toolcall"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
)

// Runners of tasks name each command before they run it. Where all of it passed, these did: a wide check settles a
// narrow one in this way, and a commit says so of what its hook ran.

// Below are the checks that the output of a script that passed says ran below its commands: below checks, and in the
// hook of a commit.
func (h Harness) Below(a *action.Action, text string) []action.Check {
	commits := func(s action.Step) bool { return strings.HasPrefix(s.Text+" ", "git commit ") }
	if len(a.Checks()) == 0 && (!slices.ContainsFunc(a.Steps, commits) || FailsCheck(text)) {
		return nil
	}
	return h.Known.ran(text, a.Dir())
}

// ran are the checks that an output says ran. Dir is the folder of what put it out, empty where it is not known.
// Nothing is said of a task that goes on after one of its commands failed.
func (k *Known) ran(text, dir string) (list []action.Check) {
	text = clip.Head(text, maxReasons)
	if !strings.Contains(text, "> ") && !strings.Contains(text, "] $ ") {
		return nil
	}
	scripts, header := 0, false // of packages
	var lines []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		command, ok := strings.CutPrefix(line, "> ")
		switch {
		case ok && header:
			lines, header = append(lines, command), false
		case ok && isScript(command):
			if scripts, header = scripts+1, true; scripts == 1 { // it stands for all below
				lines = append(lines, scriptOf(command))
			}
		default:
			header = false
			if _, command, ok := cutTask(line); ok {
				lines = append(lines, command)
			}
		}
	}
	if scripts > 1 { // each runs in the folder of its package
		dir = ""
	}
	slices.Sort(lines)
	for _, line := range slices.Compact(lines) {
		list = append(list, k.checksOf(line, dir)...)
	}
	return list
}

// checksOf are the checks of a command of a task, which may have been read before.
func (k *Known) checksOf(line, dir string) []action.Check {
	if k == nil {
		return checksOf(line, dir)
	}
	key := [2]string{line, dir}
	list, ok := k.tasks[key]
	if !ok {
		if list = checksOf(line, dir); k.tasks == nil {
			k.tasks = make(map[[2]string][]action.Check)
		}
		k.tasks[key] = list
	}
	return list
}

// Task is how the first task is called that an output says ran: "npm run check", or the command itself; empty where it
// says none.
func Task(text string) string {
	for line := range strings.Lines(clip.Head(text, maxReasons)) {
		line = strings.TrimSpace(line)
		if command, ok := strings.CutPrefix(line, "> "); ok && isScript(command) {
			return scriptOf(command)
		}
		if _, command, ok := cutTask(line); ok && len(checksOf(command, "")) > 0 {
			return command
		}
	}
	return ""
}

// scriptOf is how the script of such a line is run.
func scriptOf(line string) string { return "npm run " + strings.Fields(line)[1] }

// isScript reports whether a line, without the mark before it, is the one with which npm and pnpm begin a script:
// "kw@1.2.0 check", and the folder behind that.
func isScript(line string) bool {
	words := strings.Fields(line)
	if len(words) < 2 || len(words) > 3 || len(words) == 3 && !path.IsAbs(words[2]) {
		return false
	}
	at := strings.LastIndexByte(words[0], '@')
	return at > 0 && at+1 < len(words[0]) && isDigit(words[0][at+1])
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// cutTask reads the line with which mise begins a command of a task: "[lint] $ golangci-lint run".
func cutTask(line string) (task, command string, ok bool) {
	task, command, ok = strings.Cut(strings.TrimPrefix(line, "["), "] $ ")
	return task, command, ok && strings.HasPrefix(line, "[") && !strings.ContainsAny(task, " []") && command != ""
}

// checksOf are the checks of a command of a task. What does not wait for the one before it to pass says nothing.
func checksOf(line, dir string) []action.Check {
	if slices.ContainsFunc(toolcall.Commands(line), func(c toolcall.Command) bool {
		return c.Then != "" && c.Then != "&&"
	}) {
		return nil
	}
	if dir != "" && !strings.ContainsAny(dir, " \t\"'$`") {
		line = "cd " + dir + " && " + line
	}
	return action.ReadChecks(line)
}
