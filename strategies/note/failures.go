package note

import (
	"context"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// lastFailures is how many of the last failures have room of their own for all that is quoted of them, see
// [Options.Beside]: older ones have it in short.
const lastFailures = 20

// moreFailed is how much of their share failures may cost, in hundredths, in a note of shortFailed tokens where not all
// of them fit: in a smaller one names are worth more, which have what they need first.
const moreFailed, shortFailed = 250, 6000

// someMore is how much of their room the last failures may cost where all of them fit then, in hundredths: names, which
// come behind them, lose little by it.
const someMore = 125

// failure is what failed, as it may be told: whole, or in short. Older: it is none of the last ones. Open: nothing is
// known to have settled it.
type failure struct {
	*names.Failure
	whole, short         string
	wholeCost, shortCost int
	older, open          bool
}

// failuresOf are what failed, with what each costs: a note is written several times.
func failuresOf(list []names.Failure, count func(string) int) []failure {
	all := make([]failure, len(list))
	for i := range list {
		f := failure{Failure: &list[i], whole: quoted(&list[i]), short: inBrief(&list[i]),
			older: i < len(list)-lastFailures, open: list[i].Became() == ""}
		f.wholeCost, f.shortCost = count(f.whole)+1, count(f.short)+1
		all[i] = f
	}
	return all
}

// failures adds the failures that fit, oldest first: into a budget, and the last ones in room beside it. What failed
// before must not be tried again: where not all fit older ones are told in short. Where the last ones do not, those
// that passed later come after the others, and where short is set they are told in short, and others are for older
// ones to have room. What state tells all of is not said again where it is settled: the next note has another state. It
// returns how many it added, and what those that it left out cost in short, in tokens.
func (p *parts) failures(list []failure, state string, budget, beside int, short bool) (added, left int) {
	heads := p.count(names.HeadFailed+names.HeadErrors) + 2
	if budget < leastFailed { // there is room for one of them alone
		heads = p.count(names.HeadFailed) + 1
	}
	list = lists.Filter(list, func(f failure) bool { return f.open || !tells(state, f.Failure) })
	whole, last := 0, 0
	for _, f := range list {
		whole, left = whole+f.wholeCost, left+f.shortCost
		if !f.older {
			last += f.wholeCost
		}
	}
	have := min(budget, p.left) - heads + beside
	if last > have && last <= have*someMore/100 {
		budget, have = budget+last-have, min(last, p.left-heads+beside)
	}
	crowded, scarce := whole > have, last > have
	if short = short && scarce; short {
		budget = max(budget, min(left+heads, budget*moreFailed/100))
	}
	room := min(budget, p.left) - heads
	extra, told := 0, make([]string, len(list))
	take := func(i int) bool {
		f, most := &list[i], room+beside
		text, n := f.whole, f.wholeCost
		if crowded && f.older || short && (!f.open || n > most-min(left-f.shortCost, most*3/4)) {
			text, n = f.short, f.shortCost
		}
		if n > most && added == 0 {
			text = briefly(f.Failure, func(text string) bool { return p.count(text) < most })
			n = p.count(text) + 1
		}
		if n > most {
			return false
		}
		if room -= n; room < 0 {
			beside, extra, room = beside+room, extra-room, 0
		}
		told[i], added, left = text, added+1, left-f.shortCost
		return true
	}
	for _, open := range []bool{true, false} {
		for i := len(list) - 1; i >= 0; i-- {
			if told[i] == "" && (list[i].open || !open || !scarce) && !take(i) {
				break
			}
		}
	}
	p.under(names.HeadFailed, list, told, true)
	p.under(names.HeadErrors, list, told, false)
	p.left += extra
	return added, left
}

// inBrief is a failure with the first line alone that says what went wrong, or else the first of what came of it.
func inBrief(f *names.Failure) string {
	lines := strings.Split(f.Text, "\n")
	says := func(line string) bool { return line != names.GapLine }
	first := slices.IndexFunc(lines[1:], says)
	if lines[0] == "$" || first < 0 {
		return quoted(f)
	}
	if i := slices.IndexFunc(lines[1:], saysWhy(lines[1:])); i >= 0 {
		first = i
	} else if at, named := outcome.Fault(lines[1:]); named || names.IsCut(lines[1+first]) && lines[1+at] != names.GapLine {
		first = at
	}
	text := lines[:1:1]
	if slices.ContainsFunc(lines[1:1+first], says) {
		text = append(text, names.GapLine)
	}
	if text = append(text, lines[1+first]); first+2 < len(lines) {
		text = append(text, names.GapLine)
	}
	if len(text) >= len(lines) {
		return quoted(f)
	}
	short := *f
	short.Text = strings.Join(text, "\n")
	return quoted(&short)
}

// saysWhy returns what a line says that tells why something failed: the reason, or an error where none is known.
func saysWhy(lines []string) func(string) bool {
	if why := outcome.Reasons(strings.Join(lines, "\n")); len(why) > 0 {
		return func(line string) bool { return strings.Contains(line, why[0]) }
	}
	return outcome.SaysError
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
func (p *parts) under(head string, list []failure, told []string, commands bool) {
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

// FailuresTold returns how many of the failures in the superseded messages a text
// holds, with the line that says what went wrong at least, and how many there were.
func (n *Note) FailuresTold(text string) (told, all int) {
	for _, f := range n.names.Failures() {
		brief := inBrief(&f)
		if (strings.Contains(text, f.Text) || tells(text, &f)) && explains(&f, f.Text) ||
			strings.Contains(text, brief) && explains(&f, brief) {
			told++
		}
	}
	return told, n.names.Failed()
}

// explains reports whether what is quoted of a failure says what went wrong: a line of it does, or it is all that came
// of the call. How the output of a command begins may say nothing of it. A tool says what went wrong from the start.
func explains(f *names.Failure, quoted string) bool {
	_, said, _ := strings.Cut(quoted, "\n")
	lines := strings.Split(said, "\n")
	return !f.Command() && !names.IsCut(lines[len(lines)-1]) || slices.ContainsFunc(lines, outcome.SaysError) ||
		slices.ContainsFunc(lines, outcome.NamesFault) || len(outcome.Reasons(said)) > 0 ||
		len(outcome.Telling(lines)) > 0 ||
		slices.ContainsFunc(lines, outcome.Rejected) || !names.LeavesOut(lines)
}

// Failed marks the results of calls that failed, as a note reads them: by a mark or the code of an exit, and else by
// what the result says.
func Failed(ctx context.Context, msgs []abi.Message) []bool {
	memory := new(Memory)
	s := Session{Messages: msgs, Gone: make([]bool, len(msgs))}.plain(memory)
	harness, failed := s.harness(ctx, memory), make([]bool, len(msgs))
	calls := make(map[string]*action.Action)
	for i := range s.Messages {
		m := &s.Messages[i]
		for k := range m.ToolCalls {
			calls[m.ToolCalls[k].ID] = harness.Does(&m.ToolCalls[k])
		}
		if a := calls[m.ToolCallID]; m.Role == abi.RoleTool && a != nil {
			a.Answered(m.Text())
			failed[i] = harness.Of(m, a).Failed
		}
	}
	return failed
}
