package proxy

import (
	"fmt"
	"strings"
)

// Header is the header of a response that says what was done to its request: a word, and
// what goes with it. "none" is a request as it came, "applied" one to which earlier
// compactions were applied, "compacted" one that was compacted now, "retried" one that was
// compacted as the provider refused it, "failed" one that was to be compacted and was
// passed on as it came.
const Header = "Kagewasm-Compaction"

// says is what the header says.
type says struct {
	what          string
	reason        string
	before, after int
	record        string
}

func (s says) String() string {
	var b strings.Builder
	b.WriteString(s.what)
	if s.reason != "" {
		fmt.Fprintf(&b, "; reason=%s", s.reason)
	}
	if s.before > 0 {
		fmt.Fprintf(&b, "; before=%d; after=%d", s.before, s.after)
	}
	if s.record != "" {
		fmt.Fprintf(&b, "; id=%q", s.record)
	}
	return b.String()
}
