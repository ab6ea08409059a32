package note

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/internal/toolcall"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// An agent reads rules in files: those of a skill, and those that a project gives to whoever works on it. It may read a
// part of one, or one after the other.

// reading is a call that reads a file of rules.
type reading struct {
	file     string
	skill    bool
	from, to int // lines, where it asks for some of them; to is 0 where it asks for all that follow
}

var (
	linesOfSed  = lazy.Regexp(`\bsed -n ['"\\]*(\d+),(\d+|\$)p`)
	linesOfHead = lazy.Regexp(`\bhead -n? ?(\d+) `)
)

// readingOf is a call that reads a file of rules, if it is one.
func readingOf(c *abi.ToolCall, m *Memory) (r reading, ok bool) {
	if r.file = skillFile(c.Arguments); r.file != "" {
		r.skill, r.file = true, m.does(c).Whole(r.file)
	} else {
		r.file = rulesFile(c, m)
	}
	return readingIn(c, r.file, r.skill)
}

// readingIn is a call that reads a file, and of which part of it; none where the file has no name.
func readingIn(c *abi.ToolCall, file string, skill bool) (r reading, ok bool) {
	if file == "" {
		return r, false
	}
	r.file, r.skill = file, skill
	var asked struct{ Offset, Limit int }
	args := c.Arguments
	if m := linesOfSed().FindAllStringSubmatch(args, -1); len(m) == 1 {
		r.from, r.to = number(m[0][1]), number(m[0][2])
	} else if m := linesOfHead().FindAllStringSubmatch(args, -1); len(m) == 1 {
		r.from, r.to = 1, number(m[0][1])
	} else if json.Unmarshal([]byte(args), &asked) == nil && (asked.Limit > 0 || asked.Offset > 1) {
		r.from = max(asked.Offset, 1)
		if asked.Limit > 0 {
			r.to = r.from + min(asked.Limit, maxLines) - 1
		}
	}
	return r, r.from <= maxLines && (r.to == 0 || r.to >= r.first())
}

// maxLines is more lines than a file of rules has.
const maxLines = 1 << 20

// number is what digits say; 0 where it is too much.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

// first is the first line that the call asked for.
func (r *reading) first() int { return max(r.from, 1) }

// lines are those that were read. The file may have more of them where there are as many as the call asked for.
func (r *reading) lines(text string) span {
	n := strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
	if r.to > 0 && n >= r.to-r.first()+1 {
		return span{from: r.first(), to: r.to}
	}
	return span{from: r.first(), to: r.first() + n - 1, ends: true}
}

const skillName = "SKILL.md"

// skillFile is the file of a skill that the arguments of a call name, if they name one that agents load: it lies
// below a hidden folder, as their settings do. One that lies among the sources of a project is what the work is
// about.
func skillFile(args string) string {
	before, _, ok := strings.Cut(args, "/"+skillName)
	folder := before[strings.LastIndexAny(before, " \"'=(")+1:]
	if !ok || !strings.Contains("/"+folder, "/.") {
		return ""
	}
	return folder + "/" + skillName
}

// ruled are the names of files in which a project says how to work on it.
var ruled = set.Of("AGENTS.md", "AGENTS.override.md", "AGENT.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md",
	"CONTRIBUTING.md", "CONVENTIONS.md", "copilot-instructions.md", ".cursorrules", ".windsurfrules", ".clinerules",
	".goosehints")

// shows are programs that put out the file that they are given.
var shows = set.Of("cat", "head", "nl", "bat", "less", "more")

// rulesFile is the file of a project's rules that a call reads, and nothing else.
func rulesFile(c *abi.ToolCall, m *Memory) string {
	if !strings.Contains(c.Arguments, "rules") && !strings.Contains(c.Arguments, ".md") &&
		!strings.Contains(c.Arguments, ".goosehints") {
		return ""
	}
	return shownFile(c, ruled, m)
}

// shownFile is the file with one of some names that a call reads, and nothing else.
func shownFile(c *abi.ToolCall, names map[string]bool, m *Memory) string {
	a := m.does(c)
	if a.Kind == action.Looks && len(a.Files) == 1 && !a.Searches() && names[path.Base(a.Path())] {
		return a.Path()
	}
	var run []toolcall.Command
	for _, cmd := range a.Commands {
		if !cmd.SetsScene() {
			run = append(run, cmd)
		}
	}
	if a.Kind != action.Runs || len(run) != 1 || len(run[0].Words) < 2 {
		return ""
	}
	words := run[0].Words
	if file := words[len(words)-1]; names[path.Base(file)] && prints(words[0], words[1:len(words)-1]) {
		return a.Whole(file)
	}
	return ""
}

// prints reports whether a program, with these words before the name of a file, prints the file or whole lines of it
// that are known, and no other file.
func prints(program string, words []string) bool {
	if program == "sed" {
		return len(words) == 2 && linesOfSed().MatchString("sed "+words[0]+" '"+words[1])
	}
	flags := func(w string) bool {
		return strings.HasPrefix(w, "-") && w != "-c" || program == "head" && number(w) > 0
	}
	return shows[program] && !slices.ContainsFunc(words, func(w string) bool { return !flags(w) })
}

// shown is the text of a file as a tool shows it, without what stands before it, line numbers, and reminders behind it,
// and how the command ended.
func shown(text string) string {
	if outcome.SaysExit(strings.TrimSpace(text)) {
		return "" // it is empty
	}
	if output := outcome.Output(text); output != text {
		text = output
	} else if end := strings.LastIndexByte(text, '\n'); end >= 0 && outcome.SaysExit(text[end+1:]) {
		text = text[:end+1]
	}
	if _, rest, ok := strings.Cut(clip.Head(text, maxPreamble), "\nOutput:\n"); ok {
		text = text[len(clip.Head(text, maxPreamble))-len(rest):]
	}
	text, _, _ = strings.Cut(text, "\n<system-reminder>")
	var b strings.Builder
	lines, plainOnes := 0, 0
	for line := range strings.Lines(text) {
		bare := strings.TrimLeft(line, " ")
		n := clip.Digits(bare)
		rest, ok := strings.CutPrefix(bare[n:], "→")
		if !ok {
			rest, ok = strings.CutPrefix(bare[n:], "\t")
		}
		if n > 0 && ok {
			b.WriteString(rest)
			lines++
		} else if strings.TrimSpace(line) != "" {
			plainOnes++
		}
	}
	if lines > plainOnes {
		return b.String()
	}
	return text
}

// maxPreamble is how long it may be, in bytes, what a harness puts before an output.
const maxPreamble = 400
