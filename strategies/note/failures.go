package note

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
)

// lastFailures is how many of the last failures have room of their own for all that is quoted of them, see
// [Options.Failures]: older ones have it in short.
const lastFailures = 20

// moreFailed is how much of their share failures may cost, in hundredths, in a note of shortFailed tokens where not all
// of them fit: in a smaller one names are worth more, which have what they need first.
const moreFailed, shortFailed = 250, 6000

// failures adds the failures that fit, oldest first: into a budget, and the last ones in room beside it. What failed
// before must not be tried again: where not all fit older ones are told in short. Where the last ones do not, those
// that passed later come after the others, and where short is set they are told in short, and others are for older
// ones to have room. What state tells all of is not said again. It returns how many it added, and what those that it
// left out cost in short, in tokens.
func (p *parts) failures(list []names.Failure, state string, budget, beside int, short bool) (added, left int) {
	heads := p.count(names.HeadFailed+names.HeadErrors) + 2
	if budget < leastFailed { // there is room for one of them alone
		heads = p.count(names.HeadFailed) + 1
	}
	untold := func(f *names.Failure) bool { return !tells(state, f) }
	open := func(f *names.Failure) bool { return untold(f) && f.Became() == "" }
	reserved, later := p.costs(list, inBrief, open), 0
	older := func(i int) bool { return i < len(list)-lastFailures }
	all := p.costs(list, quoted, untold)
	have := min(budget, p.left) - heads + beside
	crowded := all[len(list)] > have // older ones are told in short
	scarce := all[len(list)]-all[max(0, len(list)-lastFailures)] > have
	if scarce && short {
		need := p.costs(list, inBrief, untold)[len(list)]
		later = need - reserved[len(list)]
		budget = max(budget, min(need+heads, budget*moreFailed/100))
	}
	room, extra, told := min(budget, p.left)-heads, 0, make([]string, len(list))
	take := func(i int) bool {
		f, most := &list[i], room+beside
		text := quoted(f)
		n := p.count(text) + 1
		others := min(reserved[i]+later, most*3/4)
		if crowded && older(i) || scarce && short && (f.Became() != "" || n > most-others) {
			text = inBrief(f)
			n = p.count(text) + 1
		}
		if n > most && added == 0 {
			text = briefly(f, func(text string) bool { return p.count(text) < most })
			n = p.count(text) + 1
		}
		if n > most {
			return false
		}
		if room -= n; room < 0 {
			beside, extra, room = beside+room, extra-room, 0
		}
		told[i], added = text, added+1
		return true
	}
	order := []func(*names.Failure) bool{open, untold}
	if !scarce { // the last ones first
		order = order[1:]
	}
	for _, wanted := range order {
		for i := len(list) - 1; i >= 0; i-- {
			if told[i] == "" && wanted(&list[i]) && !take(i) {
				break
			}
		}
	}
	p.under(names.HeadFailed, list, told, true)
	p.under(names.HeadErrors, list, told, false)
	p.left += extra
	for i := range list {
		if told[i] == "" && untold(&list[i]) {
			left += p.count(inBrief(&list[i])) + 1
		}
	}
	return added, left
}

// costs is, for each failure, what those before it that are wanted cost in one form, in tokens, and at last what all of
// them do.
func (p *parts) costs(
	list []names.Failure, form func(*names.Failure) string, wanted func(*names.Failure) bool,
) (before []int) {
	before = make([]int, len(list)+1)
	for i := range list {
		if before[i+1] = before[i]; wanted(&list[i]) {
			before[i+1] += p.count(form(&list[i])) + 1
		}
	}
	return before
}

// inBrief is a failure with the first line of what went wrong alone.
func inBrief(f *names.Failure) string {
	lines := strings.Split(f.Text, "\n")
	end := 1 + slices.IndexFunc(lines[1:], func(line string) bool { return line != names.GapLine })
	if lines[0] == "$" || end == 0 || end+2 >= len(lines) {
		return quoted(f)
	}
	short := *f
	short.Text = strings.Join(append(lines[:end+1:end+1], names.GapLine), "\n")
	return quoted(&short)
}

// tells reports whether a text tells all of a failure, line by line: of one in one line what was called and what came
// back.
func tells(text string, f *names.Failure) bool {
	call, said, _ := strings.Cut(f.Text, "\n")
	for line := range strings.Lines(text) {
		if strings.Contains(line, strings.TrimPrefix(call, "$ ")) && strings.Contains(line, said) && said != "" {
			return true
		}
	}
	return false
}

// under adds what is told of the failures that are commands, or are not, below a head.
func (p *parts) under(head string, list []names.Failure, told []string, commands bool) {
	lines := []string{head}
	for i := range list {
		if told[i] != "" && list[i].Command() == commands {
			lines = append(lines, told[i])
		}
	}
	if len(lines) > 1 {
		p.put(lines...)
	}
}

// briefly is a failure as it is written where there is no room for all that is quoted of it: with as many of its first
// lines as fit. It is done to one with many lines alone: without a short one there is room for what tells more. And of
// a command of several lines nobody can tell where it ends.
func briefly(f *names.Failure, fits func(string) bool) string {
	short, text, lines := *f, quoted(f), strings.Split(f.Text, "\n")
	if lines[0] == "$" || len(lines) < manyQuoted {
		return text
	}
	for end := len(lines) - 1; end >= leastQuoted && !fits(text); end-- {
		if lines[end-1] != names.GapLine {
			short.Text = strings.Join(append(lines[:end:end], names.GapLine), "\n")
			text = quoted(&short)
		}
	}
	return text
}

const (
	// leastQuoted is how many lines of a failure are told at the least: the command, a mark of what is left out, and
	// what went wrong.
	leastQuoted = 3
	// manyQuoted is how many lines a failure has that is told in part.
	manyQuoted = 12
)

// quoted is a failure as it is written.
func quoted(f *names.Failure) string {
	text := "```\n" + f.Text + "\n```"
	if line := f.Became(); line != "" {
		text += "\n" + line
	}
	return text
}

// FailuresBeside returns what the last failures in the messages that go need, in tokens: what
// [Options.Failures] must be for all of them to be written, whatever the other parts leave. It reads nothing else off
// the messages, so that it costs less than [Build]. Once ctx is done it is of no use.
func (s Session) FailuresBeside(ctx context.Context, count func(string) int) int {
	s.Messages, _ = called(s.Messages, abi.Origins(s.Messages))
	memory := cmp.Or(s.Memory, new(Memory))
	s = s.plain(memory)
	gone, _ := s.parted()
	list := names.Failures(ctx, gone, s.Pruned, s.harness(ctx, memory))
	need := count(names.HeadFailed+names.HeadErrors) + 2
	for i := range list {
		text := quoted(&list[i])
		if i < len(list)-lastFailures {
			text = inBrief(&list[i])
		}
		need += count(text) + 1
	}
	return need
}

// FailuresTold returns how many of the failures in the superseded messages a text
// holds, with the first line of what went wrong at least, and how many there were.
func (n *Note) FailuresTold(text string) (told, all int) {
	for _, f := range n.names.Failures() {
		if strings.Contains(text, f.Text) || strings.Contains(text, inBrief(&f)) || tells(text, &f) {
			told++
		}
	}
	return told, n.names.Failed()
}
