package abi

import (
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/internal/sum"
)

// Keepers are the plugins that pinned a message, by its id. A pin of a plugin lasts until it is taken back. The message
// stays byte for byte what it was, so the pin cannot stand in it: it stands in the note of the compaction, in the first
// line of its frame (see [Fence]), which every format of sessions carries. Plugins whose name is none (see [ValidName])
// have no pins that last.
type Keepers map[string][]string

// keepsMark begins the part of a frame's first line that names the pinned messages.
const keepsMark = `" keeps="`

// frameHead ends the first line of a frame.
const frameHead = "\">\n"

// KeepersOf reads the pins that plugins left in a session. The first note that names any is the newest one: it is
// inserted before those that stay, see [Keepers.Place].
func KeepersOf(msgs []Message) Keepers {
	pins, found := "", false
	for i := 0; i < len(msgs) && !found; i++ {
		if msgs[i].Kind == KindSummary {
			pins, found = pinsIn(msgs[i].Text())
		}
	}
	plugins, lengths := make(map[string][]string), make(map[int]bool)
	for _, part := range strings.Fields(pins) {
		plugin, prints, _ := strings.Cut(part, ":")
		for _, print := range strings.Split(prints, ",") {
			length, _, _ := strings.Cut(print, ".")
			if n, err := strconv.Atoi(length); err == nil {
				plugins[print], lengths[n] = append(plugins[print], plugin), true
			}
		}
	}
	keepers := make(Keepers)
	if len(lengths) == 0 {
		return keepers // nobody pinned anything, which is the rule
	}
	for i, print := range fingerprints(msgs, lengths) {
		if by := plugins[print]; by != nil {
			keepers[msgs[i].ID] = by
		}
	}
	return keepers
}

// pinsIn is what the frame of a note says of pinned messages, and whether it says anything.
func pinsIn(text string) (pins string, ok bool) {
	if !strings.HasPrefix(text, "<"+string(KindSummary)+"-") {
		return "", false
	}
	head, _, _ := strings.Cut(text, frameHead)
	_, pins, ok = strings.Cut(head, keepsMark)
	return pins, ok && !strings.Contains(pins, "\n")
}

// Keeps reports whether a plugin pinned m.
func (k Keepers) Keeps(m *Message) bool { return len(k[m.ID]) > 0 }

// Note returns the frame of a note with the pins in its first line. msgs is the list that the note is
// to stand in: messages are identified by a fingerprint of their text, as many formats have no ids. A
// list whose older notes name pins gets a frame that says there are none any more.
func (k Keepers) Note(frame string, msgs []Message) string {
	head, body, ok := strings.Cut(frame, frameHead)
	if !ok || len(k) == 0 && !slices.ContainsFunc(msgs, namesPins) {
		return frame
	}
	lengths := make(map[int]bool)
	for i := range msgs {
		if k.Keeps(&msgs[i]) {
			lengths[len(msgs[i].Text())] = true
		}
	}
	pins := make(map[string][]string)
	for i, print := range fingerprints(msgs, lengths) {
		for _, plugin := range k[msgs[i].ID] {
			if ValidName(plugin) { // and so fits the line
				pins[plugin] = append(pins[plugin], print)
			}
		}
	}
	var parts []string
	for _, plugin := range slices.Sorted(maps.Keys(pins)) {
		parts = append(parts, plugin+":"+strings.Join(pins[plugin], ","))
	}
	return head + keepsMark + strings.Join(parts, " ") + frameHead + body
}

// Place returns the index for a new note that was to stand at index at: it moves in front of older notes that name
// pins.
func (k Keepers) Place(msgs []Message, at int) int {
	if i := slices.IndexFunc(msgs[:at], namesPins); i >= 0 {
		return i
	}
	return at
}

// namesPins reports whether m is a note that says which messages are pinned, or that none is.
func namesPins(m Message) bool {
	_, ok := pinsIn(m.Text())
	return ok && m.Kind == KindSummary
}

// fingerprints tell the messages whose texts have one of the lengths, "" stands for all others. Messages that say the
// same are counted.
func fingerprints(msgs []Message, lengths map[int]bool) []string {
	prints, met := make([]string, len(msgs)), make(map[string]int)
	for i := range msgs {
		text := msgs[i].Text()
		if !lengths[len(text)] {
			continue
		}
		parts := []string{text}
		for _, c := range msgs[i].ToolCalls {
			parts = append(parts, "\x00", c.Name, "\x00", c.Arguments)
		}
		whole := sum.Of(parts...)
		print := strconv.Itoa(len(text)) + "." + hex.EncodeToString(whole[:5])
		met[print]++
		if n := met[print]; n > 1 {
			print += "." + strconv.Itoa(n)
		}
		prints[i] = print
	}
	return prints
}
