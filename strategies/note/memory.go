package note

import (
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// Memory keeps what was found in texts, for several notes of a session that differ in
// which messages go. The zero value is ready. It belongs to one goroutine.
type Memory struct {
	found    names.Found
	known    outcome.Known
	closing  remembered[string, string]
	fuller   remembered[string, string]
	written  remembered[string, string]
	reports  remembered[string, string]
	fullest  remembered[string, string]
	reported map[string]string // reports by what they are in short, empty where several are
	asked    remembered[string, ask]
	offers   remembered[string, string]
	findings remembered[string, []finding]
	bindings remembered[string, []rule]
	drops    remembered[string, []dropped]
	refusals remembered[string, refused]
	numbered remembered[string, []option]
	readings remembered[calledAs, *reading] // nil where a call reads no rules
	loaded   remembered[loadable, loadedRules]
}

// calledAs is what a call does: its tool, and the arguments.
type calledAs struct{ name, arguments string }

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
	known := m.loaded.of(loadable{text, project, agent}, func(loadable) (r loadedRules) {
		r.list, r.left, r.rest = instructed(text, project, agent)
		return r
	})
	return slices.Clip(known.list), known.left, known.rest
}

// findingsOf is [findings], once for each text.
func (m *Memory) findingsOf(text string) []finding { return m.findings.of(text, findings) }

// closingOf is [closing], once for each text.
func (m *Memory) closingOf(text string) string {
	return m.closing.of(text, func(text string) string { return closingIn(maxSaid, text, m.findingsOf) })
}

// fullerOf is [fullerClosing], once for each text.
func (m *Memory) fullerOf(text string) string {
	return m.fuller.of(text, func(text string) string { return closingIn(maxFuller, text, m.findingsOf) })
}

// readingOf is [readingOf], once for each call.
func (m *Memory) readingOf(c *abi.ToolCall) (r reading, ok bool) {
	if m == nil {
		return readingOf(c, m)
	}
	known := m.readings.of(calledAs{c.Name, c.Arguments}, func(calledAs) *reading {
		if r, ok := readingOf(c, m); ok {
			return &r
		}
		return nil
	})
	if known == nil {
		return reading{}, false
	}
	return *known, true
}

// does is what a call does.
func (m *Memory) does(c *abi.ToolCall) *action.Action {
	if m == nil {
		return action.Of(c)
	}
	return m.known.Of(c)
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

// remembered is what was read off something, mostly a text, by that.
type remembered[K comparable, T any] map[K]T

// of is what read makes of key.
func (r *remembered[K, T]) of(key K, read func(K) T) T {
	if v, ok := (*r)[key]; ok {
		return v
	}
	v := read(key)
	if *r == nil {
		*r = make(remembered[K, T])
	}
	(*r)[key] = v
	return v
}
