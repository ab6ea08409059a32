package note

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/excerpt"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// place is a part of a text, how much it says in particular, and whether it stands out among what is around it.
type place struct {
	from, to, worth int
	standsOut       bool
}

// typed are the lines of a text that stand in no block of code, and whether each was pasted.
func typed(words string) iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		for at, printed := range typedLines(words) {
			if !yield(words[at.from:at.to], printed) {
				return
			}
		}
	}
}

// typedLines are the places of these lines. A line was pasted that looks so, or that follows in one paragraph on one
// that was, or on an error, and is no sentence by itself.
func typedLines(words string) iter.Seq2[place, bool] {
	return func(yield func(place, bool) bool) {
		fenced, behind, end := false, false, 0
		for raw := range strings.Lines(words) {
			end += len(raw)
			line := strings.TrimSpace(raw)
			switch {
			case strings.HasPrefix(line, fence):
				fenced = !fenced
				continue
			case line == "":
				behind = false
				continue
			case fenced:
				continue
			}
			cut := strings.Contains(line, excerpt.LeftOut) // what follows may be something else
			printed := pasted(line) || toolcall.IsFailure(line)
			behind = !cut && (printed || behind && !isSentence(line))
			from := end - len(raw) + strings.Index(raw, line)
			if !yield(place{from: from, to: from + len(line)}, behind) {
				return
			}
		}
	}
}

// isSentence reports whether a line is a sentence, from its first letter to its last mark.
func isSentence(line string) bool {
	first, _ := utf8.DecodeRuneInString(line)
	last, _ := utf8.DecodeLastRuneInString(line)
	return unicode.IsLetter(first) && !unicode.IsLower(first) && strings.ContainsRune(".!?。！？", last) &&
		(strings.Count(line, " ") >= 2 || first >= 0x2e80)
}

// typedRuns are the runs of typed lines of a text.
func typedRuns(words string) (list []place) {
	behind := 0
	for at, printed := range typedLines(words) {
		follows := strings.TrimSpace(words[behind:at.from]) == ""
		behind = at.to
		switch last := len(list) - 1; {
		case printed, strings.Contains(words[at.from:at.to], excerpt.LeftOut):
			behind = 0
		case last >= 0 && follows:
			list[last].to = at.to
		default:
			list = append(list, at)
		}
	}
	return list
}

// typedSentences are the sentences of the typed lines of a text and entries of its lists, in order. One that turns what
// the one before it says ("but that is off the table") is one with it.
func typedSentences(words string) (list []place) {
	for line, printed := range typedLines(words) {
		text := words[line.from:line.to]
		if printed || strings.Contains(text, excerpt.LeftOut) {
			continue
		}
		if _, item := listItem(text); item || isBox(text) {
			list = append(list, line)
			continue
		}
		first := len(list)
		for s := range sentences(text) {
			from := line.from
			if len(list) > first {
				from = list[len(list)-1].to
			}
			from += strings.Index(words[from:line.to], s)
			if len(list) > first && turningWords.begins(strings.TrimLeft(s, "\"'(*_ ")) {
				list[len(list)-1].to = from + len(s)
				continue
			}
			list = append(list, place{from: from, to: from + len(s)})
		}
	}
	return list
}

// withTurns are places, each with the sentence right behind it that turns what it says.
func withTurns(words string, list []place) []place {
	for i := range list {
		p := &list[i]
		rest, _, _ := strings.Cut(words[p.to:], "\n")
		if next := strings.TrimSpace(rest); next != "" && turningWords.begins(next) {
			p.to += strings.Index(rest, next) + sentenceEnd(next)
		}
	}
	return list
}

// turningWords begin a sentence that says how what stands before it is not, or when it is.
var turningWords = newVocabulary("turning")

// together are places and others, in order, each part of the text once.
func together(list, others []place) (all []place) {
	list = slices.SortedFunc(slices.Values(slices.Concat(list, others)), func(a, b place) int { return a.from - b.from })
	for _, p := range list {
		if last := len(all) - 1; last >= 0 && p.from <= all[last].to {
			all[last].to = max(all[last].to, p.to)
		} else {
			all = append(all, p)
		}
	}
	return all
}
