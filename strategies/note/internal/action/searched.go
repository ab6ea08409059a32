package action

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/set"
)

// Searched says what a call looked for something in, with the numbers of lines in its output: the file, where it is one
// that the output does not name. Nothing else puts lines out: numbers there are of what was searched.
func (a *Action) Searched() (file string, numbered bool) {
	if a.Script == "" {
		if !a.Searches() {
			return "", false
		}
		if len(a.Files) == 1 {
			file = a.Files[0].Path
		}
		return file, true
	}
	for i := range a.Commands {
		c, fed := &a.Commands[i], i > 0 && a.Commands[i-1].Then == "|"
		switch {
		case c.SetsScene():
		case fed && len(c.Words) > 0 && besideChecks[c.Words[0]] && !greps[c.Words[0]]: // it shows a part
		case fed || numbered || len(c.Words) == 0 || !greps[c.Words[0]] || !slices.ContainsFunc(c.Words, numbersLines):
			return "", false
		default:
			numbered = true
			if words := operands(c.Words[1:]); len(words) == 2 { // what is looked for, and where
				file = words[1]
			}
		}
	}
	return file, numbered
}

// greps are programs that look for something in files, and tell the numbers of lines where they are told to.
var greps = set.Of("grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack")

// numbersLines reports whether an option has such a program tell the numbers of lines: -n, -rn.
func numbersLines(option string) bool {
	return option == "--line-number" || len(option) > 1 && option[0] == '-' && option[1] != '-' &&
		strings.Contains(option, "n")
}

// operands are the words of such a program that are no options, nor what one is given.
func operands(words []string) (list []string) {
	given := false
	for _, w := range words {
		switch {
		case given:
			given = false
		case w == "-A" || w == "-B" || w == "-C" || w == "-m" || w == "-g" || w == "-t" || w == "--glob" || w == "--type":
			given = true
		case w == "" || w[0] != '-':
			list = append(list, w)
		}
	}
	return list
}

// IsLine reports whether what stands behind a number and a colon at the beginning of a line is the text of a line with
// that number: of "8080: web" the number is a part of the text.
func IsLine(behind string) bool {
	return !strings.HasPrefix(behind, " ") || strings.HasPrefix(behind, "  ") || strings.HasPrefix(behind, " \t")
}
