package plug

import (
	"bytes"
	"cmp"
	"errors"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/integrations"
	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/internal/yamldoc"
)

// hermes takes the context engine that its configuration names, and loads none by itself.
var hermes = Agent{
	Name: "hermes", Title: "hermes", Program: "hermes", Get: "see https://hermes-agent.nousresearch.com", Served: true,
	Plan: func(s Setup) (Plan, error) {
		home := cmp.Or(s.Getenv("HERMES_HOME"), filepath.Join(s.Home, ".hermes"))
		config := filepath.Join(home, "config.yaml")
		files := integrations.Files("hermes")
		files["command.py"] = s.python("How this plugin calls kagewasm: kagewasm install wrote it.")
		p := Plan{Files: below(filepath.Join(home, "plugins", "kagewasm"), files),
			Edits: []Edit{{Path: config, Put: putContext, Take: takeProvider}},
			Next:  "it takes effect after: hermes plugins enable kagewasm"}
		was, err := read(config)
		if m := engineLine().FindSubmatch(blockOf(was)); err == nil && m != nil {
			if engine := strings.Trim(string(m[2]), `"'`); engine != "compressor" && engine != "kagewasm" {
				p.Rivals = []string{"the context engine " + engine}
			}
		}
		return p, err
	},
}

var (
	contextKey  = lazy.Regexp(`(?m)^context:[ \t]*(#.*)?\n`)
	contextFlow = lazy.Regexp(`(?m)^context:[ \t]*[^ \t\n#]`)
	engineLine  = lazy.Regexp(`(?m)^([ \t]+)engine:[ \t]*([^ \t\n#]+)`)
	nextKey     = lazy.Regexp(`(?m)^[^ \t\n#]`)
)

// blockOf is what stands below the key context.
func blockOf(file []byte) []byte {
	at := contextKey().FindIndex(file)
	if at == nil {
		return nil
	}
	block := file[at[1]:]
	if end := nextKey().FindIndex(block); end != nil {
		return block[:end[0]]
	}
	return block
}

// noYAML is the error of a file that is no YAML.
func noYAML(err error) error {
	at := ""
	if e, ok := errors.AsType[*yamldoc.Error](err); ok && e.Line > 0 {
		at = "line " + strconv.Itoa(e.Line) + ": "
	}
	return errors.New("it is no YAML: " + at + err.Error())
}

// putContext names kagewasm as the engine, on a line of its own.
func putContext(was []byte) ([]byte, error) {
	if err := yamldoc.Check(was); err != nil {
		return nil, noYAML(err)
	}
	if contextFlow().Match(was) {
		return nil, errors.New(`"context" stands on one line: write its keys below it, one a line, and install again`)
	}
	if !contextKey().Match(was) {
		var b bytes.Buffer
		if b.Write(was); len(was) > 0 && was[len(was)-1] != '\n' {
			b.WriteByte('\n')
		}
		b.WriteString("context:" + ours + "\n  engine: kagewasm" + ours + "\n")
		return b.Bytes(), nil
	}
	block := blockOf(was)
	indent := "  "
	if m := regexp.MustCompile(`(?m)^([ \t]+)[^ \t\n#]`).FindSubmatch(block); m != nil {
		indent = string(m[1])
	}
	at := contextKey().FindIndex(was)[1]
	var b bytes.Buffer
	b.Write(was[:at])
	b.WriteString(indent + "engine: kagewasm" + ours + "\n")
	for line := range bytes.Lines(block) {
		if engineLine().Match(line) {
			b.WriteString(replaced)
		}
		b.Write(line)
	}
	b.Write(was[at+len(block):])
	return b.Bytes(), nil
}
