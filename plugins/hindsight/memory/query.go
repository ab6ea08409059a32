package memory

import (
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
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
	query := strings.TrimSpace(clip.Chars(last, p.set.maxQueryChars))
	for _, line := range before {
		if utf8.RuneCountInString(query)+utf8.RuneCountInString(line)+1 > p.set.maxQueryChars {
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
		query = strings.TrimSpace(clip.Chars(query, utf8.RuneCountInString(query)*maxQueryTokens/n))
	}
	return query
}
