package note

import (
	"slices"

	"github.com/kagewasm/kagewasm/internal/excerpt"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
)

// What tests look at by name.
var (
	Binds        = binds
	Handoff      = handoff
	Continuation = continuation
	Quote        = quote
	Parse        = parse
	Shorter      = (*usage)(nil).shorter
	Closing      = closing
	LastWords    = lastWordsOf
	InShort      = inShort
	SmallTalk    = smallTalk
	Greets       = greets
)

// Lines and marks of notes and outlines.
const (
	None        = none
	Intro       = intro
	LeftOut     = excerpt.LeftOut
	FoldedMark  = foldedMark
	FoldedAlone = foldedAlone
	AgainMark   = againMark
	HeadState   = headState
	HeadBefore  = headBefore
	HeadLast    = headLast
	HeadThread  = headThread
	AboutThread = aboutThread
	HeadRules   = headRules
	HeadTodos   = headTodos
	HeadLoaded  = headLoaded
	HeadEarlier = headEarlier
)

// What tests ask of lists of phrases.
var (
	NewVocabulary = newVocabulary
	WordLists     = wordLists
)

// Says is [vocabulary.says].
func (v *vocabulary) Says(text string) bool { return v.says(text) }

// Failures are all failures that were read.
func (n *Note) Failures() []names.Failure { return n.names.Failures() }

// Asked are the words with which a text asks something.
func Asked(text string) string {
	said, _ := asked(text)
	return said
}

// Render writes the note.
func (n *Note) Render(o Options) string {
	text, _ := n.Write(o)
	return text
}

// WithRefusal are the closing words of an agent with what it refuses in them.
func WithRefusal(text string) string { return new(Memory).withRefusal(closing(text), text) }

// Sentences are the sentences of a line.
func Sentences(line string) []string { return slices.Collect(sentences(line)) }
