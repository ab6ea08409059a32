package memory

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
)

// maxText is how much of a message is retained, in bytes: what is longer is
// pasted.
const maxText = 16 << 10

// A call has the memory for so many messages. Of a longer session the oldest are
// read, which go first, and the newest, which say what is going on.
const (
	maxRead = 20_000
	newest  = 1_000
)

// read is what each message says that is worth keeping, without secrets: the
// words of people and of the agent, and where the knobs ask for it what tools
// were called for. It is empty for all others: what a harness, a summary or a
// memory says is nobody's word.
//
// Messages come without their bodies, and those alone are fetched that matter:
// most of a session is what tools said.
func (p *pass) read() []string {
	if p.texts != nil {
		return p.texts
	}
	p.texts = make([]string, len(p.msgs))
	calls := &calls{on: p.set.toolCalls, at: make(map[int]int), list: make(map[int][]line)}
	var ids []string
	index := make(map[string]int)
	for i := range p.msgs {
		if m := &p.msgs[i]; isSaid(m) || calls.wants(m) {
			ids, index[m.ID] = append(ids, m.ID), i
		}
	}
	if over := len(ids) - maxRead; over > 0 {
		p.Log(abi.LogWarn, "of %d messages %d in the middle are not read, and not retained: "+
			"they are more than a call has memory for", len(ids), over)
		ids = slices.Delete(ids, maxRead-newest, len(ids)-newest)
	}
	kept := make(map[string]string, len(ids)) // what a recording repeats is gone through once
	for m, err := range p.Bodies(ids...) {
		if err != nil {
			p.warn("reading the session", err)
			break
		}
		i := index[m.ID]
		calls.add(m, i)
		if isSaid(&m.Message) {
			said := m.Text()
			text, ok := kept[said]
			if !ok {
				text = keepable(said)
				kept[said] = text
			}
			p.texts[i] = text
		}
	}
	for i, lines := range calls.lines() {
		p.texts[i] = clip.Bytes(strings.TrimSpace(p.texts[i]+"\n"+lines), maxText)
	}
	return p.texts
}

// isSaid reports whether a message is a person's or the agent's own word.
func isSaid(m *abi.Message) bool {
	return m.Kind == "" && (m.Role == abi.RoleUser || m.Role == abi.RoleAssistant)
}

// keepable is a text as it is kept.
func keepable(text string) string {
	text = strings.TrimSpace(abi.Defuse(text))
	if _, framed := abi.Unfence(text); framed {
		return "" // a summary or a memory that lost its kind on the way
	}
	return clip.Bytes(redacted(text), maxText)
}
