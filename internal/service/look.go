package service

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/record"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// all is every message of a session.
func (s *history) all(ctx context.Context, key string) ([]session.StoredMessage, error) {
	return (&sessions{s.core}).Messages(ctx, key, store.MessageQuery{Superseded: true})
}

// Lost lists what compactions took from the model's view, or one of them, the weightiest first, where
// grep, a regular expression, is in the text or its message.
func (s *history) Lost(ctx context.Context, key, grep, compaction string) ([]session.Loss, error) {
	pattern, err := regexp.Compile(grep)
	if err != nil {
		return nil, usage("lost", "grep: "+err.Error())
	}
	if _, err := s.store.Session(ctx, key); err != nil {
		return nil, err
	}
	return record.Lost(ctx, s.store, key, compaction, pattern)
}

// Search finds passages for a person, in all messages.
func (s *history) Search(ctx context.Context, key string, q session.RecallQuery) ([]session.Recalled, error) {
	all, err := s.all(ctx, key)
	if err != nil {
		return nil, err
	}
	return session.Passages(all, q), nil
}

// Recall finds what was superseded, for an agent. It is denied where Options.Recall is off.
func (s *history) Recall(ctx context.Context, key string, q session.RecallQuery) ([]session.Recalled, error) {
	if !s.opts.Recall {
		return nil, &abi.Error{Code: abi.CodeDenied, Op: "recall", Message: "agents may not search what was superseded here",
			Hint: "start the server with --recall"}
	}
	all, err := s.all(ctx, key)
	if err != nil {
		return nil, err
	}
	return session.Recall(all, q), nil
}

// Stats are the figures of the compactions of a session, or of all where key is empty.
func (s *operator) Stats(ctx context.Context, key string) (*store.Stats, error) {
	if key != "" {
		if _, err := s.store.Session(ctx, key); err != nil {
			return nil, err
		}
	}
	return s.store.Stats(ctx, key)
}

// Audit are entries of the log behind a number, oldest first, those of a session or all,
// and the number to go on behind, 0 where these are the last.
func (s *operator) Audit(ctx context.Context, key string, after, limit int) (list []store.Audited, next int,
	err error) {
	enough := errors.New("enough")
	err = s.store.Audit(ctx, key, after, func(a store.Audited) error {
		if len(list) == limit {
			return enough
		}
		list = append(list, a)
		return nil
	})
	if !errors.Is(err, enough) {
		return list, 0, err
	}
	var last store.AuditEntry
	err = json.Unmarshal(list[limit-1].Entry, &last)
	return list, last.Seq, err
}

// VerifyAudit names every entry of the log that is not as it was written.
func (s *operator) VerifyAudit(ctx context.Context) (*store.AuditReport, error) {
	return s.store.VerifyAudit(ctx)
}

// Models are the aliases of models.
func (s *operator) Models() []Model { return s.host.Models() }

// Agents are the paths of the agents that the configuration knows.
func (s *operator) Agents() []string { return s.host.Agents() }
