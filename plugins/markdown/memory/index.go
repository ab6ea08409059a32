package memory

import (
	"cmp"
	"slices"
	"strings"
)

const (
	indexKey     = "MEMORY.md"
	indexHeading = "## Noted"
	indexTitle   = "# Memory"
	indexText    = "Notes that were taken while sessions were compacted, the newest first; the files are in memory/. " +
		"Edit, move or delete what you like: nothing that you wrote is written over, and a note that you delete stays away."
	// oldIndexText is how that of version 0.1.0 begins.
	oldIndexText = "One line a note; the notes are in facts/."
	// maxIndex keeps the index below what one value may hold, in bytes.
	maxIndex = 900_000
)

// withLines adds a line for each note, below the plugin's heading: tools read
// the beginning of an index and cut off the rest. Whatever else stands there
// stays as it is.
func withLines(index string, written []fact) string {
	if len(index) > maxIndex {
		return index
	}
	newline := "\n"
	if strings.Contains(index, "\r\n") {
		newline = "\r\n"
	}
	var lines strings.Builder
	for _, f := range slices.Backward(written) {
		about := string(f.kind) + ", " + day(f.created)
		lines.WriteString("- [" + linkText(f.title) + "](" + f.key + ") — " + about + newline)
	}
	index = cmp.Or(index, indexTitle+"\n\n"+indexText+"\n")
	at := 0
	for line := range strings.Lines(index) {
		if at += len(line); strings.TrimRight(line, "\r\n ") == indexHeading {
			return withNewline(index[:at]) + newline + lines.String() + strings.TrimPrefix(index[at:], newline)
		}
	}
	if !strings.HasSuffix(index, "\n") {
		index += newline
	}
	return index + newline + indexHeading + newline + newline + lines.String()
}

func linkText(s string) string {
	return strings.NewReplacer("[", "(", "]", ")").Replace(s)
}
