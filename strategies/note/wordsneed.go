package note

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
)

const (
	// maxPersonWords is how many tokens of a message count at most, aroundWords what stands around it in a note.
	maxPersonWords = 300
	aroundWords    = 8
	// maxTokenBytes is more than a token of what people write has, in bytes.
	maxTokenBytes = 8
)

// WordsNeed returns how many tokens the words of persons need in a note of the messages that go, with those that
// earlier notes tell.
func (s Session) WordsNeed(count func(string) int) (need int) {
	for i, person := range abi.Persons(s.Messages) {
		switch m := &s.Messages[i]; {
		case !s.Gone[i]:
		case person:
			words := clip.Head(m.Text(), maxPersonWords*maxTokenBytes)
			need += min(count(words), maxPersonWords) + aroundWords
		case m.Kind == abi.KindSummary:
			need += count(personsWords(m.Text()))
		}
	}
	return need
}

// personsWords are the lines of a note with which it tells what persons said: their words in the thread, and the rules
// of messages that are shortened there. It is empty where somebody else wrote the summary.
func personsWords(summary string) string {
	_, ours := parted(summary)
	head, words := "", new(strings.Builder)
	for line := range strings.Lines(ours) {
		bare := strings.TrimRight(line, "\r\n")
		if reserved(bare) {
			head = bare
			continue
		}
		_, turn := readHead(bare)
		said := head == headThread && (turn || strings.HasPrefix(bare+" ", quoteMark))
		if said || head == headRules && strings.HasPrefix(bare, "- ") {
			words.WriteString(line)
		}
	}
	return words.String()
}
