package session

import (
	"context"
	"regexp"

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
		from.Gone = append(from.Gone, by && m.Superseded && m.Kind != abi.KindSummary)
	}
	for _, l := range note.Losses(ctx, from) {
		one := Loss{Loss: l}
		whole := ""
		if i, ok := at[l.Message]; ok && l.Message != "" {
			m := &stored[i]
			one.Position, one.Role, one.Time, one.Compaction = i, m.Role, m.Timestamp, m.By
			if l.Kind == note.LostMessage {
				whole = m.Text()
			}
		}
		if grep == nil || grep.MatchString(l.Text) || grep.MatchString(whole) {
			list = append(list, one)
		}
	}
	return list
}
