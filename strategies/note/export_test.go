package note

import "github.com/kagewasm/kagewasm/strategies/note/internal/names"

// What tests look at by name.
var (
	Handoff      = handoff
	Continuation = continuation
	Quote        = quote
	Parse        = parse
)

// None marks an empty section.
const None = none

// Failures are all failures that were read.
func (n *Note) Failures() []names.Failure { return n.names.Failures() }

// Render writes the note.
func (n *Note) Render(o Options) string {
	text, _ := n.Write(o)
	return text
}
