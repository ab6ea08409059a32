package note

import (
	"cmp"
	"context"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
)

// longWords is the length of a message of a person, in bytes, over which its rules and lists have room of their own:
// what the thread shows of it is a part.
const longWords = 1000

// NeedBeside returns what must not be lost of the messages that go needs, in tokens: what [Options.Beside] must be for
// all failures, all rules and lists of long messages of persons, and what agents decided or tried in vain to be
// written, whatever the other parts leave. Told: a summary tells what they decided. It reads nothing else off the
// messages, so that it costs less than [Build]. Once ctx is done it is of no use.
func (s Session) NeedBeside(ctx context.Context, count func(string) int, told bool) int {
	origins := abi.Origins(s.Messages)
	memory := cmp.Or(s.Memory, new(Memory))
	need, found := 0, 0
	for i := range s.Messages {
		if ctx.Err() != nil {
			return 0
		}
		if m := &s.Messages[i]; s.Gone[i] {
			need += memory.rulesNeed(m, origins[i] == abi.FromPerson, count)
			if !told {
				found += memory.foundNeed(m, count)
			}
		}
	}
	if need > 0 {
		need += count(headRules) + 1
	}
	s.Messages, _ = called(s.Messages, origins)
	s = s.plain(memory)
	gone, _ := s.parted()
	need += min(found, mostFound) + count(names.HeadFailed+names.HeadErrors) + 2
	return need + needOf(failuresOf(names.Failures(ctx, gone, s.Pruned, s.harness(ctx, memory)), count))
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

// foundNeed is what the sentences of an agent need with which it says what it decided or tried in vain, in tokens, and
// those in an earlier note.
func (m *Memory) foundNeed(msg *abi.Message, count func(string) int) (need int) {
	switch {
	case msg.Kind == abi.KindSummary:
		for line := range strings.Lines(msg.Text()) {
			if said, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok && isFound(said) {
				need += count(line)
			}
		}
	case msg.Role == abi.RoleAssistant:
		for _, f := range m.findingsOf(strings.TrimSpace(msg.Text())) {
			need += count("- "+foundMark+f.String()) + 1
		}
	}
	return need
}

// rulesNeed is what the rules and lists of a long message of a person need, in tokens, and those of an earlier note.
func (m *Memory) rulesNeed(msg *abi.Message, person bool, count func(string) int) (need int) {
	add := func(list []rule) {
		for _, r := range list {
			need += count("- "+r.String()) + 1
		}
	}
	long := func(words string) {
		if len(words) > longWords {
			add(m.bindings.of(words, bindings))
		}
	}
	switch {
	case msg.Kind == abi.KindSummary:
		earlier := new(Note).summary(msg.Text())
		add(earlier.rules)
		for i := range earlier.turns {
			long(earlier.turns[i].words)
		}
	case person:
		long(msg.Words())
	}
	return need
}
