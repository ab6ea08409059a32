package record

import (
	"context"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// Files gives the summaries among messages the files that the store has with them: most formats keep their text alone,
// and that may have had no room for all. The messages are as they came where there is nothing to give.
func (r *Run) Files(ctx context.Context, s *store.Store, msgs []abi.Message) ([]abi.Message, error) {
	h, named, err := r.find(ctx, s)
	if err != nil || h.Len() == 0 {
		return msgs, err
	}
	all, err := s.Messages(ctx, session.Key(named), store.MessageQuery{Superseded: true})
	if err != nil {
		return msgs, err
	}
	metas := make(map[string]abi.Meta)
	for i := range all {
		if m := &all[i]; m.Kind == abi.KindSummary && len(m.Meta) > 0 {
			metas[strings.TrimSpace(m.Text())] = m.Meta
		}
	}
	msgs = slices.Clone(msgs)
	for i := range msgs {
		if m := &msgs[i]; lacksFiles(m) {
			m.Meta = metas[strings.TrimSpace(m.Text())]
		}
	}
	return msgs, nil
}

// LackFiles reports whether there is a summary among messages that says nothing of the files of its record.
func LackFiles(msgs []abi.Message) bool {
	return slices.ContainsFunc(msgs, func(m abi.Message) bool { return lacksFiles(&m) })
}

func lacksFiles(m *abi.Message) bool { return m.Kind == abi.KindSummary && len(m.Meta) == 0 }
