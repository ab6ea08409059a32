package strategies

import "strings"

// entry is a unit as the model reads it.
type entry struct {
	text   string
	tokens int
}

// between is the most tokens that joining two entries costs.
const between = 2

// chunks divides entries into so many texts of about the same size, into fewer
// where there are fewer entries, and into more where one would be over budget
// tokens. A single entry over budget has to be shortened before.
func chunks(entries []entry, parts, budget int) []string {
	left := 0
	for _, e := range entries {
		left += e.tokens + between
	}
	var out []string
	for len(entries) > 0 {
		n := fill(entries, max(1, parts-len(out)), left, budget)
		var texts []string
		for _, e := range entries[:n] {
			texts = append(texts, e.text)
			left -= e.tokens + between
		}
		out, entries = append(out, strings.Join(texts, "\n\n")), entries[n:]
	}
	return out
}

// fill returns how many entries the next of so many parts takes: its share of the tokens that are left,
// and not so many that one of the other parts gets none.
func fill(entries []entry, parts, left, budget int) int {
	share := (left + parts - 1) / parts
	size, n := 0, 0
	for n < len(entries) && (n == 0 || len(entries)-n >= parts) {
		size += entries[n].tokens + between
		if n > 0 && (size > budget || parts > 1 && size > share) {
			break
		}
		n++
	}
	return n
}
