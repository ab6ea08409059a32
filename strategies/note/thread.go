package note

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/set"
)

// How much is remembered of each kind, in entries, and of one entry, in runes.
// What is written is bounded by the budget; this bounds what can be carried
// from one compaction to the next.
const (
	maxRequests  = 8
	maxMusts     = 40
	maxDecisions = 12
	maxNext      = 2
	maxEntry     = 300
)

// request notes what a person asked for, word for word. Greetings and thanks
// are dropped.
func (n *Note) request(text string) {
	text = oneLine(text, maxEntry)
	if text == "" || isPleasantry(text) {
		return
	}
	n.requests = add(n.requests, text, maxRequests, true)
}

// pleasantries are texts that ask for nothing new.
var pleasantries = set.Of(wordLists["pleasantries"]...)

func isPleasantry(text string) bool {
	if len(text) > 80 {
		return false
	}
	bare := strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsMark(r) || r == ' ' {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
	bare = clip.OneLine(bare)
	return pleasantries[bare] || bare == "" && !strings.ContainsFunc(text, unicode.IsDigit) ||
		strings.HasPrefix(text, "[Request interrupted")
}

// decisionWords are how decisions are stated. Few, so that nothing is taken
// for one that is none.
var decisionWords = newVocabulary("decisions")

// decided notes the sentences that state a decision.
func (n *Note) decided(text string) {
	if !decisionWords.says(text) {
		return
	}
	for line := range lines(text) {
		if !decisionWords.says(line) {
			continue
		}
		for s := range sentences(line) {
			if size := utf8.RuneCountInString(s); size >= 8 && size <= maxEntry && decisionWords.says(s) {
				n.decisions = add(n.decisions, s, maxDecisions, false)
			}
		}
	}
}

// nextWords are how an agent says what it does next.
var nextWords = newVocabulary("next")

// comes notes what the agent said last about what comes next; where it says
// nothing of the kind, the last it said.
func (n *Note) comes(text string) {
	last, named := "", ""
	for line := range lines(clip.Tail(text, 4000)) {
		for s := range sentences(line) {
			if utf8.RuneCountInString(s) < 3 {
				continue
			}
			if last = s; nextWords.says(s) {
				named = s
			}
		}
	}
	if named != "" {
		last = named
	}
	if last != "" {
		n.next = add(n.next, clip.Words(last, maxEntry), maxNext, false)
	}
}
