package note

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
)

const (
	// longWords is more than most messages of persons have, in bytes.
	longWords = 1000
	// mostWords is how much of the room beside a note, in hundredths, the words of persons may take. The rest is for what
	// must be told of those that are shortened all the same.
	mostWords = 75
)

// NeedBeside returns what must not be lost of the messages that go needs, in tokens: what [Options.Beside] must be
// for all failures, for messages of persons with their rules and lists and those of documents that they named, for
// what agents decided or tried in vain, and for what is finished of their todos to be written, whatever the other
// parts leave. Told: a summary tells what they decided, but for contradictions. It reads nothing else off the
// messages, so that it costs less than [Build]. Once ctx is done it is of no use.
func (s Session) NeedBeside(ctx context.Context, count func(string) int, told bool) int {
	s = s.oneResultEach()
	origins := abi.Origins(s.Messages)
	memory := cmp.Or(s.Memory, new(Memory))
	s.Messages, _ = called(s.Messages, origins)
	s = s.plain(memory)
	harness := s.harness(ctx, memory)
	var rules, found int
	var list todos
	files, whole := loads{memory: memory}, byCall(s.Pruned)
	for i := range s.Messages {
		if ctx.Err() != nil {
			return 0
		}
		m := &s.Messages[i]
		files.hears(m)
		if !s.Gone[i] {
			list.message(cmp.Or(whole[m.ToolCallID], m), true, harness)
			continue
		}
		list.message(m, false, harness)
		files.message(m, 0)
		switch earlier := new(Note); {
		case m.Kind == abi.KindSummary:
			rules += memory.rulesNeedOf(earlier.summary(m.Text()), count)
			found += foundNeedOf(m.Text(), count, told)
			list.takeOver(&earlier.todos)
		case origins[i] == abi.FromPerson:
			rules += memory.wordsNeed(m.Words(), count)
		case m.Role == abi.RoleAssistant:
			found += memory.foundNeed(m.Text(), count, toldBeside(told))
		}
	}
	list.finish()
	rules += needOfRules(withRules(unique(files.lists)), count)
	need := list.finishedNeed(count) + count(names.HeadFailed+names.HeadErrors) + 2
	if rules > 0 {
		need += rules + count(headRules) + 1
	}
	need += min(found, mostFound)
	gone, _ := s.parted()
	return need + needOf(failuresOf(names.Failures(ctx, gone, s.Pruned, harness), count))
}

// needOf is what failures need, in tokens: the last as they are quoted, older ones in short.
func needOf(list []failure) (tokens int) {
	for _, f := range list {
		if f.older {
			tokens += f.shortCost
		} else {
			tokens += f.wholeCost
		}
	}
	return tokens
}

// mostFound is what there is at most for what agents decided or tried in vain, in tokens.
const mostFound = 1000

// foundNeed is what the sentences of an agent need, where they are wanted, with which it says what it decided or
// tried in vain, in tokens.
func (m *Memory) foundNeed(text string, count func(string) int, wanted func(sentence string) bool) (need int) {
	for _, f := range m.findingsOf(strings.TrimSpace(text)) {
		if wanted(f.text) {
			need += count("- "+foundMark+f.String()) + 1
		}
	}
	return need
}

// foundNeedOf is what those in an earlier note need, its quotes of closing words too where they are contradictions.
func foundNeedOf(note string, count func(string) int, told bool) (need int) {
	wanted := toldBeside(told)
	for line := range strings.Lines(note) {
		said, ok := strings.CutPrefix(strings.TrimSpace(line), "- ")
		found := isFound(said) && slices.ContainsFunc(foundIn(said), wanted)
		if ok && (found || told && strings.HasPrefix(said, agentMark) && contradicts(said)) {
			need += count(line)
		}
	}
	return need
}

// isLong reports whether words are those of a long message.
func isLong(words string) bool { return len(words) > longWords }

// wordsNeed is what a message of a person needs to stand whole, but for what was pasted into it, or its rules and
// lists where that is more, in tokens.
func (m *Memory) wordsNeed(words string, count func(string) int) int {
	return max(typedNeed(words, count)*100/mostWords, needOfRules(m.bindings.of(words, bindings), count))
}

// typedNeed is what a message needs to stand whole, but for what was pasted into it.
func typedNeed(words string, count func(string) int) int {
	return count((*usage)(nil).shorter(typedOf(words), sizes[0], ""))
}

// wholeNeed is what messages of persons need to stand whole, in tokens.
func wholeNeed(turns []turn, count func(string) int) (need int) {
	for i := range turns {
		need += typedNeed(turns[i].words, count)
	}
	return need
}

// typedOf are the lines of words that somebody typed.
func typedOf(words string) string {
	var kept strings.Builder
	for line, printed := range typed(words) {
		if !printed {
			kept.WriteString(line + "\n")
		}
	}
	return kept.String()
}

// rulesNeedOf is what those need that an earlier note tells.
func (m *Memory) rulesNeedOf(earlier *former, count func(string) int) int {
	need := needOfRules(earlier.rules, count)
	for i := range earlier.turns {
		need += m.wordsNeed(earlier.turns[i].words, count)
	}
	return need
}

func needOfRules(list []rule, count func(string) int) (need int) {
	for _, r := range list {
		need += count("- "+r.String()) + 1
	}
	return need
}
