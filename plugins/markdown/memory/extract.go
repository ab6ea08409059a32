package memory

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/strategies/redact"
)

// Scores: when there are more facts than a compaction may add, the lowest go.
const (
	scoreSaid    = 10 // a person's own preference or decision
	scoreFix     = 8
	scoreSettled = 7 // a decision of the assistant, at the end of a turn
	scoreFound   = 6 // a conclusion there
	scoreItem    = 5
	scoreNamed   = 4
	scoreAside   = 3 // a decision or a conclusion in the middle of work
)

// How much there is of what is worth a note, in words where nothing else is
// said.
const (
	minWords       = 3
	minFound       = 6    // of what an assistant says: less is not understood alone
	minVague       = 9    // of a finding that names nothing
	minItem        = 5    // of an item without a cue
	maxNamed       = 30   // of a short order
	maxRepeated    = 8    // that a person says over and over
	maxShort       = 3    // lines of a message that says a single thing
	maxTyped       = 15   // lines; of a longer message some are pasted,
	maxPasted      = 40   // and of one of more lines all,
	maxPastedBytes = 8000 // or of more bytes
	maxItems       = 12   // facts of one message
)

// extract returns the facts in the messages that are about to go, in their
// order, no two in the same words, and which files changed, for the log.
func extract(in *abi.Input) (found []fact, changed string) {
	going := doomed(in)
	x := &extractor{
		in: in, minLength: in.Config.Int("min_length", defaultMinLength),
		seen: make(map[string]bool), said: make(map[string]int), spoken: make(map[int]*spoken),
	}
	x.listen()
	work := &work{x: x, calls: make(map[string]action), ends: endsOf(in.Messages), failed: make(map[string]*failure)}
	for i := range in.Messages {
		m := &in.Messages[i]
		work.message(m, going[i])
		if !going[i] || m.Kind != "" {
			continue // what a harness or a compaction wrote is nobody's word
		}
		if _, framed := abi.Unfence(m.Text()); framed {
			continue
		}
		switch m.Role {
		case abi.RoleUser:
			if s := x.spoken[i]; s != nil {
				x.person(m, s, x.takesBack(i))
			}
		case abi.RoleAssistant:
			x.assistant(m, x.endsTurn(i))
		}
	}
	return x.best(in.Config.Int("max_facts", defaultFacts)), work.changes()
}

// doomed marks the messages that are likely to go: all but what is pinned, the
// current turn, and the newest that fit in half of the target. Which exactly
// go is decided later; a fact noted too early is no harm.
func doomed(in *abi.Input) []bool {
	turn, going := abi.CurrentTurn(in.Plain()), make([]bool, len(in.Messages))
	room := in.Budget.TargetTokens / 2
	for i := len(going) - 1; i >= 0; i-- {
		m := &in.Messages[i]
		room -= m.Tokens
		going[i] = room < 0 && !m.Pinned && !turn[i]
	}
	return going
}

type extractor struct {
	in        *abi.Input
	minLength int
	facts     []fact
	seen      map[string]bool // normalized texts
	spoken    map[int]*spoken // by the number of the message; none that is pasted as a whole
	said      map[string]int  // sentences of persons, normalized: in how many messages
}

// endsTurn reports whether the next message is a person's, or there is none.
func (x *extractor) endsTurn(i int) bool {
	for _, m := range x.in.Messages[i+1:] {
		if m.Role == abi.RoleSystem || m.Kind != "" {
			continue
		}
		return m.IsPerson()
	}
	return true
}

// takesBack reports whether the next that a person says takes back what they said in a message.
func (x *extractor) takesBack(i int) bool {
	for k := i + 1; k < len(x.in.Messages); k++ {
		if x.in.Messages[k].IsPerson() {
			next := x.spoken[k]
			return next != nil && len(next.norms) > 0 && isTakenBack(next.norms[0])
		}
	}
	return false
}

// person reads what a person said. Where the next that they say takes it back, and it is a
// single thing, there is nothing in it; of several nobody knows which is meant.
func (x *extractor) person(m *abi.InputMessage, all *spoken, back bool) {
	before := len(x.facts)
	x.says(m, all)
	if back && len(x.facts) == before+1 {
		delete(x.seen, normalize(x.facts[before].text()))
		x.facts = x.facts[:before]
	}
}

// says reads the sentences of a person.
func (x *extractor) says(m *abi.InputMessage, all *spoken) {
	n, lines := 0, all.lines
	for i, s := range all.list {
		norm := all.norms[i]
		count := words(norm)
		if again := x.said[norm]; count > maxRepeated && (again > 2 || again > 1 && lines > maxTyped) {
			continue // nobody says as much over and over in the same words: a harness does
		}
		if !s.states() || count < minWords || n == maxItems || reassurance.begins(norm) {
			continue
		}
		if i+1 < len(all.norms) && isTakenBack(all.norms[i+1]) {
			continue // in the next words
		}
		k, score := requirement, 0
		switch {
		case decisionCues.in(norm), insteadCues.in(norm):
			k, score = decision, scoreSaid
		case preferenceCues.in(norm) && !habits.in(norm):
			k, score = preference, scoreSaid
		case lines > maxTyped, chatter.begins(norm), questions.begins(norm), tales.begins(norm), hedged.in(norm):
		case (s.item || s.label != "") && count >= minItem && (all.items > 1 || stands(s.text, norm)):
			score = scoreItem
		case lines <= maxShort && count <= maxNamed && hasName(s.text) && stands(s.text, norm):
			score = scoreNamed
		}
		if lines > maxTyped {
			score /= 2 // most of it is not their own words
		}
		if score > 0 && x.add(k, s.text, score, m.ID) {
			n++
		}
	}
}

// assistant reads what the model said; final is its last word of a turn.
func (x *extractor) assistant(m *abi.InputMessage, final bool) {
	list, _ := sentences(m.Text())
	n := 0
	for _, s := range list {
		if n == maxItems {
			break
		}
		if !s.states() {
			continue
		}
		norm := normalize(s.text)
		if words(norm) < minFound || chatter.begins(norm) || hedged.in(norm) {
			continue
		}
		k, score := finding, 0
		switch {
		case decisionCues.in(norm), strings.EqualFold(s.label, "decision"):
			k, score = decision, scoreSettled
		case findingCues.in(norm) && (words(norm) >= minVague || hasName(s.text)):
			score = scoreFound
		}
		if !final {
			score = min(score, scoreAside)
		}
		if score > 0 && x.add(k, s.text, score, m.ID) {
			n++
		}
	}
}

// stands reports whether a sentence without a cue may be worth keeping: it says
// what not to do, of something that has a name or a number; or no word of it is
// one that the plugin knows, and its form is all there is to go by.
func stands(text, norm string) bool {
	return negations.in(norm) && (hasName(text) || strings.ContainsAny(text, "0123456789")) || !familiar.in(norm)
}

// hasName reports whether a text names something: that is what a short order
// is about, in any language.
func hasName(text string) bool {
	for range names(text) {
		return true
	}
	return false
}

// add takes a fact in, unless it is too short, too long, secret or known.
func (x *extractor) add(k kind, text string, score int, messages ...string) bool {
	if utf8.RuneCountInString(text) > maxText {
		return false
	}
	text = clip.Line(withoutSecrets(abi.Defuse(text)), maxText)
	said := redact.Unmarked(text)
	if utf8.RuneCountInString(said) < x.minLength && dense(said)*3 < x.minLength {
		return false
	}
	norm := normalize(text)
	if x.seen[norm] {
		return false
	}
	x.seen[norm] = true
	ids := lists.Map(messages, inContext)
	x.facts = append(x.facts, fact{
		kind: k, title: titleOf(text), key: noteKey(k, text), created: x.in.Time, score: score, order: len(x.facts),
		said: []mention{{text: text, day: day(x.in.Time), session: sessionOf(x.in), messages: ids}},
	})
	return true
}

// best are the facts worth most, of equals the latest, in their order.
func (x *extractor) best(most int) []fact {
	slices.SortFunc(x.facts, func(a, b fact) int { return cmp.Or(b.score-a.score, b.order-a.order) })
	list := x.facts[:max(0, min(most, len(x.facts)))]
	slices.SortFunc(list, func(a, b fact) int { return a.order - b.order })
	return list
}
