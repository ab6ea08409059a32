package note

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/strategies/note/internal/work"
)

// repeated finds what a person said again later in the same words, as where a harness
// records the same talk again and again: the last one stands, and the earlier ones say
// where. What came of an earlier one stays.
func repeated(turns []turn) {
	last, pairs := make(map[string]int, len(turns)), make(map[[2]string]int, len(turns))
	for i := range turns {
		last[turns[i].words] = i
		if i > 0 {
			pairs[[2]string{turns[i-1].words, turns[i].words}] = i
		}
	}
	// pair is the last turn but which that says the same as turn i with the one before it.
	pair := func(i int) (at int, ok bool) {
		if i <= 0 || i >= len(turns) || len(turns[i-1].words)+len(turns[i].words) < minRepeated {
			return 0, false
		}
		at = pairs[[2]string{turns[i-1].words, turns[i].words}]
		return at, at > i
	}
	for i := range turns {
		t := &turns[i]
		if t.words == "" || t.again > 0 {
			continue
		}
		at := last[t.words]
		if len(t.words) < minRepeated {
			var ok bool
			if at, ok = pair(i); !ok {
				if at, ok = pair(i + 1); ok {
					at--
				}
			}
			if !ok {
				continue
			}
		}
		if at <= i {
			continue
		}
		t.again, t.said, t.fuller, t.lines = turns[at].n, "", "", ""
		t.came = slices.DeleteFunc(t.came, func(s string) bool {
			return strings.HasPrefix(s, work.Besides) || strings.HasPrefix(s, listedMark) ||
				strings.HasPrefix(s, choiceMark) || slices.Contains(turns[at].came, s)
		})
	}
}

// minRepeated is how long words are, in bytes, that nobody says twice by chance: of one
// message, or of two in a row.
const minRepeated = 40

// replays are the messages that a harness writes anew which records its conversation for each of its calls: each is
// told once, where it stood first.
type replays struct {
	same   []bool          // it is the same event as an earlier one
	told   map[string]turn // of an earlier note, by their words
	within bool            // what an earlier note tells is said again, and answered in the same words
}

// tells takes the turns of an earlier note. Short words are said twice by chance.
func (r *replays) tells(turns []turn) {
	for i := range turns {
		if t := turns[i]; len(t.words) >= minRepeated {
			if r.told == nil {
				r.told = make(map[string]turn)
			}
			r.told[t.words] = t
		}
	}
}

// sameEvents marks messages that are the same event as an earlier one: the same text and calls of the same moment. A
// short one is only beside another one: people say "continue" twice within a moment that is told by the minute.
func sameEvents(msgs []abi.Message) []bool {
	type event struct{ role, moment, text, calls string }
	marks, seen := make([]bool, len(msgs)), make(map[event]bool)
	at := make(map[string]int, len(msgs)) // how many messages are of a moment
	for i := range msgs {
		at[msgs[i].Timestamp]++
	}
	for i := range msgs {
		m := &msgs[i]
		if m.Timestamp == "" || m.Kind != "" || at[m.Timestamp] == 1 {
			continue
		}
		e := event{string(m.Role), m.Timestamp, m.Text(), m.ToolCallID}
		for k := range m.ToolCalls {
			e.calls += "\x00" + m.ToolCalls[k].ID + "\x00" + m.ToolCalls[k].Arguments
		}
		long := len(e.text)+len(e.calls) >= minRepeated || i > 0 && marks[i-1]
		marks[i], seen[e] = seen[e] && long, true
	}
	return marks
}

// holds reports whether message i is one. Of what an earlier note tells it is known by the words of both.
func (r *replays) holds(msgs []abi.Message, i int, persons []bool) bool {
	if persons[i] {
		t, ok := r.told[msgs[i].Words()]
		r.within = ok && t.answeredBy(answerTo(msgs, i, persons))
	}
	return r.same[i] || r.within && msgs[i].Kind == ""
}

// answerTo is what the agent said last to message i; empty where it called something: that was done once more.
func answerTo(msgs []abi.Message, i int, persons []bool) (text string) {
	for i++; i < len(msgs) && !persons[i]; i++ {
		if len(msgs[i].ToolCalls) > 0 || msgs[i].Role == abi.RoleTool {
			return ""
		}
		if said := strings.TrimSpace(msgs[i].Text()); msgs[i].Role == abi.RoleAssistant && said != "" {
			text = said
		}
	}
	return text
}

// answeredBy reports whether all that is told of the words with which an agent closed a turn stands in a text.
func (t *turn) answeredBy(text string) bool {
	flat, told := clip.OneLine(plain(text)), 0
	for _, part := range strings.Split(clip.OneLine(plain(t.said)), strings.TrimSpace(leftOutHere)) {
		part = strings.TrimSpace(part)
		if len(part) < minRepeated {
			continue
		}
		if told++; !strings.Contains(flat, clip.Head(part, minRepeated)) {
			return false
		}
	}
	return told > 0
}
