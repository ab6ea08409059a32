package toolserver

import (
	"context"
	"regexp"

	"github.com/kagewasm/kagewasm/internal/record"
	"github.com/kagewasm/kagewasm/store"
)

type lostArguments struct {
	which
	Grep       string `json:"grep,omitempty" jsonschema:"only where this regular expression is in the text or its whole message"`
	Compaction string `json:"compaction,omitempty" jsonschema:"only what the compaction of this id took away"`
}

func (s *server) lost(ctx context.Context, by caller, in lostArguments) (string, error) {
	pattern, err := regexp.Compile(in.Grep)
	if err != nil {
		return "", usage("grep: %v", err)
	}
	return s.on(ctx, by, in.which, func(st *store.Store, one *store.Session, took string) (string, error) {
		list, err := record.Lost(ctx, st, one.Key, in.Compaction, pattern)
		if err != nil {
			return "", err
		}
		if len(list) == 0 {
			return took + "Nothing of that kind went.", nil
		}
		return took + s.tools.Losses(list), nil
	})
}
