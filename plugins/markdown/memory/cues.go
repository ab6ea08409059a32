package memory

import (
	_ "embed"
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/wordlist"
)

//go:embed cues.txt
var cueFile string

var cueLists = wordlist.Read(cueFile)

// The cues by which a sentence is noted.
var (
	preferenceCues = newCues("preference")
	decisionCues   = newCues("decision")
	// insteadCues settle something where a person says them; an assistant
	// compares all day long.
	insteadCues = newCues("instead")
	findingCues = newCues("finding")
	// negations make a sentence say the opposite.
	negations = newCues("negation")
)

// What keeps a sentence from being noted.
var (
	// familiar are small words of the languages of the lists. Where there are
	// none, and the script is not one of theirs, a missing cue says nothing.
	familiar = newCues("familiar")
	// hedged is what nobody knows yet.
	hedged = newCues("hedged")
	// habits are what is so mostly: nobody wants it.
	habits = newCues("habits")
	// questions begin what is one without the mark.
	questions = newCues("questions")
	// tales begin what a person did: steps that lead to a failure, mostly.
	tales = newCues("tales")
	// chatter begins sentences about what comes next, which is of no use once it
	// has come.
	chatter = newCues("chatter")
	// takenBack takes back what was just said.
	takenBack = newCues("taken back")
	// reassurance has a cue of a preference in it, and is none.
	reassurance = newCues("reassurance")
)

// cueSet is a list of cues: words, with a space around each, and runs of letters
// in scripts that put no spaces between words.
type cueSet struct {
	words []string
	// spaced are the words without the space before them, by their first byte, unspaced the runs by the last byte of
	// their first letter: letters of one script differ in that one. So a text is looked at once, whatever cues there are.
	spaced, unspaced [256][]string
}

func newCues(name string) (set cueSet) {
	for _, w := range cueLists[name] {
		set.words = append(set.words, " "+w+" ")
		set.spaced[w[0]] = append(set.spaced[w[0]], w+" ")
	}
	for _, run := range cueLists[name+" unspaced"] {
		_, size := utf8.DecodeRuneInString(run)
		set.unspaced[run[size-1]] = append(set.unspaced[run[size-1]], run)
	}
	return set
}

// in reports whether a cue stands in a normalized text.
func (c *cueSet) in(norm string) bool {
	for i := 0; i+1 < len(norm); i++ {
		if norm[i] == ' ' && begins(norm[i+1:], c.spaced[norm[i+1]]) {
			return true
		}
	}
	return !isASCII(norm) && c.hasRun(norm)
}

// hasRun reports whether a run stands in a text.
func (c *cueSet) hasRun(text string) bool {
	for i := 0; i < len(text); {
		size := 1
		if text[i] >= utf8.RuneSelf {
			_, size = utf8.DecodeRuneInString(text[i:])
		}
		if begins(text[i:], c.unspaced[text[i+size-1]]) {
			return true
		}
		i += size
	}
	return false
}

// begins reports whether a text begins with one of these.
func begins(text string, list []string) bool {
	for _, s := range list {
		if strings.HasPrefix(text, s) {
			return true
		}
	}
	return false
}

// isTakenBack reports whether a sentence, normalized, takes back what stands before it.
func isTakenBack(norm string) bool {
	return takenBack.begins(norm) || words(norm) <= maxTakenBack && takenBack.in(norm)
}

// maxTakenBack is how many words a sentence has that says so not at its beginning.
const maxTakenBack = 6

// begins reports whether a normalized text begins with a cue.
func (c *cueSet) begins(norm string) bool {
	return begins(norm, c.words)
}
