package record

import (
	"context"
	"sync"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/session"
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
