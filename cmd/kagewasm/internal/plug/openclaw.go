package plug

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"strconv"

	"github.com/tailscale/hujson"

	"github.com/kagewasm/kagewasm/integrations"
)

// openClaw has one slot for what makes its context, and its configuration says what is in it.
var openClaw = Agent{
	Name: "openclaw", Title: "OpenClaw", Program: "openclaw", Get: "npm install -g openclaw", Served: true,
	Plan: func(s Setup) (Plan, error) {
		home := cmp.Or(s.Getenv("OPENCLAW_STATE_DIR"), filepath.Join(s.Home, ".openclaw"))
		config := cmp.Or(s.Getenv("OPENCLAW_CONFIG_PATH"), filepath.Join(home, "openclaw.json"))
		folder := filepath.Join(home, "extensions", "kagewasm")
		files := integrations.Files("openclaw")
		files["command.js"] = append(s.script("How this plugin calls kagewasm: kagewasm install wrote it."),
			constant("folder", filepath.Join(s.Folder, "openclaw"))...)
		p := Plan{Files: below(folder, files), Edits: []Edit{{Path: config, Put: putEngine, Take: takeEngine, Has: hasEngine,
			Same: sameEngine}},
			Next: "its gateway takes it with: openclaw gateway restart"}
		was, err := read(config)
		if err != nil {
			return p, err
		}
		if doc, err := parse5(was); err == nil {
			if engine := textAt(&doc, engineSlot); engine != "" && engine != "legacy" && engine != "kagewasm" {
				p.Rivals = []string{"the context engine " + engine}
			}
		}
		return p, nil
	},
}

const (
	engineSlot  = "/plugins/slots/contextEngine"
	engineEntry = "/plugins/entries/kagewasm"
	engineWas   = engineEntry + "/config/replaces"
	engineRaw   = engineEntry + "/config/written" // as it stood there, where that was not in double quotes
)

// textAt is a text in a document, empty where there is none.
func textAt(doc *hujson.Value, at string) string {
	if v := doc.Find(at); v != nil {
		if text, ok := v.Value.(hujson.Literal); ok && text.Kind() == '"' {
			return text.String()
		}
	}
	return ""
}

// isFalse reports whether false stands in a document.
func isFalse(doc *hujson.Value, at string) bool {
	v := doc.Find(at)
	if v == nil {
		return false
	}
	value, ok := v.Value.(hujson.Literal)
	return ok && value.Kind() == 'f'
}

// putEngine puts kagewasm into the slot. The entry of the plugin remembers what was there.
func putEngine(was []byte) ([]byte, error) {
	if len(bytes.TrimSpace(was)) == 0 {
		was = []byte("{}\n")
	}
	doc, err := parse5(was)
	if err != nil {
		return nil, err
	}
	entry := map[string]any{"enabled": true}
	if engine := textAt(&doc, engineSlot); engine != "" {
		config := map[string]any{"replaces": engine}
		if raw := rawAt(&doc, engineSlot); raw != "" {
			config["written"] = raw
		}
		entry["config"] = config
	}
	err = errors.Join(ensure(&doc, "/plugins", "{}"), ensure(&doc, "/plugins/slots", "{}"), ensure(&doc,
		"/plugins/entries", "{}"),
		patch(&doc, "add", engineSlot, "kagewasm"), patch(&doc, "add", engineEntry, entry))
	return pack5(&doc), err
}

// takeEngine empties the slot where kagewasm is in it, or gives it back.
func takeEngine(now, before []byte) ([]byte, error) {
	doc, err := parse5(now)
	if err != nil {
		return nil, err
	}
	was, _ := parse5(before) // of no file nothing is the user's
	replaced := textAt(&doc, engineWas)
	switch {
	case textAt(&doc, engineSlot) != "kagewasm": // the user has chosen another
	case replaced != "":
		if err = patch(&doc, "replace", engineSlot, replaced); err == nil {
			markRaw(&doc, engineSlot, textAt(&doc, engineRaw))
		}
	default:
		err = patch(&doc, "remove", engineSlot, nil)
	}
	if entry := doc.Find(engineEntry); err == nil && entry != nil {
		if own := was.Find(engineEntry); own != nil {
			entry.Value = own.Value // the user's, who had it switched off perhaps
		} else {
			err = patch(&doc, "remove", engineEntry, nil)
		}
	}
	if err == nil {
		err = withoutEmpty(&doc, &was, "/plugins/slots", "/plugins/entries", "/plugins")
	}
	return orNoFile(pack5(&doc), before), err
}

// hasEngine reports whether our part is in OpenClaw's settings. An entry that is switched off is none.
func hasEngine(now []byte) bool {
	doc, err := parse5(now)
	if err != nil {
		return bytes.Contains(now, []byte("kagewasm"))
	}
	return textAt(&doc, engineSlot) == "kagewasm" || doc.Find(engineEntry) != nil && !isFalse(&doc, engineEntry+"/enabled")
}

// sameEngine reports whether settings have our part as others do: OpenClaw writes them anew, in an order of its own.
func sameEngine(now, will []byte) bool {
	var parts [2]map[string]any
	for i, file := range [][]byte{now, will} {
		doc, err := parse5(file)
		if err != nil {
			return false
		}
		entry := doc.Find(engineEntry)
		if entry == nil || textAt(&doc, engineSlot) != "kagewasm" {
			return false
		}
		text, err := hujson.Standardize(entry.Pack())
		if err != nil || json.Unmarshal(text, &parts[i]) != nil {
			return false
		}
	}
	return holds(parts[0], parts[1])
}

// holds reports whether a value is another one, or has all that it has.
func holds(is, want any) bool {
	a, ok := is.(map[string]any)
	b, wants := want.(map[string]any)
	if !ok || !wants {
		return reflect.DeepEqual(is, want)
	}
	for key, value := range b {
		if !holds(a[key], value) {
			return false
		}
	}
	return true
}

// python tells a plug in Python how kagewasm is called.
func (s Setup) python(comment string) []byte {
	var b bytes.Buffer
	b.WriteString("# " + comment + "\nprogram = " + strconv.Quote(s.Kagewasm) + "\n")
	b.WriteString("socket = " + strconv.Quote(s.Socket) + "\nversion = " + strconv.Quote(s.Calls.Version) + "\n")
	for _, v := range []struct {
		name  string
		flags []string
	}{{"state", s.State}, {"policy", s.Policy}} {
		b.WriteString(v.name + " = [")
		for i, flag := range v.flags {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(strconv.Quote(flag))
		}
		b.WriteString("]\n")
	}
	return b.Bytes()
}
