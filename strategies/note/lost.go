package note

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
	"github.com/kagewasm/kagewasm/strategies/note/internal/work"
)

// Loss is something that a superseded message said. A note may tell it all the same.
type Loss struct {
	Kind LossKind `json:"kind"`
	// Message is the id of the message, empty where the text stands in several.
	Message string `json:"message,omitempty"`
	Text    string `json:"text"`
}

// LossKind says what somebody had committed to.
type LossKind string

// The kinds of losses, in the order of what they weigh.
const (
	LostRule      LossKind = "rule"      // what a person said must be, decided, corrected or did not allow
	LostStatement LossKind = "statement" // what else a person said
	LostDecision  LossKind = "decision"  // what the agent decided, reasoned or found
	LostClaim     LossKind = "claim"     // what else the agent told people
	LostFailure   LossKind = "failure"   // what failed, and did not pass later
	LostFile      LossKind = "file"      // what was modified
	LostMessage   LossKind = "message"   // the rest
)

// maxLossLine is how much of a message stands for it, in characters.
const maxLossLine = 160

// Losses lists what went, first what people and the agent had committed to, each kind
// in the order of the session.
func Losses(ctx context.Context, s Session) []Loss {
	n := Build(ctx, s)
	memory := cmp.Or(s.Memory, new(Memory))
	s = s.oneResultEach().plain(memory)
	l := losses{said: make(map[string]bool)}
	l.gone, _ = s.parted()
	origins := abi.Origins(s.Messages)
	person := make(map[string]bool)
	for i := range s.Messages {
		person[s.Messages[i].ID] = origins[i] == abi.FromPerson
	}
	l.statements(person, l.rules(person, work.New(s.harness(ctx, memory))))
	l.claims(l.decisions())
	l.failures(n.names.Failures())
	l.files(n)
	l.rest(person)
	return l.list
}

// losses are what went, as far as it is listed.
type losses struct {
	gone []abi.Message
	list []Loss
	said map[string]bool // messages of which something is listed
}

func (l *losses) add(kind LossKind, id, text string) {
	l.list, l.said[id] = append(l.list, Loss{kind, id, text}), true
}

// rules are what persons said must be, what they corrected and did not allow, and behind these what may be none. Of the
// same words said again the last count. It returns those of each message.
func (l *losses) rules(person map[string]bool, w *work.Work) (told map[string][]string) {
	var sure, rest []Loss
	told = make(map[string][]string)
	for i := range l.gone {
		m := &l.gone[i]
		for k := range m.ToolCalls {
			w.Call(&m.ToolCalls[k])
		}
		if m.Role == abi.RoleTool {
			if step := w.Result(m); step.Rejected != "" {
				sure = append(sure, Loss{LostRule, m.ID, "not allowed: " + step.Rejected})
			}
		}
		if !person[m.ID] {
			continue
		}
		for _, r := range boundBy(m) {
			told[m.ID] = append(told[m.ID], r.text)
			if one := (Loss{LostRule, m.ID, r.text}); r.sure {
				sure = append(sure, one)
			} else {
				rest = append(rest, one)
			}
		}
	}
	l.addLast(slices.Concat(sure, rest))
	return told
}

// bound is a rule in the words of a person, and whether it surely is one.
type bound struct {
	text string
	sure bool
}

// boundBy are the rules of a message. One that corrects what was done or said begins with that.
func boundBy(m *abi.Message) (list []bound) {
	first := correction(m.Words())
	for _, r := range bindings(m.Words()) {
		if !r.heads {
			list = append(list, bound{strings.TrimSpace(r.under + " " + r.text), r.binds})
		}
	}
	if first == "" || strings.HasSuffix(first, ":") {
		return list
	}
	list = slices.DeleteFunc(list, func(r bound) bool { return r.text == first })
	return slices.Insert(list, 0, bound{first, true})
}

// correction is the first sentence of words that correct what was done or said.
func correction(words string) string {
	if !corrects(words) {
		return ""
	}
	for line := range unfenced(words) {
		for s := range sentences(line) {
			return clip.CutChars(s, maxEntry, "...")
		}
	}
	return ""
}

// isStatement reports whether a sentence of a person says something by itself.
func isStatement(s string) bool {
	bare := strings.TrimFunc(lower.Text(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	first, _ := utf8.DecodeRuneInString(bare)
	several := strings.Contains(bare, " ") || clip.Separate(first)
	return several && utf8.RuneCountInString(bare) >= minStatement && !strings.HasSuffix(s, ":") && !onlyPolite(s) &&
		(!isQuestion(s) || asksFor(s)) && replyingWords.longest(bare) < len(bare)
}

// minStatement is how long a sentence is that says something, in characters.
const minStatement = 4

// promises reports whether a sentence says what an agent binds itself to, and not only what it is about to look at.
func promises(s string) bool { return wills().MatchString(s) && isClaim(s) }

// decisions are what the agent decided, and gave reasons for, then what it promised, and then what it found.
func (l *losses) decisions() (told map[string][]string) {
	var weighty, promised, rest []Loss
	told = make(map[string][]string)
	for i := range l.gone {
		m := &l.gone[i]
		if m.Role != abi.RoleAssistant {
			continue
		}
		for _, f := range sentencesThat(m.Text(), func(s string) bool {
			return isWeighty(s+" ") || isFinding(s) || len(m.ToolCalls) == 0 && promises(s)
		}) {
			told[m.ID] = append(told[m.ID], f.text)
			switch one := (Loss{LostDecision, m.ID, f.String()}); {
			case promises(f.text):
				promised = append(promised, one)
			case f.weighs():
				weighty = append(weighty, one)
			default:
				rest = append(rest, one)
			}
		}
	}
	l.list = append(l.list, slices.Concat(weighty, promised, rest)...)
	for id := range told {
		l.said[id] = true
	}
	return told
}

// claims are what else the agent told people: the prose of words that it ended a turn with. What it says beside a call
// announces that, and what it lists there is what it did.
func (l *losses) claims(decisions map[string][]string) {
	var list []Loss
	for i := range l.gone {
		m := &l.gone[i]
		if m.Role != abi.RoleAssistant || len(m.ToolCalls) > 0 {
			continue
		}
		lines, _ := sayings(m.Text())
		for _, line := range lines {
			if isHeading(line.text) || isEntry(line.text) || isCode(line.text) {
				continue
			}
			for s := range sentences(plain(line.text)) {
				told := slices.ContainsFunc(decisions[m.ID], func(d string) bool { return strings.Contains(d, s) })
				if !told && isClaim(s) {
					list = append(list, Loss{LostClaim, m.ID, shortened(s, maxSaid)})
				}
			}
		}
	}
	l.addLast(list)
}

// isClaim reports whether a sentence with which an agent ends a turn says something: no question, greeting or praise,
// and nothing that it is about to look at. What it says that it will do binds it.
func isClaim(s string) bool {
	announces := intends().MatchString(s) && !wills().MatchString(s) || telling(s) == "" || helpingWords.begins(s)
	return len(s) >= minWeighty && !announces && !strings.HasSuffix(s, ":") && !isQuestion(s) && !onlyPolite(s)
}

// addLast adds those of a list that say what no later one says. A message that says more than what is said again is not
// told by that.
func (l *losses) addLast(list []Loss) {
	whole := make(map[string]string)
	for i := range l.gone {
		whole[l.gone[i].ID] = strings.TrimSpace(l.gone[i].Text())
	}
	kept := lastOf(list, func(one Loss) string { return one.Text })
	for _, one := range kept {
		l.said[one.Message] = true
	}
	for _, one := range list {
		l.said[one.Message] = l.said[one.Message] || whole[one.Message] == one.Text
	}
	l.list = append(l.list, kept...)
}

// lastOf are entries without those of the same text that come before others.
func lastOf[T any](list []T, text func(T) string) (kept []T) {
	last := make(map[string]int)
	for i := range list {
		last[text(list[i])] = i
	}
	for i := range list {
		if last[text(list[i])] == i {
			kept = append(kept, list[i])
		}
	}
	return kept
}

// failures are those that nothing settled, and that no person caused.
func (l *losses) failures(list []names.Failure) {
	for i := range list {
		f := &list[i]
		_, says, _ := strings.Cut(f.Text, "\n")
		if !f.Settled && !f.Changed && !outcome.Rejected(strings.TrimSpace(says)) {
			l.add(LostFailure, cmp.Or(f.In(), l.told(f.Text)), f.Text)
		}
	}
}

// told is the earlier note that tells a text, where one does.
func (l *losses) told(text string) string {
	for i := range slices.Backward(l.gone) {
		if m := &l.gone[i]; m.Kind == abi.KindSummary && strings.Contains(m.Text(), text) {
			return m.ID
		}
	}
	return ""
}

// files are those that were modified, in the order of their last change.
func (l *losses) files(n *Note) {
	list := n.Files().Modified
	slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(n.names.Changed(a), n.names.Changed(b)) })
	for _, path := range list {
		id := ""
		if at := n.names.Changed(path); at > 0 && at <= len(l.gone) {
			id = l.callOf(at - 1)
		}
		l.add(LostFile, id, path)
	}
}

// callOf is the id of the message with the call of a result, where that goes too, and else its own.
func (l *losses) callOf(at int) string {
	of := l.gone[at].ToolCallID
	for i := at - 1; of != "" && i >= 0; i-- {
		if m := &l.gone[i]; slices.ContainsFunc(m.ToolCalls, func(c abi.ToolCall) bool { return c.ID == of }) {
			return m.ID
		}
	}
	return l.gone[at].ID
}

// rest are the other messages: what persons said, then what the agent said, then calls and what came of them.
func (l *losses) rest(person map[string]bool) {
	for _, of := range []func(m *abi.Message) bool{
		func(m *abi.Message) bool { return person[m.ID] },
		func(m *abi.Message) bool { return m.Role == abi.RoleAssistant && m.Text() != "" },
		func(*abi.Message) bool { return true },
	} {
		for i := range l.gone {
			if m := &l.gone[i]; !l.said[m.ID] && of(m) {
				l.add(LostMessage, m.ID, lineOf(m))
			}
		}
	}
}

// lineOf is a line for a message.
func lineOf(m *abi.Message) string {
	text := m.Text()
	if text == "" && len(m.ToolCalls) > 0 {
		text = m.ToolCalls[0].Name + " " + m.ToolCalls[0].Arguments
	}
	return clip.Chars(clip.OneLine(text), maxLossLine)
}
