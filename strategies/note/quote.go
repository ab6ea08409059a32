package note

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
)

// quote makes a summary that a model or a plugin wrote fit to stand above
// what the host keeps word for word: each line that a later compaction would
// take for one of the host's own is quoted, "> Required:", and a fence left
// open is closed. Nothing else changes and no word is lost, so nobody can make
// a person require something by writing it down in the form of a note.
// Quoting twice changes nothing more.
func quote(text string) string {
	var b strings.Builder
	fenced := false
	for line := range strings.Lines(text) {
		// The frame drops control characters, which must not lay a line bare.
		bare := abi.Defuse(line)
		if reserved(strings.TrimSpace(bare)) {
			b.WriteString(quoteMark)
		}
		if strings.HasPrefix(bare, fence) {
			fenced = !fenced
		}
		b.WriteString(line)
	}
	if fenced {
		b.WriteString("\n" + fence)
	}
	return b.String()
}

// reserved reports whether a line is read back as one of the host's own.
func reserved(line string) bool {
	return slices.Contains(heads, line) || strings.HasPrefix(line, intro) || names.Reserved(line)
}

// fence begins and ends a text that is no line of the note's.
const fence = "```"
