package names

// Headings of the rendered names. They are part of the format: a later
// compaction reads them back.
const (
	// Heading stands above the names.
	Heading = "## Exact names"

	rootLine      = "Paths are relative to "
	asWritten     = ", or as written" // behind that: of some it is not known
	headTools     = "Tools called in what went:"
	headModified  = "Modified in what went:"
	headRead      = "Read in what went:"
	headPaths     = "Paths mentioned:"
	headPackages  = "Packages and hosts:"
	headShort     = "File names without folders:"
	headSymbols   = "Names:"
	headNumbers   = "Numbers and ids:"
	HeadCommands  = "Other commands run, newest last:"
	blockMark     = "```"
	failedMark    = " (failed)"
	timesMark     = "×" // before how often
	listSeparator = " "
	otherTools    = "and others"         // where not all tools are listed
	perhapsTools  = "and perhaps others" // where an earlier note did not list all
)

// numberPart bounds the numbers to one in so many tokens of the names: a table of figures
// is full of them, and names say more.
const numberPart = 3

// Fit returns what write makes of a budget in at most budget and beside tokens.
// What is longer is written again with less, down to least; then nothing fits. It writes nothing where not even a
// heading has room: a counter that was stopped says so of every text.
func Fit(
	budget, beside, least int, count func(string) int, write func(budget int) string,
) (text string, fits bool) {
	for left := budget; left >= least && count(Heading) <= budget+beside; {
		text := write(left)
		over := count(text) - budget - beside
		if over <= 0 {
			return text, true
		}
		left -= max(over, budget/50, 1)
	}
	return "", false
}

// toolLine lists the tools that fit.
func (l *Names) toolLine(budget int, count func(string) int) string {
	line := ""
	left := budget - count(headTools+" ")
	more := false
	for _, t := range l.tools {
		s := t.String()
		if left -= count(s) + 1; left < 0 {
			more = true
			break
		}
		line += listSeparator + s
	}
	if line == "" {
		return ""
	}
	switch {
	case more:
		line += listSeparator + otherTools
	case l.moreTools:
		line += listSeparator + perhapsTools
	}
	return headTools + line + "\n"
}
