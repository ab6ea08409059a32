package note

import (
	"strings"
	"unicode/utf8"
)

// What is shown of a list says the opposite under another heading: "Leave these alone" and "Do these first".

// withHeads are places of words, which are in order, with the heading that each stands under where that is left out.
func withHeads(words string, list []place) (all []place) {
	end := 0
	for _, p := range list {
		if head, ok := headOf(words, end, p.from); ok {
			all = append(all, head)
		}
		all, end = append(all, p), p.to
	}
	return all
}

// headOf is the place of the line, from a place of words on, that the line at another place stands under: the last
// heading above it, or of an entry of a list the last line above the list that ends in a colon.
func headOf(words string, from, at int) (head place, ok bool) {
	start := strings.LastIndexByte(words[:at], '\n') + 1
	line, _, _ := strings.Cut(words[start:], "\n")
	line = strings.TrimSpace(line)
	inList := line != "" && isEntry(line)
	for end := start - 1; end > from; end = start - 1 {
		if start = strings.LastIndexByte(words[:end], '\n') + 1; start < from {
			break
		}
		if line = strings.TrimSpace(words[start:end]); line == "" {
			continue
		}
		entry := isEntry(line)
		if isHeading(line) || inList && !entry && strings.HasSuffix(line, ":") {
			return place{from: start, to: end}, utf8.RuneCountInString(line) <= maxBefore
		}
		inList = inList && entry
	}
	return head, false
}
