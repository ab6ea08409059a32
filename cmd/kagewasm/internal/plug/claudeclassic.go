package plug

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/tailscale/hujson"
)

// modsSince is the first version of Claude Code that loads mods by itself.
const modsSince = "2.1.287"

// claudeClassic is for versions without mods, which let nobody compact for them: hooks tell the model that summarizes
// what to keep, and hand the note to the conversation that begins behind the summary.
func claudeClassic(s Setup) Plan {
	settings := filepath.Join(claudeHome(s), "settings.json")
	hooks := []classicHook{{event: "PreCompact", command: s.hook()}, {event: "SessionStart", matcher: "compact",
		command: s.hook()}}
	return Plan{
		Edits: []Edit{{Path: settings,
			Put:  func(was []byte) ([]byte, error) { return putHooks(was, hooks) },
			Take: func(now, before []byte) ([]byte, error) { return takeHooks(now, before, hooks) }}},
		Next: "this version has no mods, so Claude Code goes on summarizing, and kagewasm adds its note: " + modsSince +
			" lets kagewasm compact",
	}
}

// classicHook is a hook of Claude Code's settings.
type classicHook struct{ event, matcher, command string }

// ourHook is in the command of each hook of ours.
const ourHook = " hook claude-code"

// hook is the command line of a hook, as a shell reads it.
func (s Setup) hook() string {
	line := Quoted(s.Kagewasm) + ourHook
	for _, flag := range append(list(s.Policy), s.State...) {
		line += " " + Quoted(flag)
	}
	return line
}

// Quoted is a word for a shell.
func Quoted(word string) string {
	if strings.ContainsAny(word, " \t\n'\"\\$`;&|<>()*?[]#~!{}") {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// hookTime is how long a hook may take, in seconds: Claude Code waits for it.
const hookTime = 30 * time.Second

// putHooks adds hooks to the settings. Nothing beside them changes, not even white space.
func putHooks(was []byte, hooks []classicHook) ([]byte, error) {
	if len(bytes.TrimSpace(was)) == 0 {
		was = []byte("{}\n")
	}
	doc, err := hujson.Parse(was)
	if err != nil {
		return nil, noJSON(err)
	}
	for _, h := range hooks {
		type command struct {
			Type    string `json:"type"`
			Command string `json:"command"`
			Timeout int    `json:"timeout"`
		}
		entry := struct {
			Matcher string    `json:"matcher,omitempty"`
			Hooks   []command `json:"hooks"`
		}{h.matcher, []command{{"command", h.command, int(hookTime.Seconds())}}}
		err = errors.Join(ensure(&doc, "/hooks", "{}"), ensure(&doc, "/hooks/"+h.event, "[]"),
			patch(&doc, "add", "/hooks/"+h.event+"/-", entry))
		if err != nil {
			return nil, err
		}
	}
	return doc.Pack(), nil
}

// takeHooks takes our hooks out, with what we made for them and holds nothing else.
func takeHooks(now, before []byte, hooks []classicHook) ([]byte, error) {
	doc, err := hujson.Parse(now)
	if err != nil {
		return nil, noJSON(err)
	}
	was, _ := hujson.Parse(before) // of no file nothing is the user's
	for _, h := range hooks {
		at := "/hooks/" + h.event
		found := doc.Find(at)
		if found == nil {
			continue
		}
		entries, ok := found.Value.(*hujson.Array)
		if !ok {
			continue
		}
		for i := len(entries.Elements) - 1; i >= 0; i-- {
			if bytes.Contains(entries.Elements[i].Pack(), []byte(ourHook)) {
				entries.Elements = append(entries.Elements[:i:i], entries.Elements[i+1:]...)
			}
		}
		if len(entries.Elements) == 0 && was.Find(at) == nil {
			if err := patch(&doc, "remove", at, nil); err != nil {
				return nil, err
			}
		}
	}
	err = withoutEmpty(&doc, &was, "/hooks")
	return doc.Pack(), err
}

// withoutEmpty takes objects out that hold nothing, and that were not there before.
func withoutEmpty(doc, before *hujson.Value, places ...string) error {
	for _, at := range places {
		if v := doc.Find(at); v != nil && before.Find(at) == nil {
			if o, ok := v.Value.(*hujson.Object); ok && len(o.Members) == 0 {
				if err := patch(doc, "remove", at, nil); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// ensure adds a value where there is none.
func ensure(doc *hujson.Value, at, value string) error {
	if doc.Find(at) != nil {
		return nil
	}
	return patch(doc, "add", at, json.RawMessage(value))
}

// patch carries out one operation of RFC 6902.
func patch(doc *hujson.Value, op, at string, value any) error {
	type operation struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value,omitempty"`
	}
	text, err := json.Marshal([]operation{{op, at, value}})
	if err != nil {
		return err
	}
	return doc.Patch(text)
}
