package note

import (
	"path"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
	"github.com/kagewasm/kagewasm/strategies/note/internal/work"
)

// What a summary of another program names may be gone by now, and what it calls open done. Where calls show it, the
// note says so below the line: a file that was deleted or moved, and of what was open a check that passed since, a
// file that was changed, a commit that has its number and a todo that is done; and where it says that something is to
// be kept, which files were deleted since. Nothing is said of a line from its words alone.

const (
	// nowMark begins what became of what a line names; several things stand in it, with nowNext between.
	nowMark = moreLine + "by now: "
	nowNext = "; "
	// What became of it.
	nowDeleted   = " is deleted"
	nowGone      = "deleted since: "
	nowMoved     = " is moved"
	nowChanged   = " was changed"
	nowThere     = " is there, with files that were changed"
	nowPassed    = " passed"
	nowDone      = "\" is done, by the todos"
	nowCommitted = " was committed: "

	maxBecame = 4  // that are told of one line
	minTodo   = 12 // how long a todo is, in bytes, that is looked for
)

// became says what is known of what lines of a summary name.
type became struct {
	gone      map[string]string // files that are not there any more, and where they were moved
	there     []string          // those that were changed and are
	changed   []string          // files, since the summary
	deleted   []string          // files that may be, since the summary
	goneSince []string          // those of them that are, by their names
	passed    []passedCheck     // when they last ran, since the summary
	committed []string          // since the summary
	done      []string          // todos that are
}

// passedCheck is a check that passed, and how it is told with those that ran with it.
type passedCheck struct {
	action.Check
	name string
}

// becomes is what became of things by the end of a note.
func (n *Note) becomes() *became {
	b := n.since
	b.gone = n.names.Gone()
	files := n.Files()
	b.there = lists.Filter(files.Modified, func(f string) bool { return !slices.Contains(files.Deleted, f) })
	b.goneSince = b.lastDeleted()
	for _, t := range n.todos.list {
		if t.state == 'x' && len(t.text) >= minTodo {
			b.done = append(b.done, t.text)
		}
	}
	return &b
}

// take follows a call behind a summary.
func (b *became) take(s work.Step) {
	b.changed, b.deleted = append(b.changed, s.Changed...), append(b.deleted, s.Deleted...)
	if s.Git.Commit != "" {
		b.committed = append(b.committed, s.Git.Commit)
	}
	ran := s.Check.Checks
	if len(ran) == 0 {
		return
	}
	b.passed = slices.DeleteFunc(b.passed, func(c passedCheck) bool {
		return action.AmongChecks([]action.Check{c.Check}, ran)
	})
	if s.Check.Passed {
		b.passed = append(b.passed, lists.Map(ran, func(c action.Check) passedCheck {
			return passedCheck{c, s.Check.Name}
		})...)
	}
}

var (
	// quotedName is something between backticks, and numberOf the number of a step or a ticket.
	quotedName = lazy.Regexp("`[^`]+`")
	numberOf   = lazy.Regexp(`\b[A-Z]{2,8}-?\d+\b`)
	// ticked is how a line says itself that something was done.
	ticked = lazy.Regexp(`✅|✓|\[[xX]\]`)
)

// of says what became of what a line names. Open: the line says what was to be done.
func (b *became) of(line string, open bool) (list []string) {
	for _, quoted := range quotedName().FindAllString(line, -1) {
		name := strings.Trim(quoted, "`")
		if gone := b.goneIn(name); len(gone) > 0 {
			list = append(list, gone...)
		} else if open && b.isThere(name) {
			list = append(list, quoted+nowThere)
		} else if open && b.passes(name) {
			list = append(list, quoted+nowPassed)
		} else if open && b.changes(name) {
			list = append(list, quoted+nowChanged)
		}
	}
	if open && !ticked().MatchString(line) {
		list = append(list, b.checked(line, list)...)
	}
	var numbers []string
	if open && len(b.committed) > 0 {
		numbers = numberOf().FindAllString(line, -1)
	}
	if len(numbers) == 1 {
		for _, c := range b.committed {
			if slices.Contains(numberOf().FindAllString(c, -1), numbers[0]) {
				list = append(list, numbers[0]+nowCommitted+c)
				break
			}
		}
	}
	if len(list) == 0 && len(b.goneSince) > 0 && keepingWords.says(line+" ") {
		list = append(list, nowGone+strings.Join(b.goneSince, ", "))
	}
	for _, todo := range b.done {
		if open && !ticked().MatchString(line) && strings.Contains(lower.Text(line), lower.Text(todo)) {
			list = append(list, `"`+todo+nowDone)
		}
	}
	return list[:min(len(list), maxBecame)]
}

// goneIn says of the files that a name between backticks is, or a command names, which are gone.
func (b *became) goneIn(name string) (list []string) {
	for word := range strings.FieldsSeq(name) {
		word = strings.Trim(word, "\"'")
		if to, ok := b.goneFile(word); ok && to == "" {
			list = append(list, "`"+word+"`"+nowDeleted)
		} else if ok {
			list = append(list, strings.TrimSuffix("`"+word+"`"+nowMoved+" to "+to, " to "+names.Elsewhere))
		}
	}
	return list
}

// lastDeleted are the names of files that were deleted behind the summary, as many as a line tells.
func (b *became) lastDeleted() (list []string) {
	gone := make(map[string][]string) // by base name
	for file, to := range b.gone {
		if to == "" {
			gone[path.Base(file)] = append(gone[path.Base(file)], file)
		}
	}
	for _, file := range b.deleted {
		name := "`" + path.Base(file) + "`"
		if slices.Contains(list, name) {
			continue
		}
		if slices.ContainsFunc(gone[path.Base(file)], func(g string) bool { return action.SameFile(g, file) }) {
			if list = append(list, name); len(list) == maxBecame {
				break
			}
		}
	}
	return list
}

// keepingWords are how a line says that something stays.
var keepingWords = newVocabulary("keeping")

// goneFile reports whether a file by this name is gone, and where it was moved: one alone, and no other has the name.
func (b *became) goneFile(name string) (to string, ok bool) {
	if slices.ContainsFunc(b.there, func(file string) bool { return namesFile(name, file) }) {
		return "", false
	}
	n := 0
	for file, moved := range b.gone {
		if namesFile(name, file) {
			to = moved
			n++
		}
	}
	return to, n == 1
}

// changes reports whether a name is that of one file alone, which was changed.
func (b *became) changes(name string) bool {
	files := lists.Filter(b.there, func(file string) bool { return path.Base(file) == path.Base(name) })
	return len(files) == 1 && namesFile(name, files[0]) &&
		slices.ContainsFunc(b.changed, func(file string) bool { return namesFile(name, file) })
}

// namesFile reports whether a name is that of a file, or the last part of its path, as people write it.
func namesFile(name, file string) bool {
	name = strings.TrimPrefix(name, "./")
	return path.Ext(name) != "" && !strings.Contains(name, " ") && (file == name || strings.HasSuffix(file, "/"+name))
}

// passes reports whether what a line names is a check, or several, that passed when they last ran.
func (b *became) passes(name string) bool {
	script := action.OfScript(name)
	ran := script.Checks()
	passed := lists.Map(b.passed, func(c passedCheck) action.Check { return c.Check })
	return len(ran) > 0 && script.OnlyChecks() && len(action.Unsettled(ran, passed)) == 0
}

// isThere reports whether a name is that of a folder, "src/utils/", in which files lie that were changed.
func (b *became) isThere(name string) bool {
	name = strings.TrimPrefix(name, "./")
	return strings.HasSuffix(name, "/") && len(name) > 1 && slices.ContainsFunc(b.there, func(file string) bool {
		return strings.HasPrefix(file, name) || strings.Contains(file, "/"+name)
	})
}

var (
	// running is how a line says that checks are to run, checkKinds how it says which, and in their names.
	running    = lazy.Regexp(`(?i)\b(re-?)?(run|verify|ensure|make sure|pass)\b`)
	checkKinds = lazy.Regexp(`(?i)\b(test|lint|build|type-?check|format)`)
)

// checked says of a line that has checks run, without their names ("run linting and tests"), which of the kind passed
// that are not told of it.
func (b *became) checked(line string, told []string) (list []string) {
	bare := quotedName().ReplaceAllString(line, "")
	if !running().MatchString(bare) {
		return nil
	}
	for _, kind := range checkKinds().FindAllString(lower.Text(bare), -1) {
		for i := len(b.passed) - 1; i >= 0; i-- {
			now := "`" + b.passed[i].name + "`" + nowPassed
			if !strings.Contains(lower.Text(b.passed[i].name), strings.TrimPrefix(kind, "type-")) {
				continue
			}
			if !slices.Contains(told, now) && !slices.Contains(list, now) {
				list = append(list, now)
			}
			break
		}
	}
	return list
}

// with are the marks on a line that an earlier note had, with what is known now in place of what it said of the same.
func with(earlier string, now []string) string {
	subject := func(s string) string {
		for _, what := range []string{nowGone, nowDeleted, nowMoved, nowChanged, nowThere, nowPassed, nowDone, nowCommitted} {
			if before, _, ok := strings.Cut(s, what); ok {
				return before
			}
		}
		return s
	}
	if earlier != "" {
		for _, s := range strings.Split(earlier, nowNext) {
			if !slices.ContainsFunc(now, func(o string) bool { return subject(o) == subject(s) }) {
				now = append(now, s)
			}
		}
	}
	return strings.Join(now[:min(len(now), maxBecame)], nowNext)
}
