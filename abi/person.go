package abi

import (
	"cmp"
	"slices"
	"strings"
)

// Harnesses put much of their own into messages with the role of the user: what
// a command printed, reminders, where the agent runs. It stands in elements, as of
// XML, that begin a line. A person's words are what is left.

// Origin says who wrote a message in the role of the user: harnesses write much in it.
type Origin uint8

const (
	// FromElsewhere: the message has another role, or a kind that says what it is.
	FromElsewhere Origin = iota
	// FromPerson: a person typed it.
	FromPerson
	// FromInterruption: a harness notes that the person stopped the agent.
	FromInterruption
	// FromCommand: it is the output of a command that the agent wrote down in its text.
	FromCommand
	// FromExample: it demonstrates how to work, on another task.
	FromExample
	// FromHarness: a harness wrote it: reminders, output of a person's commands,
	// instruction files; or there is nothing in it.
	FromHarness
)

// Origins says of each message who wrote it. It knows more than [Message.IsPerson],
// as it sees what stands around: where the commands that an agent wrote down are
// answered in the role of the user, the answers end with a shell's prompt; a
// command that a harness answered itself has the output behind it; and what stands before
// the end of examples is one. A message without content is nobody's, unless all are without it: bodies are then left
// out, as for plugins that ask for them.
func Origins(msgs []Message) []Origin {
	origins, answered := make([]Origin, len(msgs)), false
	bodies := slices.ContainsFunc(msgs, func(m Message) bool { return !m.empty() })
	for i := range msgs {
		m := &msgs[i]
		origins[i] = m.origin()
		if origins[i] == FromPerson && answered && strings.HasSuffix(strings.TrimSpace(m.Text()), "\nbash-$") {
			origins[i] = FromCommand
		}
		if origins[i] == FromPerson && (isCommand(m.Text()) && answersLocally(msgs[i+1:]) || asksForHelp(m, msgs[i+1:])) {
			origins[i] = FromHarness
		}
		if origins[i] == FromPerson && bodies && m.empty() {
			origins[i] = FromHarness
		}
		answered = answered || m.Role == RoleAssistant
	}
	markExamples(msgs, origins)
	return origins
}

// markExamples notes which messages are of a conversation that shows the model how to work: a harness says where it
// ends, before any work with tools.
func markExamples(msgs []Message, origins []Origin) {
	end := 0
	for i := range msgs {
		m := &msgs[i]
		if m.Role == RoleTool || len(m.ToolCalls) > 0 {
			break
		}
		if origins[i] == FromHarness && strings.TrimSpace(m.Text()) == endOfExamples {
			end = i
		}
	}
	for i := range end {
		if origins[i] == FromPerson {
			origins[i] = FromExample
		}
	}
}

// localOutput begins what a harness writes behind a command that it answered itself: no model was asked.
const localOutput = "<local-command-std" // out, err

// isCommand reports whether a text is a command of a harness, and does not hold its output.
func isCommand(text string) bool {
	text = strings.TrimSpace(text)
	if !strings.Contains(text, "<command-name>") {
		return false
	}
	_, ok := element(strings.TrimSpace(withoutElements(text)), "command-name")
	return ok && !strings.Contains(text, localOutput)
}

// answersLocally reports whether messages begin with what a harness answered itself.
func answersLocally(msgs []Message) bool {
	i := slices.IndexFunc(msgs, func(m Message) bool { return !m.Kind.Internal() })
	return i >= 0 && msgs[i].Role == RoleUser && isLocalOutput(msgs[i].Text())
}

// asksForHelp reports whether m is "?", which shows the help of most programs, and messages begin with what a person
// wrote then: where the model answers, somebody nudged it.
func asksForHelp(m *Message, msgs []Message) bool {
	i := slices.IndexFunc(msgs, func(m Message) bool { return !m.Kind.Internal() })
	return i >= 0 && msgs[i].Role == RoleUser && strings.TrimSpace(m.Text()) == "?"
}

// isLocalOutput reports whether a text begins with what a harness answered itself.
func isLocalOutput(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), localOutput) }

// Persons marks the messages that persons typed, see [Origins].
func Persons(msgs []Message) []bool {
	marks := make([]bool, len(msgs))
	for i, origin := range Origins(msgs) {
		marks[i] = origin == FromPerson
	}
	return marks
}

// origin says who wrote m, by itself.
func (m *Message) origin() Origin {
	if !m.isUser() {
		return FromElsewhere
	}
	_, origin := m.words()
	return origin
}

// IsPerson reports whether m is a message typed by a person: role user, no kind,
// and in it more than what harnesses write in that role: output of commands,
// reminders, demonstrations, instruction files. See [Message.Words].
func (m *Message) IsPerson() bool { return m.origin() == FromPerson }

// empty reports whether a message has no content.
func (m *Message) empty() bool { return m.Content.text == "" && m.Content.parts == nil }

// says reports whether there is more in a message than blanks.
func (m *Message) says() bool {
	return strings.TrimSpace(m.Text()) != "" ||
		slices.ContainsFunc(m.Content.Parts(), func(p Part) bool { return p.Type != "text" })
}

// isUser reports whether m has the role of the user, and no kind.
func (m *Message) isUser() bool { return m.Role == RoleUser && m.Kind == "" }

// Words returns what a person wrote in m, without what a harness added. It is
// empty where m is no message of a person, and where that has no text. A command of
// the harness is the command and its arguments, where it has some and asks the agent
// for something: "/model opus" does not, nor where it was typed as the whole message.
func (m *Message) Words() string {
	if !m.isUser() {
		return ""
	}
	words, _ := m.words()
	return words
}

// words are those of a person in m, and who wrote m. Harnesses write in parts of their own: each is looked at by
// itself, and one of a person makes m a person's.
func (m *Message) words() (string, Origin) {
	text, parts := strings.TrimSpace(m.Text()), m.Content.Parts()
	if text == "" {
		if slices.ContainsFunc(parts, func(p Part) bool { return p.Type != "text" }) {
			return "", FromPerson // an image
		}
		if m.empty() {
			return "", FromPerson // or a body that is left out, see [Origins]
		}
		return "", FromHarness // nobody said anything
	}
	if len(parts) < 2 || wholeMessage(text) || slices.ContainsFunc(parts, halfElement) {
		return words(text)
	}
	said, from := []string(nil), FromHarness
	for i, p := range parts {
		if p.Type != "text" || strings.TrimSpace(p.Text) == "" {
			continue
		}
		text, origin := words(p.Text)
		if text != "" && isCommand(p.Text) && i+1 < len(parts) && isLocalOutput(parts[i+1].Text) {
			text, origin = "", FromHarness // it answered itself
		}
		if text != "" {
			said = append(said, text)
		}
		if from == FromHarness || text != "" {
			from = origin
		}
	}
	return strings.Join(said, "\n"), from
}

// halfElement reports whether an element of a harness begins in a part and does not end there.
func halfElement(p Part) bool {
	at, name := nextElement(p.Text)
	return at >= 0 && !strings.Contains(p.Text[at:], "</"+name+">")
}

// wholeMessage reports whether a harness wrote all of a message that begins so.
func wholeMessage(text string) bool {
	a := asideOf(text)
	return a != nil && a.message
}

// asideOf is what a harness wrote at the beginning of a text, nil where it wrote nothing there.
func asideOf(text string) *aside {
	if text == "" {
		return nil
	}
	for _, a := range asidesBy[text[0]] {
		if a.begins(text) {
			return a
		}
	}
	return nil
}

// asidesBy are the asides by the byte that they begin with.
var asidesBy = func() (by [256][]*aside) {
	for i := range asides {
		for _, head := range asides[i].heads {
			if list := by[head[0]]; !slices.Contains(list, &asides[i]) {
				by[head[0]] = append(list, &asides[i])
			}
		}
	}
	return by
}()

// begins reports whether a text begins with an aside.
func (a *aside) begins(text string) bool {
	return slices.ContainsFunc(a.heads, func(head string) bool {
		rest, ok := strings.CutPrefix(text, head)
		return ok && (!a.alone || rest == "") && (!a.named || namesInstructions(rest)) && strings.Contains(rest, a.holds)
	})
}

// behind is what stands behind an aside that a text begins with.
func (a *aside) behind(text string) string {
	at := strings.Index(text, a.ends)
	if a.holds != "" {
		at = strings.LastIndex(text, a.ends)
	}
	if a.ends == "" || at < 0 {
		return ""
	}
	return strings.TrimSpace(text[at+len(a.ends):])
}

// isOpaque reports whether m is a compaction of which only its provider can read a
// part, or all.
func (m *Message) isOpaque() bool {
	return m.Kind == KindSummary && slices.ContainsFunc(m.Content.Parts(), func(p Part) bool {
		return p.Type != "text" && (m.Text() == "" || strings.Contains(p.Type, "compaction"))
	})
}

// words are those of a person in a text, and who wrote the text.
func words(text string) (string, Origin) {
	text = strings.TrimSpace(text)
	if !beginsAside(text) && strings.IndexByte(text, '<') < 0 {
		return text, FromPerson
	}
	if a := asideOf(text); a != nil {
		if rest := a.behind(text); rest != "" {
			return words(rest)
		}
		return "", a.origin
	}
	if strings.HasPrefix(text, exampleHead) {
		_, text, _ = strings.Cut(text, taskBegins)
		text, _, _ = strings.Cut(text, taskEnds)
		if text = strings.TrimSpace(text); text == "" {
			return "", FromExample
		}
	}
	text = asked(text)
	if rest, ok := strings.CutPrefix(text, "[System note: "); ok {
		if _, after, ok := strings.Cut(rest+"\n", "]\n"); ok {
			text = after
		}
	}
	if at := strings.LastIndex(text, localOutput); at > 0 && strings.HasPrefix(text, "<command-") {
		text = text[at:]
	}
	// What a command printed may look like another one.
	said := strings.TrimSpace(withoutElements(text))
	if said != text && asideOf(said) != nil {
		return words(said)
	}
	if isTypedSetup(said) {
		return "", FromHarness
	}
	said = withoutCommands(said)
	switch {
	case said != "":
		return said, FromPerson
	case strings.HasPrefix(text, "<turn_aborted>"):
		return "", FromInterruption
	}
	return "", FromHarness
}

// asked is what stands in the elements in which Cursor puts what a person asked, where a text is nothing but elements
// and one is of those, or the first says where the program runs. Any other text is returned as it is.
func asked(text string) string {
	const query = "user_query"
	if text == "" || text[0] != '<' ||
		!strings.HasPrefix(text, "<user_info>") && !strings.Contains(text, "<"+query+">") {
		return text
	}
	words, found, rest := []string(nil), strings.HasPrefix(text, "<user_info>"), text
	for range maxElements {
		name := elementName(rest)
		if name == "" {
			break
		}
		end := endOf(rest, name)
		if end < 0 {
			break
		}
		if name == query {
			_, inner, _ := strings.Cut(rest[:end], ">")
			words, found = append(words, strings.TrimSuffix(inner, "</"+query+">")), true
		}
		rest = strings.TrimSpace(rest[end:])
	}
	if rest != "" || !found {
		return text
	}
	return strings.Join(words, "\n")
}

// firstBytes are the bytes that begin what harnesses write beside their elements, and commands that persons type: most
// messages of persons are told by one look.
var firstBytes = func() (first [256]bool) {
	for _, head := range []string{exampleHead, "[System note: ", "/"} {
		first[head[0]] = true
	}
	for b, asides := range asidesBy {
		first[b] = first[b] || len(asides) > 0
	}
	return first
}()

// beginsAside reports whether a text may begin as what a harness writes.
func beginsAside(text string) bool { return text != "" && firstBytes[text[0]] }

func hasAnyPrefix(s string, list []string) bool {
	return slices.ContainsFunc(list, func(p string) bool { return strings.HasPrefix(s, p) })
}

// element is what an element of a text holds, if the text has it and begins with
// an element.
func element(text, name string) (string, bool) {
	if text == "" || text[0] != '<' {
		return "", false
	}
	_, rest, ok := strings.Cut(text, "<"+name+">")
	if !ok {
		return "", false
	}
	inner, _, ok := strings.Cut(rest, "</"+name+">")
	return strings.TrimSpace(inner), ok
}

// withoutElement is a text without the first element of a name.
func withoutElement(text, name string) string {
	before, rest, ok := strings.Cut(text, "<"+name+">")
	if _, after, closed := strings.Cut(rest, "</"+name+">"); ok && closed {
		return before + after
	}
	return text
}

// maxElements is how many elements are looked at that are not known by name: a search for the end of each may take the
// whole text.
const maxElements = 32

// elementName is the name of the element that a text begins with, empty where it begins with none.
func elementName(text string) string {
	if text == "" || text[0] != '<' {
		return ""
	}
	if n := strings.IndexAny(text[1:min(len(text), 1+maxElementName)], "> \n"); n > 0 {
		return text[1 : 1+n]
	}
	return ""
}

// maxElementName is how long the name of an element is at most.
const maxElementName = 64

// maxOpen is how many elements without an end are looked for in one text: a search
// for each name takes the whole text.
const maxOpen = 16

// outputs begin the names of the elements in which harnesses put what a person's command printed: it may be anything.
var outputs = []string{"local-command-std", "bash-std"}

// endOf is where an element ends that a text begins with, -1 where it has no end. Other elements than output may hold
// their own tags, as a reminder that shows a file does.
func endOf(text, name string) int {
	for _, output := range outputs {
		if strings.HasPrefix(name, output) {
			return endOfOutput(text, "</"+output)
		}
	}
	end := "</" + name + ">"
	at := strings.Index(text, end)
	if at < 0 {
		return -1
	}
	return around(text, name, at+len(end))
}

// endOfOutput is where output ends that a text begins with, and whose end tags begin so: what a command printed and
// what it said of errors stand one behind the other. What looks like an element in it is a part of it: the last end
// counts, but for what reminders behind it say, and output without one goes on to the end of the text.
func endOfOutput(text, tag string) int {
	end := len(text)
	for at := 0; ; {
		i := strings.Index(text[at:], tag)
		if i < 0 {
			return end
		}
		at += i + len(tag)
		if n := strings.IndexByte(text[at:min(len(text), at+len("err>"))], '>'); n >= 0 {
			end = at + n + 1
		}
		if strings.HasPrefix(strings.TrimLeft(text[end:], " \t\r\n"), "<system-reminder>") {
			return end
		}
	}
}

// maxTags is how many tags of one name are looked at to find the end of an element.
const maxTags = 256

// around is where an element ends that a text begins with, and of which the first end tag ends at first: behind the tag
// that closes as many as were opened, or, where that one stands within a line, behind the next one that ends its line
// with nothing opened between. What stands behind the former is else words of a person.
func around(text, name string, first int) int {
	opens, closes := "<"+name, "</"+name+">"
	depth, at, closed := 0, 0, 0
	for range maxTags {
		to := strings.Index(text[at:], closes)
		if to < 0 {
			break
		}
		if from := strings.Index(text[at:at+to], opens); from >= 0 {
			if closed > 0 { // another element
				break
			}
			depth, at = depth+1, at+from+len(opens)
			continue
		}
		at += to + len(closes)
		if depth = max(0, depth-1); depth > 0 {
			continue
		}
		if endsLine(text[at:]) {
			return at
		}
		closed = cmp.Or(closed, at)
	}
	return cmp.Or(closed, first)
}

// endsLine reports whether a line, or another element, begins right behind what stands before a text.
func endsLine(text string) bool {
	text = strings.TrimLeft(text, " \t\r")
	return text == "" || text[0] == '\n' || text[0] == '<'
}

// withoutElements is a text without the elements that hold no words of a person.
// One that is not closed stays, but for output.
func withoutElements(text string) string {
	var b strings.Builder
	open := make(map[string]bool) // names that have no end in what is left
	for {
		at, name := nextElement(text)
		if at < 0 || len(open) > maxOpen {
			break
		}
		end := -1
		if !open[name] {
			end = endOf(text[at:], name)
		}
		if end < 0 {
			open[name] = true
			b.WriteString(text[:at+1])
			text = text[at+1:]
			continue
		}
		b.WriteString(text[:at])
		text = text[at+end:]
	}
	if b.Len() == 0 {
		return text
	}
	b.WriteString(text)
	return b.String()
}

// nextElement finds an element that holds no words of a person, at the beginning
// of a text, of a line, or right behind another one.
func nextElement(text string) (at int, name string) {
	for from := 0; from < len(text); {
		i := strings.IndexByte(text[from:], '<')
		if i < 0 {
			return -1, ""
		}
		i += from
		from = i + 1
		if before := strings.TrimRight(text[:i], " \t"); before != "" && !strings.ContainsAny(before[len(before)-1:], "\n>") {
			continue
		}
		if name := elementName(text[i:]); name != "" && holdsNoWords(name, text[from+len(name):]) {
			return i, name
		}
	}
	return -1, ""
}

// holdsNoWords reports whether an element of a name holds no words of a person, which text stands behind the name.
func holdsNoWords(name, text string) bool {
	name = strings.ToLower(name)
	if hasAnyPrefix(name+">", notWords) {
		return true
	}
	head, ok := notWordsHolding[name]
	inner, closed := strings.CutPrefix(text, ">")
	return ok && closed && strings.HasPrefix(strings.TrimLeft(inner, " \t\r\n"), head)
}
