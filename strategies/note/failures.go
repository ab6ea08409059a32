package note

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
)

// lastFailures is how many of the last failures have room of their own, see
// [Options.Failures].
const lastFailures = 20

// failures adds the newest failures that fit, oldest first: as many as fit into a budget,
// and the last ones in room beside it. What failed before must not be tried again. What state tells all of is not said
// again. It returns how many it added.
func (p *parts) failures(list []names.Failure, state string, budget, beside int) (added int) {
	heads := p.count(names.HeadFailed+names.HeadErrors) + 2
	if budget < leastFailed { // there is room for one of them alone
		heads = p.count(names.HeadFailed) + 1
	}
	left := min(budget, p.left) - heads
	extra := 0
	var failed, errors []string
	for i := len(list) - 1; i >= 0; i-- {
		if i == len(list)-1-lastFailures {
			beside = 0
		}
		f := &list[i]
		if tells(state, f) {
			continue
		}
		text := quoted(f)
		n := p.count(text) + 1
		if n > left+beside && len(failed)+len(errors) == 0 {
			text = briefly(f, func(text string) bool { return p.count(text) < left+beside })
			n = p.count(text) + 1
		}
		if n > left+beside {
			break
		}
		if left -= n; left < 0 {
			beside, extra, left = beside+left, extra-left, 0
		}
		if f.Command() {
			failed = append(failed, text)
		} else {
			errors = append(errors, text)
		}
	}
	p.under(names.HeadFailed, failed)
	p.under(names.HeadErrors, errors)
	p.left += extra
	return len(failed) + len(errors)
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

// under adds texts, newest first, below a head in order.
func (p *parts) under(head string, texts []string) {
	if len(texts) > 0 {
		slices.Reverse(texts)
		p.put(append([]string{head}, texts...)...)
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
	list := lastOf(names.Failures(ctx, gone, s.Pruned, s.harness(ctx, memory)))
	need := count(names.HeadFailed+names.HeadErrors) + 2
	for i := range list {
		need += count(quoted(&list[i])) + 1
	}
	return need
}

// FailuresTold returns how many of the failures in the superseded messages a text
// holds word for word, and how many there were.
func (n *Note) FailuresTold(text string) (told, all int) {
	for _, f := range n.names.Failures() {
		if strings.Contains(text, f.Text) || tells(text, &f) {
			told++
		}
	}
	return told, n.names.Failed()
}

// lastOf are the last failures of a list, oldest first.
func lastOf(list []names.Failure) []names.Failure { return list[max(0, len(list)-lastFailures):] }
