package memory

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what sort of fact it is.
type kind string

const (
	preference  kind = "preference"  // what a person always or never wants
	decision    kind = "decision"    // what was settled
	requirement kind = "requirement" // an item of a person's list
	request     kind = "request"     // what a person asked, in short
	finding     kind = "finding"     // what the assistant concluded
	fix         kind = "fix"         // an error, and what was done before it went away
	files       kind = "files"       // what changed
)

// fact is one thing worth keeping.
type fact struct {
	kind     kind
	text     string   // one paragraph
	title    string   // a line of it
	created  string   // RFC 3339
	session  string   // where it was said
	messages []string // in which messages
	score    int      // how much it is worth keeping
	order    int      // where in the session
	key      string   // of the note
}

// normalize is the text by which facts are the same: words alone, in lower
// case, with a space around each.
func normalize(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	space := true
	b.WriteByte(' ')
	for _, r := range s {
		if r == '\'' || r == '’' {
			continue // don't is one word, whichever way it is written
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) {
			b.WriteRune(unicode.ToLower(r))
			space = false
		} else if !space {
			b.WriteByte(' ')
			space = true
		}
	}
	if !space {
		b.WriteByte(' ')
	}
	return b.String()
}

const (
	slugBytes = 40
	hashBytes = 5
)

// noteKey is derived from what a fact says alone, so that the same fact has
// the same note wherever it is met.
func noteKey(k kind, text string) string {
	norm := normalize(text)
	slug := ""
	for w := range strings.FieldsSeq(norm) {
		if !isASCII(w) || stopwords[w] {
			continue
		}
		if len(slug)+len(w) >= slugBytes {
			break
		}
		slug += w + "-"
	}
	if slug == "" {
		slug = string(k) + "-"
	}
	sum := sha256.Sum256([]byte(norm))
	return factsPrefix + slug + hex.EncodeToString(sum[:hashBytes]) + ".md"
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// encode is the note of a fact.
func (f *fact) encode() string {
	var b strings.Builder
	field := func(name, value string) { b.WriteString(name + ": " + value + "\n") }
	b.WriteString("---\n")
	field("title", quote(f.title))
	field("type", string(f.kind))
	field("permalink", strings.TrimSuffix(f.key, ".md"))
	field("created", quote(f.created))
	field("session", quote(f.session))
	field("messages", quoteAll(f.messages))
	field("tags", quoteAll(tags(f)))
	b.WriteString("---\n\n" + f.text + "\n")
	return b.String()
}

// quote writes a text as a YAML string; JSON's form is one.
func quote(s string) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always has a form
	return strings.TrimSpace(buf.String())
}

func quoteAll(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = quote(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// tags are the fact's kind and the names in it.
func tags(f *fact) []string {
	list := []string{string(f.kind)}
	for w := range strings.FieldsSeq(f.text) {
		w = strings.Trim(w, "`'\"“”(),.;:!?*")
		if len(list) <= maxTags && len(w) > 2 && len(w) <= 40 && isName(w) {
			list = append(list, w)
		}
	}
	return list
}

const maxTags = 4

// isName reports whether a word is a name of something rather than a word: a
// path, an identifier, a flag.
func isName(w string) bool {
	inner := w[1:]
	return strings.ContainsAny(inner, "./_") && !strings.Contains(w, "...") || strings.HasPrefix(w, "--") ||
		strings.IndexFunc(inner, unicode.IsUpper) >= 0 && strings.IndexFunc(w, unicode.IsLower) >= 0
}

// decode reads a note: this plugin's, or anything a person wrote.
func decode(key, note string) fact {
	f := fact{key: key, kind: "note"}
	note = strings.ReplaceAll(note, "\r\n", "\n")
	if head, ok := strings.CutPrefix(note, "---\n"); ok {
		if front, body, ok := strings.Cut(head, "\n---"); ok {
			f.readFront(front)
			_, note, _ = strings.Cut(body, "\n")
		}
	}
	f.text = clip(note, maxNote)
	if f.title == "" {
		line, _, _ := strings.Cut(strings.TrimLeft(note, "# \n"), "\n")
		f.title = clip(line, maxTitle)
	}
	return f
}

// readFront reads the front matter's fields that recall needs.
func (f *fact) readFront(front string) {
	for l := range strings.Lines(front) {
		name, value, ok := strings.Cut(strings.TrimSpace(l), ":")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		if strings.HasPrefix(value, `"`) {
			_ = json.Unmarshal([]byte(value), &value) // else it stays as it is written
		}
		switch name {
		case "title":
			f.title = value
		case "type":
			f.kind = kind(value)
		case "created":
			f.created = value
		case "session":
			f.session = value
		}
	}
}

const (
	maxTitle = 80
	maxText  = 400  // of a fact, in characters
	maxNote  = 1000 // of a note that is recalled
)

// clip is the first n characters of s, on one line.
func clip(s string, n int) string {
	if len(s) > 16*n {
		s = strings.ToValidUTF8(s[:16*n], "")
	}
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > n {
		return strings.TrimSpace(string(r[:n-1])) + "…"
	}
	return string(r)
}
