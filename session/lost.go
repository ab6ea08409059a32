package session

import (
	"context"
	"regexp"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// Loss is something that the model does not see any more because of compactions, with where it stood.
type Loss struct {
	note.Loss
	Position   int      `json:"position"` // of the message among all
	Role       abi.Role `json:"role,omitempty"`
	Time       string   `json:"time,omitempty"`
	Compaction string   `json:"compaction,omitempty"`
}

// Lost returns what the compaction of an id took from the model's view, or all compactions where that is empty, the
// weightiest first, where grep matches the text or its whole message. A nil grep takes all. What a rollback took back
// is not lost.
func Lost(ctx context.Context, stored []StoredMessage, compaction string, grep *regexp.Regexp) []Loss {
	list := []Loss{}
	from := note.Session{}
	at := make(map[string]int, len(stored))
	for i := range stored {
		m := &stored[i]
		if m.By == "rollback" {
			continue
		}
		at[m.ID] = i
		from.Messages = append(from.Messages, m.Message)
		by := compaction == "" || m.By == compaction
		from.Gone = append(from.Gone, by && m.Superseded && !isNote(&m.Message))
	}
	losses := note.Losses(ctx, from)
	shown := make(map[string]bool) // messages of which a line matches: the others are told by their first one
	for _, l := range losses {
		shown[l.Message] = shown[l.Message] || grep == nil || grep.MatchString(l.Text)
	}
	for _, l := range losses {
		one := Loss{Loss: l}
		i, ok := at[l.Message]
		if ok = ok && l.Message != ""; ok {
			m := &stored[i]
			one.Position, one.Role, one.Time, one.Compaction = i, m.Role, m.Timestamp, m.By
		}
		matches := grep == nil || grep.MatchString(l.Text)
		if !matches && ok && !shown[l.Message] && grep.MatchString(stored[i].Text()) {
			matches, shown[l.Message] = true, true
		}
		if matches {
			list = append(list, one)
		}
	}
	return list
}

// isNote reports whether a message is what a compaction of this program inserted: what it tells stands in other
// messages. What another program's summary tells does not.
func isNote(m *abi.Message) bool {
	return m.Kind == abi.KindSummary && strings.HasPrefix(m.Text(), "<"+string(abi.KindSummary)+"-")
}
