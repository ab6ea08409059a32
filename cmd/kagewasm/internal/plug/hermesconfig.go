package plug

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/internal/yamldoc"
)

// hermesContext is where hermes' configuration names its context engine.
type hermesContext struct {
	key, value *yamldoc.Value  // of "context"; nil for none
	engines    []yamldoc.Entry // "engine" in it, of which the last one holds
	entries    int             // how many keys it has
	block      bool            // they stand below it, one a line
}

// contextOf finds the engine in a configuration.
func contextOf(file []byte) (c hermesContext, err error) {
	docs, err := yamldoc.ParseAny(file)
	switch {
	case err != nil:
		return c, noYAML(err)
	case len(docs) > 1:
		return c, errors.New("it is more than one document")
	case len(docs) == 0 || docs[0] == nil:
		return c, nil
	case docs[0].Kind != yamldoc.Map:
		return c, errors.New("it holds no keys")
	}
	for _, e := range docs[0].Map {
		if e.Key.Text == "context" {
			c.key, c.value = e.Key, e.Value
		}
	}
	if c.key == nil || c.value.Kind != yamldoc.Map {
		return c, nil
	}
	lines := linesOf(file)
	if oddLineEnds(file) || c.value.Line > len(lines) {
		return c, errors.New("its lines end neither as on Unix nor as on Windows")
	}
	for _, e := range c.value.Map {
		if e.Key.Text == "engine" {
			c.engines = append(c.engines, e)
		}
	}
	c.entries = len(c.value.Map)
	at := c.value.Pos
	c.block = at.Line > c.key.Line && !strings.HasPrefix(strings.TrimSpace(lines[at.Line-1]), "{")
	return c, nil
}

// engine is the engine that hermes takes; empty where none is named.
func (c *hermesContext) engine() string {
	if len(c.engines) == 0 {
		return ""
	}
	return c.engines[len(c.engines)-1].Value.Text
}

// noYAML is the error of a file that is no YAML.
func noYAML(err error) error {
	at := ""
	if e, ok := errors.AsType[*yamldoc.Error](err); ok && e.Line > 0 {
		at = "line " + strconv.Itoa(e.Line) + ": "
	}
	return errors.New("it is no YAML: " + at + err.Error())
}

// linesOf are the lines of a file, each with its end.
func linesOf(file []byte) []string { return slices.Collect(strings.Lines(string(file))) }

// oddLineEnds reports whether a file has line ends that YAML counts, and that are none of [linesOf].
func oddLineEnds(file []byte) bool {
	return bytes.Contains(bytes.ReplaceAll(file, []byte("\r\n"), nil), []byte("\r")) ||
		bytes.ContainsAny(file, "\u0085\u2028\u2029")
}

// endOf is how the lines of a file end.
func endOf(file []byte) string {
	if bytes.Contains(file, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// putContext names kagewasm as the engine, on a line of its own.
func putContext(was []byte) ([]byte, error) {
	c, err := contextOf(was)
	if err != nil {
		return nil, err
	}
	lines, end, indent := linesOf(was), endOf(was), "  "
	if n := len(lines); n > 0 && !strings.HasSuffix(lines[n-1], "\n") {
		lines[n-1] += end
	}
	switch {
	case c.key == nil:
		lines = append(lines, "context:"+ours+end)
	case c.block:
		indent = lines[c.value.Line-1][:c.value.Column-1]
	case !c.value.Missing:
		return nil, errors.New(`"context" stands on one line, or holds no keys: write its keys below it, one a line, and ` +
			`install again`)
	}
	for _, e := range c.engines {
		lines[e.Key.Line-1] = replaced + lines[e.Key.Line-1]
	}
	at := len(lines)
	if c.key != nil {
		at = c.key.Line
	}
	is := []byte(strings.Join(slices.Insert(lines, at, indent+"engine: kagewasm"+ours+end), ""))
	if now, err := contextOf(is); err != nil || now.engine() != "kagewasm" {
		return nil, errors.New(`hermes would not find our line: leave out "..." at the end, and write context.engine on one ` +
			`line`)
	}
	return is, nil
}

// hasContext reports whether a configuration names kagewasm as the engine.
func hasContext(now []byte) bool {
	c, err := contextOf(now)
	if err != nil {
		return bytes.Contains(now, []byte("kagewasm"))
	}
	return c.engine() == "kagewasm"
}

// takeContext takes our engine out, and gives back the one before it: from the line that ours replaced, or the file
// as it was where whoever wrote it anew has dropped that comment. Where a person has chosen another one that holds.
func takeContext(now, before []byte) ([]byte, error) {
	c, err := contextOf(now)
	if err != nil {
		return nil, err
	}
	was, _ := contextOf(before) // of no file nothing is the user's
	chosen, mine, indent := c.engine() == "kagewasm" && c.block, make(map[int]bool), ""
	for _, e := range c.engines {
		if chosen && e.Value.Text == "kagewasm" {
			mine[e.Key.Line] = true
			indent = strings.Repeat(" ", e.Key.Column-1)
		}
	}
	var left []string
	at, restored := 0, false
	for i, line := range linesOf(now) {
		text, isReplaced := strings.CutPrefix(line, replaced)
		switch {
		case isReplaced && chosen:
			left, restored = append(left, text), true
		case isReplaced:
		case mine[i+1]:
			at = len(left)
		case c.key != nil && c.key.Line == i+1 && strings.HasSuffix(strings.TrimSpace(line), ours):
			key := strings.TrimSuffix(strings.TrimRight(line, "\r\n"), ours)
			left = append(left, strings.TrimRight(key, " ")+endOf(now))
		default:
			left = append(left, line)
		}
	}
	if chosen && !restored && was.block {
		for _, e := range was.engines {
			engine := strings.TrimSpace(linesOf(before)[e.Key.Line-1])
			left, restored = slices.Insert(left, at, indent+engine+endOf(now)), true
		}
	}
	if chosen && !restored && was.key == nil && c.entries == len(mine) {
		left = slices.Delete(left, c.key.Line-1, c.key.Line)
	}
	return asBefore([]byte(strings.Join(left, "")), before), nil
}
