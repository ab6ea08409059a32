package digest

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies/ledger"
)

// Reserve makes a summary that a model or a plugin wrote fit to stand above
// what the host keeps word for word: each line that a later compaction would
// take for one of the host's own is quoted, "> Required:", and a fence left
// open is closed. Nothing else changes and no word is lost, so nobody can make
// a person require something by writing it down in the form of a note
// (complaint 15). Reserving twice changes nothing more.
//
// [Digest.Render] does it to every summary that is given to it.
func Reserve(text string) string {
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
	return slices.Contains(heads, line) || strings.HasPrefix(line, intro) || ledger.Reserved(line)
}

// heads are the lines that [parser] and [cutAt] go by.
var heads = []string{headKept, headRequests, headMusts, headTodos, headDecisions, headNext, headEarlier}

// fence begins and ends a text that is no line of the note's.
const fence = "```"
