package plug

import (
	"bytes"
	"reflect"
	"strings"

	"github.com/BurntSushi/toml"
)

// codexPart is our part of Codex's settings, known by what it says: whoever writes them anew may drop the comments that
// end our lines.
type codexPart struct {
	chosen bool           // our provider is the one that holds
	table  map[string]any // our provider; nil for none
	hooks  []any          // the groups of hooks that have one of ours
}

// partOf finds our part in Codex's settings.
func (h *codexHook) partOf(file []byte) (p codexPart, err error) {
	var all map[string]any
	if err := parseTOML(file, &all); err != nil {
		return p, err
	}
	providers, _ := all["model_providers"].(map[string]any)
	table, named := providers["kagewasm"].(map[string]any)
	base, _ := table["base_url"].(string)
	if table["name"] == "OpenAI" && strings.HasPrefix(base, "http://") { // one that a person wrote says something else
		p.table = table
	}
	p.chosen = all["model_provider"] == "kagewasm" && (p.table != nil || !named)
	hooks, _ := all["hooks"].(map[string]any)
	groups, _ := hooks["SessionStart"].([]map[string]any)
	var read codexHooks
	if err := parseTOML(file, &read); err != nil || len(groups) != len(read.Hooks.SessionStart) {
		return p, err
	}
	for i, group := range read.Hooks.SessionStart {
		if _, ok := group.ours("codex", h.command); ok {
			p.hooks = append(p.hooks, groups[i])
		}
	}
	return p, nil
}

// isIn reports whether our part is in settings.
func (h *codexHook) isIn(now []byte) bool {
	p, err := h.partOf(now)
	if err != nil {
		return bytes.Contains(now, []byte("kagewasm"))
	}
	return p.chosen || p.table != nil || len(p.hooks) > 0
}

// same reports whether settings have our part as others do.
func (h *codexHook) same(now, will []byte) bool {
	is, err := h.partOf(now)
	want, werr := h.partOf(will)
	return err == nil && werr == nil && is.chosen == want.chosen && holds(is.table, want.table) &&
		reflect.DeepEqual(is.hooks, want.hooks)
}

// take takes our part out, gives back what it stands for, and a last line without an end.
func (h *codexHook) take(now, before []byte) ([]byte, error) {
	part, err := h.partOf(now)
	if err != nil {
		return nil, err
	}
	now = h.untrusted(now, before)
	head := keysOf(now)
	left := takeChoice(head, keysOf(before), part.chosen)
	for tables := tablesOf(now[len(head):]); len(tables) > 0; {
		n := h.groupOf(tables)
		text := bytes.Join(tables[:n], nil)
		path := headerOf(text)
		mine, _ := h.partOf(text)
		if path == "model_providers.kagewasm" && mine.table != nil || path == hooksPath && len(mine.hooks) > 0 {
			text = behind(text)
		}
		left, tables = append(left, text...), tables[n:]
	}
	_, err = h.partOf(left)
	return asBefore(left, before), err
}

// asBefore is what is left of a file of lines: no file where there was none, and no line end that we added to the last
// line.
func asBefore(left, before []byte) []byte {
	switch {
	case len(left) == 0:
		return before[:0] // nil for no file
	case bytes.Equal(left, append(bytes.Clone(before), '\n')), bytes.Equal(left, append(bytes.Clone(before), "\r\n"...)):
		return before
	}
	return left
}

// takeChoice takes the choice of our provider out of the keys of settings, and gives back the one before it: from the
// line that ours replaced, or from the settings as they were where that comment is gone. Where a person has chosen
// another one meanwhile that holds.
func takeChoice(head, before []byte, chosen bool) (left []byte) {
	restored := false
	for line := range bytes.Lines(head) {
		was, isReplaced := bytes.CutPrefix(line, []byte(replaced))
		m := otherProvider().FindSubmatch(line)
		switch {
		case isReplaced && chosen:
			left, restored = append(left, was...), true
		case isReplaced, chosen && m != nil && string(m[1]) == "kagewasm":
		default:
			left = append(left, line...)
		}
	}
	if !chosen || restored {
		return left
	}
	var choice []byte
	for line := range bytes.Lines(before) {
		if otherProvider().Match(line) {
			choice = append(choice, line...)
		}
	}
	return append(choice, left...)
}

const hooksPath = "hooks.SessionStart"

// groupOf is how many of the next tables belong together: a group of hooks has tables of its own.
func (h *codexHook) groupOf(tables [][]byte) int {
	n := 1
	if headerOf(tables[0]) == hooksPath {
		for n < len(tables) && strings.HasPrefix(headerOf(tables[n]), hooksPath+".") {
			n++
		}
	}
	return n
}

// headerOf is the name that the header of a table has, with dots; empty for none.
func headerOf(table []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(table), []byte("\n"))
	var names []string
	var at map[string]any
	if len(line) == 0 || line[0] != '[' || toml.Unmarshal(line, &at) != nil {
		return ""
	}
	for len(at) == 1 {
		var next any
		for name, value := range at {
			names, next = append(names, name), value
		}
		if list, ok := next.([]map[string]any); ok && len(list) == 1 {
			next = list[0]
		}
		at, _ = next.(map[string]any)
	}
	return strings.Join(names, ".")
}
