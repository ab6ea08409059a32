package service

import (
	"cmp"
	"context"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/record"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/transcript"
)

// File is a session's log.
type File struct {
	Name   string
	Data   []byte
	Format string // default found out
	Model  string // default the file's
	Agent  string
}

// Import takes a session's log into the store, and does not compact it. A log that is
// there already goes on: what it has more is added.
func (s *sessions) Import(ctx context.Context, f File) (*store.Session, error) {
	file, err := transcript.ReadContext(ctx, f.Name, f.Data, transcript.Format(f.Format))
	if err != nil {
		return nil, err
	}
	file.Messages = file.Live()
	agent, err := s.host.Agent(ctx, f.Agent, cmp.Or(f.Model, file.Model))
	if err != nil {
		return nil, err
	}
	counted, counter := 0, agent.Compactor.Options().Counter
	for i := range file.Messages {
		counted += counter.Message(&file.Messages[i])
	}
	run := &record.Run{Path: f.Name, Data: f.Data, File: file, Session: abi.Session{ID: record.ID(file),
		AgentPath: f.Agent,
		Model:     agent.Model.Name(), ContextWindow: agent.Window},
		Result: &kagewasm.Result{Messages: file.Messages, Report: kagewasm.Report{TokensAfter: counted}}}
	kept, err := run.Keep(ctx, s.store, keepOf(&s.opts))
	if err != nil {
		return nil, err
	}
	row, err := s.Session(ctx, kept.Key)
	if err == nil {
		s.hub.publish(Event{Type: EventAppended, Time: row.Updated, Session: row.Key, Version: row.Version})
	}
	return row, err
}

// keepOf is how much the store holds at most.
func keepOf(o *Options) int64 {
	if o.Keep > 0 {
		return o.Keep
	}
	return 1 << 62
}
