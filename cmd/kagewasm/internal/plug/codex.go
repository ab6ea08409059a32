package plug

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/BurntSushi/toml"

	"github.com/kagewasm/kagewasm/internal/lazy"
)

// CodexAddress is where Codex finds the proxy by default: a port of its own, as it stands in the user's settings.
const CodexAddress = "127.0.0.1:4182"

// codex has no place for a compactor but its provider, so the proxy is that. A provider of exactly the name OpenAI is
// asked for compactions. A hook is there for those that another provider makes, or the proxy passes on.
var codex = Agent{
	Name: "codex", Title: "Codex", Program: "codex", Get: "npm install -g @openai/codex", Try: tryCodex,
	Hook: tryCodexHook,
	Plan: func(s Setup) (Plan, error) {
		config := filepath.Join(codexHome(s), "config.toml")
		was, err := read(config)
		if err != nil {
			return Plan{}, err
		}
		h, err := findCodexHook(s, config, was)
		if err != nil {
			return Plan{}, err
		}
		head := keysOf(was)
		upstream := "codex"
		if m := ownBase().FindSubmatch(head); m != nil {
			upstream = string(m[1])
		}
		at := cmp.Or(s.Listen, CodexAddress)
		put := func(was []byte) ([]byte, error) {
			if err := parseTOML(was, &map[string]any{}); err != nil {
				return nil, err
			}
			is := putProvider(was, at, h.lines())
			return h.trusted(is), provides(is, at)
		}
		p := Plan{Edits: []Edit{{Path: config, Put: put, Take: h.take, Has: h.isIn, Same: h.same}}, Keeps: at,
			Trust: h.asks()}
		if h.json != "" {
			p.Edits = append(p.Edits, editHooks(h.json, "codex", h.hook))
		}
		if m := otherProvider().FindSubmatch(head); m != nil && string(m[1]) != "kagewasm" {
			p.Rivals = []string{"the provider " + string(m[1]) + ", whose requests go to " + upstream + " then"}
		}
		command := []string{s.Kagewasm, "proxy", "--upstream", upstream, "--listen", at, "--keep-answering"}
		command = append(command, s.State...)
		p.serve("kagewasm-codex", "Compaction for Codex by kagewasm", at, append(command, s.Policy...), s)
		return p, nil
	},
}

func codexHome(s Setup) string {
	return cmp.Or(s.Getenv("CODEX_HOME"), filepath.Join(s.Home, ".codex"))
}

var (
	otherProvider = lazy.Regexp(`(?m)^[ \t]*model_provider[ \t]*=[ \t]*["']([^"'\n]*)["']`)
	ownBase       = lazy.Regexp(`(?m)^[ \t]*openai_base_url[ \t]*=[ \t]*["']([^"'\n]*)["']`)
	// inlineProviders are all providers in one value.
	inlineProviders = lazy.Regexp(`(?m)^[ \t]*["']?model_providers["']?[ \t]*=[ \t]*\{`)
	// inlineHooks are all hooks in one value, or those of an event.
	inlineHooks = lazy.Regexp(`(?m)^[ \t]*["']?hooks["']?[ \t]*(?:\.[^=\n]*)?=`)
	firstTable  = lazy.Regexp(`(?m)^[ \t]*\[`)
)

// keysOf is the part of a file before its first table.
func keysOf(file []byte) []byte {
	if at := firstTable().FindIndex(file); at != nil {
		return file[:at[0]]
	}
	return file
}

const (
	ours     = " # kagewasm"           // ends each line of ours
	replaced = "# kagewasm replaced: " // begins a line of the user's that ours stands for
)

// putProvider makes the proxy the provider, and adds more lines of ours. Keys of no table have to stand before the
// first one.
func putProvider(was []byte, address string, more []string) []byte {
	head := keysOf(was)
	tail := was[len(head):]
	var b bytes.Buffer
	b.WriteString(`model_provider = "kagewasm"` + ours + "\n")
	for line := range bytes.Lines(head) {
		if otherProvider().Match(line) {
			b.WriteString(replaced)
		}
		b.Write(line)
	}
	b.Write(tail)
	if n := b.Len(); b.Bytes()[n-1] != '\n' {
		b.WriteByte('\n')
	}
	for _, line := range append([]string{
		`[model_providers.kagewasm]`,
		`name = "OpenAI"`,
		`base_url = "http://` + address + `"`,
		`wire_api = "responses"`,
		`requires_openai_auth = true`,
		`supports_websockets = false`,
	}, more...) {
		b.WriteString(line + ours + "\n")
	}
	return b.Bytes()
}

// parseTOML reads a file that Codex reads.
func parseTOML(file []byte, into any) error {
	err := toml.Unmarshal(file, into)
	if e, ok := errors.AsType[toml.ParseError](err); ok {
		return fmt.Errorf("it is no TOML: line %d: %s", e.Position.Line, e.Message)
	}
	return err
}

// provides is the error where Codex would not find the proxy in its settings.
func provides(file []byte, address string) error {
	var read struct {
		Provider  string `toml:"model_provider"`
		Providers map[string]struct {
			Base string `toml:"base_url"`
		} `toml:"model_providers"`
	}
	err := parseTOML(file, &read)
	if inlineProviders().Match(file) { // which cannot be added to
		err = errors.New("there would be two of them")
	}
	if err == nil && (read.Provider != "kagewasm" || read.Providers["kagewasm"].Base != "http://"+address) {
		err = errors.New("another provider holds")
	}
	if err != nil {
		return fmt.Errorf("model_provider and [model_providers.NAME] have to stand on lines of their own there, none of "+
			"the name kagewasm: with ours %w", err)
	}
	return nil
}
