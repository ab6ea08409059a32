package names

import "strings"

// Headings of the rendered names. They are part of the format: a later
// compaction reads them back.
const (
	// Heading stands above the names.
	Heading = "## Exact names"

	intro         = "Word for word from the messages this note stands for, most relevant first."
	rootLine      = "Paths are relative to "
	headTools     = "Tools called:"
	headModified  = "Files modified:"
	headRead      = "Files read:"
	headPaths     = "Other paths:"
	headShort     = "File names used alone:"
	headSymbols   = "Names:"
	headNumbers   = "Numbers and ids:"
	HeadCommands  = "Commands run, newest last:"
	headErrors    = "Errors met, newest last:"
	blockMark     = "```"
	failedMark    = " (failed)"
	whileMark     = " ← "
	sameDoing     = "same"
	listSeparator = " "
)

// eventShare is the part of the budget that commands and errors may take.
const eventShare = 0.1

// numberPart bounds the numbers to one in so many tokens of the names: a table of figures
// is full of them, and names say more.
const numberPart = 3

// minBudget is the smallest budget, in tokens, that is worth writing names in.
const minBudget = 60

// Render writes the names in at most budget tokens as count counts them. It
// returns the empty string where the budget is too small or there is nothing
// to say.
func (l *Names) Render(budget int, count func(string) int) string {
	if budget < minBudget || l.Empty() {
		return ""
	}
	text, _ := Fit(budget, 0, minBudget, count, func(budget int) string { return l.render(budget, count) })
	return text
}

// Fit returns what write makes of a budget in at most budget and beside tokens.
// What is longer is written again with less, down to least; then nothing fits.
func Fit(
	budget, beside, least int, count func(string) int, write func(budget int) string,
) (text string, fits bool) {
	for left := budget; left >= least; {
		text := write(left)
		over := count(text) - budget - beside
		if over <= 0 {
			return text, true
		}
		left -= max(over, budget/50, 1)
	}
	return "", false
}

func (l *Names) render(budget int, count func(string) int) string {
	var b strings.Builder
	b.WriteString(Heading + "\n" + intro + "\n")
	if l.root != "" {
		b.WriteString(rootLine + l.root + "\n")
	}
	left := budget - count(b.String())
	tools := l.toolLine(left/10, count)
	if tools != "" {
		b.WriteString("\n" + tools)
		left -= count(tools) + 1
	}
	events := l.events(int(float64(left)*eventShare), count)
	left -= count(events)
	shown := make(map[string]bool)
	for _, text := range []string{tools, events} {
		scan(text, false, func(name string, _ class) { addParts(shown, name) })
	}
	names := l.pick(left, shown, count)
	for k := range numLists {
		if text := names.text(k); text != "" {
			b.WriteString("\n" + text)
		}
	}
	if events != "" {
		b.WriteString("\n" + events)
	}
	return strings.TrimRight(b.String(), "\n")
}

// toolLine lists the tools that fit.
func (l *Names) toolLine(budget int, count func(string) int) string {
	line := ""
	left := budget - count(headTools+" ")
	for _, t := range l.tools {
		s := t.String()
		if left -= count(s) + 1; left < 0 {
			break
		}
		line += listSeparator + s
	}
	if line == "" {
		return ""
	}
	return headTools + line + "\n"
}

// events writes the newest commands and errors that fit, oldest first.
func (l *Names) events(budget int, count func(string) int) string {
	left := budget - 14 // the two headings
	ci, ei := len(l.commands), len(l.errors)
	for ci > 0 || ei > 0 {
		takeError := ci == 0 || ei > 0 && l.errors[ei-1].at >= l.commands[ci-1].at
		line := ""
		if takeError {
			line = l.errorLine(ei-1, 0)
		} else {
			line = l.commandLine(ci - 1)
		}
		if left -= count(line) + 1; left < 0 {
			break
		}
		if takeError {
			ei--
		} else {
			ci--
		}
	}
	var b strings.Builder
	if ci < len(l.commands) {
		b.WriteString(HeadCommands + "\n")
		for i := ci; i < len(l.commands); i++ {
			b.WriteString(l.commandLine(i) + "\n")
		}
	}
	if ei < len(l.errors) {
		b.WriteString(headErrors + "\n")
		for i := ei; i < len(l.errors); i++ {
			b.WriteString(l.errorLine(i, ei) + "\n")
		}
	}
	return b.String()
}

func (l *Names) commandLine(i int) string {
	line := "- " + relative(l.commands[i].line, l.root)
	if l.commands[i].failed {
		line += failedMark
	}
	return line
}

// errorLine writes error i where the first one written is first: for errors in
// a row what was being done is said once.
func (l *Names) errorLine(i, first int) string {
	f := &l.errors[i]
	line := "- " + f.text
	switch {
	case f.doing == "":
		return line
	case i > first && l.errors[i-1].doing == f.doing && l.errors[i-1].about == f.about:
		return line + whileMark + sameDoing
	case f.about == "":
		return line + whileMark + relative(f.doing, l.root)
	case l.root != "":
		return line + whileMark + f.doing + " " + strings.TrimPrefix(f.about, l.root+"/")
	}
	return line + whileMark + f.doing + " " + f.about
}
