package note

import "strings"

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
	raw, _, _ := strings.Cut(words[start:], "\n")
	entry := strings.TrimSpace(raw)
	inList := formOf(entry) != ""
	for end := start - 1; end > from; end = start - 1 {
		if start = strings.LastIndexByte(words[:end], '\n') + 1; start < from {
			break
		}
		above := words[start:end]
		line := strings.TrimSpace(above)
		form := formOf(line)
		switch {
		case line == "":
		case isHeading(line), inList && strings.HasSuffix(line, ":") && (form == "" || form != formOf(entry) ||
			indentOf(above) < indentOf(raw)):
			return place{from: start, to: end}, len(line) <= maxHead
		case form == "" && indentOf(above) == 0: // what goes on is set in
			inList = false
		}
	}
	return head, false
}

// maxHead is how long a line may be that is told for what stands under it, in bytes.
const maxHead = 240

// indentOf is how far a line is set in.
func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
