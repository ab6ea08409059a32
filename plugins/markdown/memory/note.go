package memory

import (
	"path"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/plainjson"
)

// noteTypes are what Claude Code calls the kinds; other kinds are "project".
var noteTypes = map[kind]string{preference: "feedback"}

// encode is the note of a fact: all of it follows from the key, the kind, when
// it was created, and the lines. See own.
func (f *fact) encode() string {
	name, first := path.Base(strings.TrimSuffix(f.key, ".md")), f.said[0].text
	kindOf, ok := noteTypes[f.kind]
	if !ok {
		kindOf = "project"
	}
	var b strings.Builder
	field := func(name, value string) { b.WriteString(name + ": " + value + "\n") }
	b.WriteString("---\n")
	field("name", name)
	field("title", quote(titleOf(first)))
	field("description", quote(clip.Line(first, maxDescription)))
	field("type", kindOf)
	field("permalink", strings.TrimSuffix(f.key, ".md"))
	field("tags", quoteAll(tags(f.kind, first)))
	field("created", quote(f.created))
	b.WriteString("---\n\n")
	for _, m := range f.said {
		b.WriteString("- [" + string(f.kind) + "] " + m.text + " " + m.context() + "\n")
	}
	for _, name := range f.against {
		b.WriteString(againstMark + name + "]]\n")
	}
	return b.String()
}

const (
	maxDescription = 150
	againstMark    = "- may_contradict [["
)

func titleOf(text string) string { return clip.Line(strings.Trim(text, "*_ "), maxTitle) }

// context is where a mention comes from, as it stands behind its text.
func (m mention) context() string {
	return "(" + strings.Join([]string{m.day, "session " + m.session, strings.Join(m.messages, " ")}, ", ") + ")"
}

// inContext makes an id fit a context.
func inContext(s string) string {
	return strings.NewReplacer("(", "_", ")", "_", ",", "_", " ", "_").Replace(s)
}

// observation reads a line as encode writes those of mentions.
func observation(line string) (k kind, m mention, ok bool) {
	rest, ok := strings.CutPrefix(line, "- [")
	if !ok {
		return "", m, false
	}
	category, text, ok := strings.Cut(rest, "] ")
	at := strings.LastIndex(text, " (")
	if !ok || at < 0 || !strings.HasSuffix(text, ")") {
		return "", m, false
	}
	where := strings.Split(text[at+2:len(text)-1], ", ")
	if len(where) != 3 {
		return "", m, false
	}
	session, ok := strings.CutPrefix(where[1], "session ")
	m = mention{text: text[:at], day: where[0], session: session, messages: strings.Fields(where[2])}
	return kind(category), m, ok
}

// own reads a note that this plugin wrote and nobody has touched since: what
// it says, written again, is the same bytes.
func own(key, note string) (f fact, ok bool) {
	head, body, ok := strings.Cut(note, "\n---\n\n")
	if !ok || len(note) > maxNote {
		return f, false
	}
	f = fact{key: key}
	f.readFront(strings.TrimPrefix(head, "---\n"))
	for line := range strings.Lines(body) {
		line = strings.TrimSuffix(line, "\n")
		if name, found := strings.CutPrefix(line, againstMark); found {
			f.against = append(f.against, strings.TrimSuffix(name, "]]"))
			continue
		}
		k, m, ok := observation(line)
		if !ok {
			return f, false
		}
		f.kind, f.said = k, append(f.said, m)
	}
	if len(f.said) == 0 {
		return f, false
	}
	f.title = titleOf(f.said[0].text)
	return f, f.encode() == note
}

// maxNote is how much of a note is read, in bytes.
const maxNote = 32 << 10

// decode reads any note: this plugin's, or whatever a person or another tool
// wrote. It is nothing where nothing is left to say.
func decode(key, note string) (f fact, ok bool) {
	if f, ok := own(key, note); ok {
		return f, true
	}
	f = fact{key: key, kind: "note"}
	note = strings.ReplaceAll(strings.TrimPrefix(clip.Head(note, maxNote), "\ufeff"), "\r\n", "\n")
	if head, found := strings.CutPrefix(note, "---\n"); found {
		if front, body, found := strings.Cut("\n"+head, "\n---"); found {
			f.readFront(front)
			_, note, _ = strings.Cut(body, "\n")
		}
	}
	var text []string
	m := mention{day: day(f.created)}
	if len(f.said) > 0 {
		m.session = f.said[0].session
	}
	for line := range strings.Lines(note) {
		line = strings.TrimSpace(line)
		if isPointer(line) || isDaily(key) && strings.HasPrefix(line, "#") {
			continue
		}
		if k, said, ok := observation(line); ok {
			f.kind, line, m.session, m.day = k, said.text, said.session, said.day
		}
		if line != "" {
			text = append(text, line)
		}
	}
	m.text = strings.Join(text, "\n")
	if f.title == "" && len(text) > 0 {
		f.title = clip.Line(strings.TrimLeft(text[0], "#-* "), maxTitle)
	}
	f.said = []mention{m}
	return f, m.text != ""
}

// isPointer reports whether a line only leads somewhere: what the plugin writes
// into an index, a relation, or what a log says of notes and compactions.
func isPointer(line string) bool {
	item, ok := strings.CutPrefix(line, "- ")
	if !ok {
		return line == indexHeading || line == indexTitle || line == indexText || strings.HasPrefix(line, oldIndexText)
	}
	return strings.HasPrefix(item, "[") && strings.Contains(item, "](") || strings.HasPrefix(line, againstMark) ||
		strings.HasPrefix(item, loggedNoted) || strings.HasPrefix(item, loggedAgain) ||
		strings.HasPrefix(item, loggedChanged) ||
		len(item) > 9 && item[2] == ':' && item[5] == ':' && item[8] == ' '
}

// day is the day of an RFC 3339 time.
func day(t string) string {
	if len(t) < 10 {
		return ""
	}
	return t[:10]
}

// quote writes a text as a YAML string; JSON's form is one.
func quote(s string) string {
	text, _ := plainjson.Marshal(s) // a string always has a form
	return string(text)
}

func quoteAll(list []string) string {
	quoted := lists.Map(list, quote)
	return "[" + strings.Join(quoted, ", ") + "]"
}
