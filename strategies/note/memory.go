package note

import (
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// Memory keeps what was found in texts, for several notes of a session that differ in
// which messages go. The zero value is ready. It belongs to one goroutine.
type Memory struct {
	found    names.Found
	known    outcome.Known
	closing  remembered[string]
	fuller   remembered[string]
	asked    remembered[ask]
	offers   remembered[string]
	findings remembered[[]finding]
	bindings remembered[[]rule]
	drops    remembered[[]dropped]
	refusals remembered[refused]
	numbered remembered[[]option]
}

// ask is what [asked] returns.
type ask struct {
	said    string
	options bool
}

func askedOf(text string) ask {
	said, options := asked(text)
	return ask{said, options}
}

// remembered is what was read off texts, by text.
type remembered[T any] map[string]T

// of is what read makes of a text.
func (r *remembered[T]) of(text string, read func(string) T) T {
	if v, ok := (*r)[text]; ok {
		return v
	}
	v := read(text)
	if *r == nil {
		*r = make(remembered[T])
	}
	(*r)[text] = v
	return v
}
