package note

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
)

// failureShare is the room for what failed, in hundredths of the budget: a
// little of a small one, and as much as it takes of a large one. What failed
// before must not be tried again.
func failureShare(budget int) int {
	const low, high = 2000, 4500
	return 20 + 25*max(0, min(budget, high)-low)/(high-low)
}

// lastFailures is how many of the last failures have room of their own, see
// [Options.Failures].
const lastFailures = 20

// failures keeps the newest failures that fit, oldest first: as many as their
// share of the budget holds, and the last ones in room beside it.
func (p *parts) failures(list []names.Failure, beside int) {
	heads := p.count(names.HeadFailed+names.HeadErrors) + 2
	left := p.budget*failureShare(p.budget)/100 - heads
	var failed, errors []string
	for i := len(list) - 1; i >= 0; i-- {
		if i == len(list)-1-lastFailures {
			beside = 0
		}
		f := &list[i]
		text := quoted(f)
		n := p.count(text) + 1
		if n > left+beside {
			break
		}
		if left -= n; left < 0 {
			beside, p.extra, left = beside+left, p.extra-left, 0
		}
		if f.Command() {
			failed = append(failed, text)
		} else {
			errors = append(errors, text)
		}
	}
	slices.Reverse(failed)
	slices.Reverse(errors)
	p.put(names.HeadFailed, failed)
	p.put(names.HeadErrors, errors)
}

// quoted is a failure as it is written.
func quoted(f *names.Failure) string {
	text := "```\n" + f.Text + "\n```"
	if f.Then != "" {
		text += "\n" + names.ThenLine + "`" + f.Then + "`"
	}
	return text
}

// FailuresBeside returns what the last failures need beside their share of a
// budget, in tokens: what [Options.Failures] must be for all of them to be written.
func (n *Note) FailuresBeside(budget int, count func(string) int) int {
	list := n.last()
	need := count(names.HeadFailed+names.HeadErrors) + 2
	for i := range list {
		need += count(quoted(&list[i])) + 1
	}
	return max(0, need-budget*failureShare(budget)/100)
}

// FailuresKept returns the part of the last failures that a text holds word for
// word, from 0 to 1. It is 1 where there are none.
func (n *Note) FailuresKept(text string) float64 {
	failures, kept := n.last(), 0
	if len(failures) == 0 {
		return 1
	}
	for _, f := range failures {
		if strings.Contains(text, f.Text) {
			kept++
		}
	}
	return float64(kept) / float64(len(failures))
}

// last are the last failures, oldest first.
func (n *Note) last() []names.Failure {
	list := n.names.Failures()
	return list[max(0, len(list)-lastFailures):]
}
