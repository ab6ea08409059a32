package note

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/excerpt"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// shorter is what is shown of a person's words in about so many characters, more for the marks and for what is told
// besides: their beginning and end, without what was pasted in between, or the first sentence where there is little
// room. Nothing is cut in the middle of a word, a number or an address, and every cut is marked.
func (u *usage) shorter(words string, runes int, id string, besides ...place) string {
	if utf8.RuneCountInString(words) <= runes {
		return words
	}
	_, id = excerpt.Marked(words, id)
	if short := withoutPasted(words, id); utf8.RuneCountInString(short) <= runes {
		return short
	}
	mark := func(gone string) string { return excerpt.Gone(gone, id, "") }
	if runes <= maxFirst { // the id would take more than many a sentence
		mark = func(gone string) string {
			n, _ := excerpt.Marked(gone, "")
			return excerpt.Mark(utf8.RuneCountInString(gone)+n, "", "")
		}
	}
	parts := together(u.partsOf(words, runes, mark), besides)
	return withParts(words, together(withHeads(words, withTurns(words, parts)), nil), mark)
}

// partsOf are the places of words that are shown in about so many characters.
func (u *usage) partsOf(words string, runes int, mark func(gone string) string) []place {
	if list := typedRuns(words); len(list) > 0 && utf8.RuneCountInString(typedOf(words)) <= runes {
		return list
	}
	if runes <= maxFirst {
		return u.besideFirst(words, u.firstTold(words, runes), runes)
	}
	if parts := u.betweenEnds(words, runes); len(parts) > 2 {
		return parts
	}
	head := len(excerpt.Head(clip.First(words, runes*2/3)))
	tail := len(words) - len(excerpt.Tail(clip.Last(words[head:], runes/3)))
	return []place{{to: head}, {from: tail, to: len(words)}}
}

// firstTold is the first sentence of a person's words that is no small talk, and not said again and again, at most so
// many characters of it.
func (u *usage) firstTold(words string, runes int) (said string) {
	for line, printed := range typed(words) {
		if strings.Contains(line, excerpt.LeftOut) || printed {
			continue
		}
		for s := range sentences(line) {
			s = clip.First(s, runes)
			if few, _ := u.novelty(s); few >= staleUnder && !smallTalk(s) {
				return s
			}
			said = cmp.Or(said, s)
		}
	}
	if said == "" { // nobody typed a word of it
		said, _, _ = strings.Cut(strings.TrimSpace(words), "\n")
	}
	return clip.First(strings.TrimSpace(said), runes)
}

// joinedLines are texts on lines of their own, without those that are blank.
func joinedLines(texts ...string) string {
	texts = lists.Map(texts, strings.TrimSpace)
	return strings.Join(lists.Filter(texts, func(s string) bool { return s != "" }), "\n")
}

// maxFirst is the room, in characters, for a first sentence alone.
const maxFirst = 160

const (
	minPasted = 6 // lines in a row that were not typed
	shownHead = 2 // of them that are shown
)

// withoutPasted is a text without the middle of what was pasted into it: runs of
// lines that nobody types, such as logs, code and output.
func withoutPasted(text, id string) string {
	lines := strings.Split(text, "\n")
	var out []string
	fenced := false
	for i := 0; i < len(lines); {
		end := i
		for end < len(lines) && (fenced || pasted(lines[end]) || strings.HasPrefix(strings.TrimSpace(lines[end]), fence)) {
			if strings.HasPrefix(strings.TrimSpace(lines[end]), fence) {
				fenced = !fenced
			}
			end++
		}
		if end-i >= minPasted {
			gone := lines[i+shownHead : end-1]
			out = append(out, lines[i:i+shownHead]...)
			out = append(out, excerpt.Mark(utf8.RuneCountInString(strings.Join(gone, "\n")), id, ""), lines[end-1])
			i = end
			continue
		}
		end = max(end, i+1)
		out = append(out, lines[i:end]...)
		i = end
	}
	return strings.Join(out, "\n")
}

// pasted reports whether a line looks like one that nobody types: of a log, of code,
// of a table or of a trace.
func pasted(line string) bool {
	bare := strings.TrimSpace(line)
	if bare == "" {
		return false
	}
	if _, item := listItem(bare); item || isBox(bare) {
		return false
	}
	indent := len(line) - len(strings.TrimLeft(line, " \t"))
	letters := 0
	for _, r := range bare {
		if unicode.IsLetter(r) || r == ' ' {
			letters++
		}
	}
	return indent >= 4 || line[0] == '\t' || strings.IndexByte("+|{}<>$@=│├└*/", bare[0]) >= 0 ||
		clip.Digits(bare) >= 2 && strings.ContainsAny(bare, ":-/") || letters*10 < utf8.RuneCountInString(bare)*7
}
