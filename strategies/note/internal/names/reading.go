package names

import (
	"strings"

	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// reading is what a text is read as. Some names, lease.Store or 1,250, are told from the rest of a text only where
// people write: code is full of members that name nothing beyond it, and what tools put out of columns.
type reading uint8

const (
	words  reading = iota // of people and agents, and commands of one line
	code                  // what calls are given, and what stands between fences
	output                // of tools
)

// readingOf is what an argument of a call is read as.
func readingOf(key, value string) reading {
	if toolcall.IsCommandKey(key) && strings.IndexByte(value, '\n') < 0 {
		return words
	}
	return code
}

// behindFence is what is read behind the beginning of a line, where whole is what all of the text is.
func (as reading) behindFence(line string, whole reading) reading {
	switch {
	case !strings.HasPrefix(line, "```"):
		return as
	case as == words:
		return code
	}
	return whole
}
