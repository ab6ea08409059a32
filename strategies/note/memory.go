package note

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
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
	readings map[[2]string]*reading // of calls, by their names and arguments; nil where they read no rules
	loaded   map[loadable]loadedRules
}

// loadable is what rules are read off that were loaded: the text, whether it is a project's, and whose agent's.
type loadable struct {
	text    string
	project bool
	agent   string
}

// loadedRules is what [instructed] returns.
type loadedRules struct {
	list       []string
	left, rest int
}

// instructed is [instructed], once for each text.
func (m *Memory) instructed(text string, project bool, agent string) (list []string, left, rest int) {
	if m == nil {
		return instructed(text, project, agent)
	}
	key := loadable{text, project, agent}
	known, ok := m.loaded[key]
	if !ok {
		known.list, known.left, known.rest = instructed(text, project, agent)
		if m.loaded == nil {
			m.loaded = make(map[loadable]loadedRules)
		}
		m.loaded[key] = known
	}
	return slices.Clip(known.list), known.left, known.rest
}

// readingOf is [readingOf], once for each call.
func (m *Memory) readingOf(c *abi.ToolCall) (r reading, ok bool) {
	if m == nil {
		return readingOf(c)
	}
	key := [2]string{c.Name, c.Arguments}
	known, ok := m.readings[key]
	if !ok {
		if r, ok := readingOf(c); ok {
			known = &r
		}
		if m.readings == nil {
			m.readings = make(map[[2]string]*reading)
		}
		m.readings[key] = known
	}
	if known == nil {
		return reading{}, false
	}
	return *known, true
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
