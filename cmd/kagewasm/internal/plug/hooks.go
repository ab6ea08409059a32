package plug

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/tailscale/hujson"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
)

// hook is a command of ours that an agent runs where something happens in it.
type hook struct{ event, matcher, command string }

// hook is the command line of a hook of an agent, as a shell reads it. It never fails, whatever becomes of the program:
// an agent may take a failure for an order not to compact.
func (s Setup) hook(agent string) string {
	line := ui.Quoted(s.Kagewasm) + asked(agent)
	for _, flag := range append(list(s.Policy), s.State...) {
		line += " " + ui.Quoted(flag)
	}
	return line + " || exit 0"
}

// asked is in the command of each hook of ours.
func asked(agent string) string { return " hook " + agent }

// isOurs reports whether a command is a hook of ours, the one that we would write now or another: programs of other
// people are asked in such words too.
func isOurs(command, agent, now string) bool {
	return command == now || strings.Contains(command, asked(agent)) && strings.Contains(command, "kagewasm")
}

// hookGroup is what an agent runs where something happens.
type hookGroup struct {
	Hooks []struct {
		Command string `json:"command" toml:"command"`
	} `json:"hooks" toml:"hooks"`
}

// ours reports whether a hook of the group is ours, and returns its command.
func (g *hookGroup) ours(agent, now string) (command string, ok bool) {
	for _, h := range g.Hooks {
		if isOurs(h.Command, agent, now) {
			return h.Command, true
		}
	}
	return "", false
}

// isOurEntry reports whether an entry of settings in JSON is ours.
func isOurEntry(v *hujson.Value, agent string, hooks []hook) bool {
	text, err := hujson.Standardize(v.Pack())
	var g hookGroup
	if err != nil || json.Unmarshal(text, &g) != nil {
		return false
	}
	return slices.ContainsFunc(hooks, func(h hook) bool {
		_, ok := g.ours(agent, h.command)
		return ok
	})
}

// editHooks is our part of settings in JSON that agents read hooks from.
func editHooks(path, agent string, hooks ...hook) Edit {
	return Edit{
		Path: path,
		Put:  func(was []byte) ([]byte, error) { return putHooks(was, hooks) },
		Take: func(now, before []byte) ([]byte, error) { return takeHooks(now, before, agent, hooks) },
		Has:  func(now []byte) bool { return hasHooks(now, agent, hooks) },
		Same: func(now, will []byte) bool { return sameHooks(now, will, agent, hooks) },
	}
}

// hookTime is how long a hook may take: the agent waits for it.
const hookTime = 30 * time.Second

// putHooks adds hooks to the settings. Nothing beside them changes, not even white space.
func putHooks(was []byte, hooks []hook) ([]byte, error) {
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

// takeHooks takes our hooks out, whatever they are for, with what we made for them and holds nothing else.
func takeHooks(now, before []byte, agent string, hooks []hook) ([]byte, error) {
	doc, err := hujson.Parse(now)
	if err != nil {
		return nil, noJSON(err)
	}
	was, _ := hujson.Parse(before) // of no file nothing is the user's
	for _, event := range eventsOf(&doc) {
		at := "/hooks/" + event
		entries := entriesAt(&doc, at)
		if entries == nil {
			continue
		}
		stay := slices.DeleteFunc(slices.Clone(entries.Elements), func(v hujson.Value) bool {
			return isOurEntry(&v, agent, hooks)
		})
		if len(stay) == len(entries.Elements) {
			continue
		}
		if entries.Elements = stay; len(stay) == 0 && was.Find(at) == nil {
			if err := patch(&doc, "remove", at, nil); err != nil {
				return nil, err
			}
		}
	}
	err = withoutEmpty(&doc, &was, "/hooks")
	return orNoFile(doc.Pack(), before), err
}

// orNoFile is what is left of settings in JSON: no file where there was none, and nothing is left.
func orNoFile(left, before []byte) []byte {
	if before == nil && string(bytes.TrimSpace(left)) == "{}" {
		return nil
	}
	return left
}

// hasHooks reports whether a hook of ours is in settings in JSON.
func hasHooks(now []byte, agent string, hooks []hook) bool {
	doc, err := hujson.Parse(now)
	if err != nil {
		return bytes.Contains(now, []byte("kagewasm"))
	}
	return len(ourEntries(&doc, agent, hooks)) > 0
}

// ourEntries are our hooks in settings in JSON, each with its event, written in one way.
func ourEntries(doc *hujson.Value, agent string, hooks []hook) (ours []string) {
	for _, event := range eventsOf(doc) {
		entries := entriesAt(doc, "/hooks/"+event)
		for k := 0; entries != nil && k < len(entries.Elements); k++ {
			v := &entries.Elements[k]
			if !isOurEntry(v, agent, hooks) {
				continue
			}
			var entry any
			text, err := hujson.Standardize(v.Pack())
			if err == nil && json.Unmarshal(text, &entry) == nil {
				text, _ = json.Marshal(entry) // keys in order
			}
			ours = append(ours, event+" "+string(text))
		}
	}
	slices.Sort(ours)
	return ours
}

// eventsOf are the names of the events that settings have hooks for.
func eventsOf(doc *hujson.Value) (names []string) {
	found := doc.Find("/hooks")
	if found == nil {
		return nil
	}
	events, _ := found.Value.(*hujson.Object)
	for k := 0; events != nil && k < len(events.Members); k++ {
		if name, ok := events.Members[k].Name.Value.(hujson.Literal); ok && !strings.ContainsAny(name.String(), "/~") {
			names = append(names, name.String())
		}
	}
	return names
}

// entriesAt is the list at a place of settings; nil where there is none.
func entriesAt(doc *hujson.Value, at string) *hujson.Array {
	found := doc.Find(at)
	if found == nil {
		return nil
	}
	entries, _ := found.Value.(*hujson.Array)
	return entries
}

// sameHooks reports whether settings hold our hooks as others do, wherever they stand between those of the user.
func sameHooks(now, will []byte, agent string, hooks []hook) bool {
	a, aerr := hujson.Parse(now)
	b, berr := hujson.Parse(will)
	return aerr == nil && berr == nil && slices.Equal(ourEntries(&a, agent, hooks), ourEntries(&b, agent, hooks))
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
