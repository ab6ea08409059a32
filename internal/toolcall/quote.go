package toolcall

import (
	"slices"
	"strings"
)

// LeftOut stands in a command that is told where something of it is left out: all else is word for word.
const LeftOut = "…"

// onceLeftOut is a text with one mark where several stood in a row.
func onceLeftOut(s string) string {
	for {
		once := strings.ReplaceAll(s, LeftOut+" "+LeftOut, LeftOut)
		if once == s {
			return s
		}
		s = once
	}
}

// Quote tells some commands of a script in one line, word for word. A mark stands where something between them is left
// out, and where one of them is piped into another that is not told, or out of one. What only sets the scene between
// them is told with them.
func Quote(list []Command, told func(i int) bool) string {
	var b strings.Builder
	last := -1
	for i := range list {
		if !told(i) {
			continue
		}
		switch {
		case last < 0:
			if i > 0 && list[i-1].Then == "|" {
				b.WriteString(LeftOut + list[i-1].joint())
			}
		case onlyScenes(list[last+1 : i]):
			for k := last; k < i; k++ {
				if k > last {
					b.WriteString(list[k].Quote)
				}
				b.WriteString(list[k].joint())
			}
		default:
			b.WriteString(list[last].joint() + LeftOut + list[i-1].joint())
		}
		b.WriteString(list[i].Quote)
		last = i
	}
	if last >= 0 && last+1 < len(list) && list[last].Then == "|" {
		b.WriteString(list[last].joint() + LeftOut)
	}
	return onceLeftOut(strings.Join(strings.Fields(b.String()), " "))
}

// QuoteScript tells a script in one line, word for word, without the folder that it changes to first and without what
// only shortens its output.
func QuoteScript(list []Command) string {
	from := 0
	for from < len(list) && list[from].SetsScene() {
		from++
	}
	if from == len(list) {
		from = 0
	}
	return Quote(list, func(i int) bool { return i >= from && !(i > 0 && list[i-1].Then == "|" && list[i].shortens()) })
}

// shorteners pass on a part of what they read, or all of it.
var shorteners = []string{"head", "tail", "grep", "egrep", "rg", "sed", "awk", "cut", "tee", "less", "more", "cat",
	"wc", "sort", "uniq"}

// shortens reports whether a command behind a pipe only shows what it reads, or a part of it.
func (c *Command) shortens() bool {
	return len(c.Words) > 0 && slices.Contains(shorteners, c.Words[0]) && len(c.Writes)+len(c.Appends) == 0
}

// joint is what stands between a command and the next one.
func (c *Command) joint() string {
	switch {
	case c.Apart:
		return " " + LeftOut + " "
	case c.Then == ";":
		return "; "
	}
	return " " + c.Then + " "
}

func onlyScenes(list []Command) bool {
	return !slices.ContainsFunc(list, func(c Command) bool { return !c.SetsScene() })
}
