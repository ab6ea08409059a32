package memory

import (
	"strings"

	"github.com/kagewasm/kagewasm/strategies/clip"
)

// maxQueryTokens is what a query may cost: Hindsight takes fewer than 500
// tokens, by its own count.
const maxQueryTokens = 450

// query is what to recall by: the last message of a person, and before it the
// turns that the knobs ask for, as far as there is room. It is empty where no
// person said anything.
func (p *pass) query() string {
	var last string
	var before []string // newest first
	turns := 0
	for i := len(p.msgs) - 1; i >= 0 && turns < p.set.contextTurns; i-- {
		m := &p.msgs[i]
		text := p.read()[i]
		switch {
		case text == "":
		case last != "":
			before = append(before, author(m)+": "+clip.OneLine(text))
		case m.IsPerson():
			last = text
		}
		if m.IsPerson() && text != "" {
			turns++
		}
	}
	query := head(last, p.set.maxQueryChars)
	for _, line := range before {
		if len([]rune(query))+len([]rune(line))+1 > p.set.maxQueryChars {
			break
		}
		query = line + "\n" + query
	}
	return p.withinTokens(query)
}

// withinTokens cuts a query to what Hindsight takes.
func (p *pass) withinTokens(query string) string {
	for query != "" {
		n := p.count(query)[0]
		if n <= maxQueryTokens {
			break
		}
		query = head(query, len([]rune(query))*maxQueryTokens/n)
	}
	return query
}

// head is the first n characters of s.
func head(s string, n int) string {
	r := []rune(s)
	return strings.TrimSpace(string(r[:min(n, len(r))]))
}
