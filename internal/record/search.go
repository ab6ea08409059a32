package record

import (
	"context"
	"regexp"
	"sync"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/transcript"
)

// Stored is all that a session file has, with what its program no longer shows the model.
func Stored(file *transcript.Session) []session.StoredMessage {
	gone := set.Of(file.Superseded...)
	list := make([]session.StoredMessage, len(file.Messages))
	for i, m := range file.Messages {
		list[i] = session.StoredMessage{Message: m, Superseded: gone[m.ID]}
	}
	return list
}

// Search is what plugins that may can search: what a file has, and what earlier returns,
// which is asked when a plugin first searches, and again where that failed.
func Search(
	has func() []session.StoredMessage, earlier func(context.Context) ([]session.StoredMessage, error),
) abi.Search {
	var mu sync.Mutex
	var stored []session.StoredMessage
	return func(ctx context.Context, r abi.SearchRequest) (abi.SearchResponse, error) {
		mu.Lock()
		defer mu.Unlock()
		if has != nil {
			stored, has = has(), nil
		}
		if earlier != nil {
			gone, err := earlier(ctx)
			if err != nil {
				return abi.SearchResponse{}, err
			}
			stored, earlier = append(stored, gone...), nil
		}
		return abi.SearchResponse{Found: session.Recall(stored, session.RecallQuery{Text: r.Query, Limit: r.Limit})}, nil
	}
}

// Lost is [session.Lost] of a stored session. A compaction that it does not have is an error, as [Compaction] says.
func Lost(
	ctx context.Context, s *store.Store, key, compaction string, grep *regexp.Regexp,
) ([]session.Loss, error) {
	if compaction != "" {
		if _, err := Compaction(ctx, s, key, compaction); err != nil {
			return nil, err
		}
	}
	all, err := s.Messages(ctx, key, store.MessageQuery{Superseded: true})
	if err != nil {
		return nil, err
	}
	list := session.Lost(ctx, all, compaction, grep)
	return list, ctx.Err()
}
