package memory

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
)

// sentence is a piece of prose, and how it stood in its text.
type sentence struct {
	text  string
	label string // of a line that begins with one in bold
	item  bool   // of a list
}

// maxScan is how much of one text is read, in bytes: the rest of something
// longer is pasted.
const maxScan = 32 << 10

// sentences returns the prose in a markdown text. Code, quotes, headings,
// tables, and blocks that a harness marks with tags are left out.
func sentences(text string) (list []sentence, lines int) {
	text = clip.Head(text, maxScan)
	code, tag := false, ""
	for l := range strings.Lines(text) {
		l = strings.TrimSpace(l)
		if tag != "" {
			if strings.Contains(l, "</"+tag+">") {
				tag = ""
			}
			continue
		}
		if strings.HasPrefix(l, "```") || strings.HasPrefix(l, "~~~") {
			code = !code
			continue
		}
		if code || l == "" || strings.ContainsRune("#>|", rune(l[0])) {
			continue
		}
		if name := openTag(l); name != "" {
			if !strings.Contains(l, "</"+name+">") && strings.Contains(text, "</"+name+">") {
				tag = name
			}
			continue
		}
		lines++
		list = appendLine(list, l)
	}
	return list, lines
}

// openTag is the name of the tag a line begins with.
func openTag(l string) string {
	if l[0] != '<' {
		return ""
	}
	end := strings.IndexAny(l, "> ")
	if end < 2 || !unicode.IsLetter(rune(l[1])) {
		return ""
	}
	return l[1:end]
}

func appendLine(list []sentence, l string) []sentence {
	body, item := listItem(l)
	label := ""
	if rest, ok := strings.CutPrefix(body, "**"); ok {
		if name, after, ok := strings.Cut(rest, "**"); ok && utf8.RuneCountInString(name) <= 40 {
			label = strings.TrimRight(name, ":：")
			after = strings.TrimLeft(after, ":： -–—")
			if after == "" {
				return list
			}
			body = label + ": " + after
		}
	}
	if label != "" {
		return append(list, sentence{text: body, label: label, item: item})
	}
	if item && utf8.RuneCountInString(body) <= maxText {
		return append(list, sentence{text: body, item: true}) // its sentences explain each other
	}
	for _, s := range split(body) {
		list = append(list, sentence{text: s, item: item})
	}
	return list
}

// listItem returns a line without the mark of a list item.
func listItem(l string) (body string, item bool) {
	for _, mark := range []string{"- ", "* ", "• "} {
		if rest, ok := strings.CutPrefix(l, mark); ok {
			l, item = rest, true
			break
		}
	}
	if n := strings.IndexAny(l, ".)"); !item && n > 0 && n <= 3 && strings.Trim(l[:n], "0123456789") == "" {
		l, item = strings.TrimSpace(l[n+1:]), true
	}
	for _, box := range []string{"[ ] ", "[x] ", "[X] "} {
		l = strings.TrimPrefix(l, box)
	}
	return strings.TrimSpace(l), item
}

// split cuts a line after the ends of its sentences.
func split(l string) (list []string) {
	start := 0
	for i, r := range l {
		end := i + utf8.RuneLen(r)
		switch r {
		case '.', '!', '?', ';':
			if end < len(l) && l[end] != ' ' {
				continue // inside a name or a number
			}
		case '。', '！', '？', '；', '।', '؟', '۔':
		default:
			continue
		}
		list = append(list, strings.TrimSpace(l[start:end]))
		start = end
	}
	if rest := strings.TrimSpace(l[start:]); rest != "" {
		list = append(list, rest)
	}
	return list
}

// states reports whether a sentence says something: in words, no question, and
// not merely that something follows.
func (s *sentence) states() bool {
	t := strings.TrimRight(s.text, "*_ ")
	last, _ := utf8.DecodeLastRuneInString(t)
	if strings.ContainsRune("?？؟:：{;…", last) || strings.HasSuffix(t, "...") {
		return false
	}
	return isProse(t) && !isBracketed(t)
}

// isBracketed reports whether a line stands in brackets: it is for something else.
func isBracketed(l string) bool { return strings.HasPrefix(l, "[") && strings.HasSuffix(l, "]") }

// isProse reports whether a sentence is made of words, mostly.
func isProse(s string) bool {
	letters, all := 0, 0
	for _, r := range s {
		all++
		if 'a' <= r && r <= 'z' || r == ' ' || clip.IsHan(r) || unicode.IsLetter(r) || unicode.IsMark(r) {
			letters++
		}
	}
	return letters*10 >= all*7
}

// words counts words; each character of a script without spaces is one.
func words(norm string) int {
	n := 0
	for w := range strings.FieldsSeq(norm) {
		n += max(1, dense(w))
	}
	return n
}

func dense(w string) (n int) {
	for _, r := range w {
		if isDense(r) {
			n++
		}
	}
	return n
}

// isDense reports whether r is of a script that writes words without spaces.
func isDense(r rune) bool {
	return clip.IsHan(r) || r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Hangul) ||
		r >= 0xe00 && r <= 0xeff
}
