package toolserver

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

type recallArguments struct {
	which
	Query   string `json:"query,omitempty" jsonschema:"what to look for: exact names, paths, error texts"`
	Message string `json:"message,omitempty" jsonschema:"instead of query: id of the message to read"`
	From    int    `json:"from,omitempty" jsonschema:"byte of the message to read on from"`
	Limit   int    `json:"limit,omitempty" jsonschema:"results of a query, 1 to 20, default 5"`
}

func (s *server) recall(ctx context.Context, by caller, in recallArguments) (string, error) {
	if (in.Query == "") == (in.Message == "") {
		return "", usage("give query, or message")
	}
	return s.on(ctx, by, in.which, func(st *store.Store, one *store.Session, took string) (string, error) {
		all, err := st.Messages(ctx, one.Key, store.MessageQuery{Superseded: true})
		if err != nil {
			return "", err
		}
		if in.Message == "" {
			text, err := s.search(one.Key, all, in)
			return took + text, err
		}
		for i := range all {
			if all[i].ID == in.Message {
				return took + s.tools.Message(&all[i], in.From), nil
			}
		}
		return "", usage("message %q: session %q has none of that id: a query shows ids beside what it finds", in.Message,
			one.Key)
	})
}

// search answers as the tool recall does that programs in Go give to their agents.
func (s *server) search(key string, all []session.StoredMessage, in recallArguments) (string, error) {
	arguments := map[string]any{"query": in.Query}
	if in.Limit != 0 {
		arguments["limit"] = in.Limit
	}
	data, err := json.Marshal(arguments)
	if err != nil {
		return "", err
	}
	text, _, err := s.tools.Answer(s.indexOf(key).with(all), "recall", string(data))
	return text, err
}

// indexed is a session whose index is kept for the next search.
type indexed struct {
	key string
	session.RecallIndex
}

func (s *server) indexOf(key string) *indexed {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.index == nil || s.index.key != key {
		s.index = &indexed{key: key}
	}
	return s.index
}

// searched is a session as [session.Tools] looks at it.
type searched struct {
	*indexed
	all []session.StoredMessage
}

func (x *indexed) with(all []session.StoredMessage) searched { return searched{x, all} }

func (h searched) All() []session.StoredMessage { return h.all }

// Request is for the tool compact, which is none of those here.
func (searched) Request(hooks.Wish) {}

func usage(format string, args ...any) error {
	return &abi.Error{Code: abi.CodeUsage, Message: fmt.Sprintf(format, args...)}
}
