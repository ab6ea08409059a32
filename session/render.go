package session

import (
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
)

// answer returns what an agent is told of a recall, in at most budget tokens.
func (r *recall) answer(q RecallQuery, budget int) string {
	if len(r.pieces) == 0 {
		return sayAllHere
	}
	found := r.find(q)
	if len(found) == 0 {
		return sayNothing
	}
	// The frame and the headings cost something too. How much is known once they
	// are written.
	for room := budget; len(found) > 0; {
		list := r.excerpts(found, q, room)
		answer := render(list)
		over := max(0, q.count(answer)-budget)
		if len(list) > 0 && over == 0 {
			return answer
		}
		if room -= over + over/8; len(list) == 0 || room < len(found)*minExcerpt {
			found, room = found[:len(found)/2], budget // fewer, but legible
		}
	}
	return sayNoRoom
}

// render writes units one after the other: each piece under a line with a number of its own that says where it is
// from, and to which other one it belongs, with a bar before each of its own lines.
func render(list []Recalled) string {
	var b strings.Builder
	n := 0
	for _, u := range list {
		first := n + 1
		for _, p := range u.Pieces {
			if n++; n > 1 {
				b.WriteByte('\n')
			}
			fmt.Fprintf(&b, "%d. %s", n, origin(&p))
			if n > first {
				fmt.Fprintf(&b, ", beside %d", first)
			}
			if p.Text != "" {
				b.WriteString("\n" + quote(p.Text))
			}
		}
	}
	return abi.Fence(abi.KindInjected, "kagewasm:recall", sayRecalled, b.String())
}

// origin returns where a piece is from.
func origin(p *Excerpt) string {
	what := label(string(p.Role))
	switch tool := label(p.Tool); {
	case p.Call:
		what = "call of " + tool + " by " + what
	case p.Tool != "":
		what = "result of " + tool
	}
	parts := []string{"message " + label(p.Message), what}
	if p.Kind != "" {
		parts = append(parts, "kind "+label(string(p.Kind)))
	}
	if p.Timestamp != "" {
		parts = append(parts, label(p.Timestamp))
	}
	if p.Compaction != "" {
		parts = append(parts, "superseded by "+label(p.Compaction))
	}
	if p.End-p.Start < p.Length {
		parts = append(parts, fmt.Sprintf("bytes %d to %d of %d", p.Start, p.End, p.Length))
	}
	return strings.Join(parts, ", ")
}

// maxLabel is the most bytes of an id or a name in a heading.
const maxLabel = 64

// label makes an id or a name from a session fit for a heading: one short word
// without spaces.
func label(s string) string {
	s = strings.Join(strings.Fields(abi.Defuse(s)), "_")
	if s == "" {
		return "(none)"
	}
	return clip.Cut(s, maxLabel, "...")
}

// oneBreak returns s with line feeds in the place of the other line breaks that Unicode has.
func oneBreak(s string) string {
	return strings.NewReplacer("\u2028", "\n", "\u2029", "\n").Replace(s)
}
