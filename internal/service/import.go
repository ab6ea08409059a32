package service

import (
	"cmp"
	"context"
	"encoding/json"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/record"
	"github.com/kagewasm/kagewasm/internal/turns"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/transcript"
)

// File is a session's log.
type File struct {
	Name   string
	Data   []byte
	Format string // default found out
	ID     string // default the file's
	Model  string // default the file's
	Window int    // default the model's
	Agent  string
}

// Log is a session's log in a request.
type Log struct {
	// Messages is the log: JSON of one of the formats, or a file's text as a string.
	Messages json.RawMessage `json:"messages" doc:"JSON of one of the formats, or a file's text as a string"`
	Format   string          `json:"format,omitempty" doc:"the log's; found out where it is left out"`
	// Name stands for the log in errors and in the store, such as the file's path.
	Name   string `json:"name,omitempty" doc:"where the log comes from, such as its file"`
	ID     string `json:"id,omitempty" doc:"the session's name; default the log's own"`
	Agent  string `json:"agent,omitempty" doc:"the agent's path in the configuration, such as main/reviewer"`
	Model  string `json:"model,omitempty" doc:"the model's name or alias; default the log's"`
	Window int    `json:"context_window,omitempty" minimum:"0" doc:"the model's window in tokens; default what is known of it"`
}

// ImportLog is Import of a log that stands in a request.
func (s *sessions) ImportLog(ctx context.Context, in Log) (*store.Session, error) {
	if in.Window < 0 {
		return nil, usage("import", "context_window is below 0")
	}
	for _, name := range []string{in.ID, in.Agent} {
		if err := checkName(name); err != nil {
			return nil, err
		}
	}
	doc, err := documentOf("import", in.Messages, transcript.Format(in.Format))
	if err != nil {
		return nil, err
	}
	return s.Import(ctx, File{Name: in.Name, Data: doc.data, Format: in.Format, ID: in.ID, Model: in.Model,
		Window: in.Window, Agent: in.Agent})
}

// Import takes a session's log into the store, and does not compact it. A log that is
// there already goes on: what it has more is added. While a turn or a call of it runs that fails with the code busy.
func (s *sessions) Import(ctx context.Context, f File) (*store.Session, error) {
	file, err := transcript.ReadContext(ctx, cmp.Or(f.Name, "messages"), f.Data, transcript.Format(f.Format))
	if err != nil {
		return nil, err
	}
	file.ID, file.Messages = cmp.Or(f.ID, file.ID), file.Live()
	agent, err := s.host.Agent(ctx, f.Agent, cmp.Or(f.Model, file.Model))
	if err != nil {
		return nil, err
	}
	counted, counter := 0, agent.Compactor.Options().Counter
	for i := range file.Messages {
		counted += counter.Message(&file.Messages[i])
	}
	run := &record.Run{Path: f.Name, Data: f.Data, File: file, Session: abi.Session{ID: record.ID(file),
		AgentPath: f.Agent, Model: agent.Model.Name(), ContextWindow: agent.Window},
		Result: &kagewasm.Result{Messages: file.Messages, Report: kagewasm.Report{TokensAfter: counted}}}
	if f.Window > 0 {
		run.Session.ContextWindow = &f.Window
	}
	if key, open, err := (&compactions{s.core}).running(ctx, run); err != nil {
		return nil, err
	} else if open != nil { // and may work with what the log does not have
		return nil, turns.Busy("import", key, "import the log when it has ended", *open)
	}
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
