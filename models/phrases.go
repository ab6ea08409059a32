package models

import (
	_ "embed"
	"regexp"
	"strings"
	"sync"
)

//go:embed phrases.txt
var phraseList string

// phrase is how a provider says that a request does not fit.
type phrase struct {
	words *regexp.Regexp
	bytes bool
}

// phrases reads the list when the first error is looked at.
var phrases = sync.OnceValue(func() (list []phrase) {
	for line := range strings.Lines(phraseList) {
		unit, words, ok := strings.Cut(strings.TrimSpace(line), " ")
		if ok && unit != "#" {
			list = append(list, phrase{pattern(words), unit == "bytes"})
		}
	}
	return list
})

// pattern compiles a phrase in lower case. <name> stands for a number.
func pattern(s string) *regexp.Regexp {
	const n = `(?P$0[0-9][0-9,]*)`
	return regexp.MustCompile(placeholder.ReplaceAllString(strings.ReplaceAll(s, ". ", `\. `), n))
}

var placeholder = regexp.MustCompile(`<(?:tokens|limit|answer)>`)
