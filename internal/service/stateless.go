package service

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/jsonlex"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/plainjson"
	"github.com/kagewasm/kagewasm/internal/record"
	"github.com/kagewasm/kagewasm/internal/turnend"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/transcript"
)

// Once is a session that is compacted and not kept open: a list of messages, a request
// body, or a file, in any known form.
type Once struct {
	Manual
	// Messages is the session: JSON of one of the formats, or a file's text as a string.
	Messages json.RawMessage `json:"messages"`
	Format   string          `json:"format,omitempty"`
	To       string          `json:"to,omitempty"`
	// Name stands for the session in errors and in the store, such as the file's path.
	Name   string `json:"name,omitempty"`
	ID     string `json:"id,omitempty"`
	Model  string `json:"model,omitempty"`
	Window int    `json:"context_window,omitempty"`
	// Overhead is what the request costs beside its messages, in tokens.
	Overhead int  `json:"overhead_tokens,omitempty"`
	Force    bool `json:"force,omitempty"`
	// Recall says in one line how the model can read what went; the note tells it.
	Recall string `json:"recall,omitempty"`
	// Plug is the plug that asks, as kagewasm install named it, and PlugVersion the kagewasm that it was written by: its
	// settings hold.
	Plug        string `json:"plug,omitempty" doc:"the plug that asks: what kagewasm install set for it holds"`
	PlugVersion string `json:"plug_version,omitempty" doc:"the kagewasm that wrote the plug; another one is refused"`
	// Record keeps the session and what became of it in the store, for undo and lost.
	Record bool `json:"record,omitempty"`
	// Reason is who asked: manual, agent, plugin, for what a plugin wanted at the end of a turn, or threshold where nobody
	// did. The default is manual with Force, Target or Instructions, else threshold.
	Reason abi.TriggerReason `json:"reason,omitempty" doc:"who asked: manual, agent or plugin, or threshold where nobody did"`
}

// Made is what came of one: messages in the form that they came in, and the report.
type Made struct {
	Messages json.RawMessage  `json:"messages"`
	Report   *kagewasm.Report `json:"report"`
	// Record is what a dry run would keep.
	Record *abi.Record `json:"record,omitempty"`
	// Session is the key under which it is recorded.
	Session string `json:"session,omitempty"`
	// Pending is the compaction that waits for a decision where it is recorded.
	Pending string `json:"pending,omitempty"`
	// RecordError says why nothing was recorded, though the compaction is done.
	RecordError string `json:"record_error,omitempty"`
}

// CompactOnce compacts a session that the caller keeps. What a person asks for is refused while a turn or a call of
// the stored session runs, as with Compact.
func (s *compactions) CompactOnce(ctx context.Context, in Once) (*Made, error) {
	o, err := s.once(ctx, &in, nil)
	if err != nil {
		return nil, err
	}
	if o.req.Trigger() == abi.TriggerManual {
		if key, open, err := s.running(ctx, o.run); err != nil {
			return nil, err
		} else if open != nil {
			return nil, turnRuns(key, open)
		}
	}
	if o.run.Result, err = o.agent.Compactor.Compact(ctx, o.req); o.run.Result == nil ||
		err != nil && abi.CodeOf(err) != abi.CodeExceedsWindow {
		return nil, err
	}
	if err := o.run.Result.Settle(ctx); err != nil {
		return nil, err
	}
	return s.made(ctx, &in, o.doc, o.run)
}

// EndTurnOnce tells plugins that a turn of a session has ended that the caller keeps. It compacts nothing: the caller
// starts what is wanted, by what plugins ask for now, and by what they asked for in compactions of the turn that are
// recorded. Where no plugin hears of it or may ask the messages are not read.
func (s *compactions) EndTurnOnce(ctx context.Context, in Once) (*turnend.Ended, error) {
	var plugins []hooks.Plugin
	o, err := s.once(ctx, &in, func(a *Agent) bool {
		plugins = a.Compactor.Options().Plugins
		return turnend.Heard(plugins) || turnend.Held(plugins)
	})
	ended := &turnend.Ended{}
	if err != nil || o.agent == nil {
		return ended, err
	}
	ctx = context.WithoutCancel(ctx) // an agent that leaves when its turn is over does not take it from plugins
	if turnend.Heard(plugins) {
		turn, err := o.agent.Compactor.TurnEnd(ctx, o.req)
		if err != nil {
			return nil, err
		}
		ended = turnend.Of(turn)
	}
	ended.Listening = true
	if in.Record && turnend.Held(plugins) {
		held, err := o.run.Held(ctx, s.store)
		if err != nil {
			return nil, err
		}
		ended.Wants(held)
	}
	return ended, nil
}

// once is a session that the caller keeps, and what its compactor is asked.
type once struct {
	doc   *document
	run   *record.Run
	agent *Agent
	req   kagewasm.Request
}

// once reads a session. Where the agent is known and not wanted, nothing is read.
func (s *compactions) once(ctx context.Context, in *Once, wanted func(*Agent) bool) (o once, err error) {
	if r := in.Reason; r != "" && !slices.Contains(record.Reasons, r) {
		return o, usage("compact", "reason "+string(r)+": known are "+strings.Join(lists.Strings(record.Reasons), ", "))
	}
	path := ""
	if in.Agent != nil {
		path = *in.Agent
	}
	host := s.host
	if in.Plug != "" {
		if host, err = s.host.Plug(in.Plug, in.PlugVersion); err != nil {
			return o, err
		}
	}
	if wanted != nil {
		a, err := host.Agent(ctx, path, in.Model)
		if err != nil || !wanted(a) {
			return o, err
		}
	}
	if o.doc, err = documentOf("compact", in.Messages, transcript.Format(in.Format)); err != nil {
		return o, err
	}
	file, err := transcript.ReadContext(ctx, cmp.Or(in.Name, "messages"), o.doc.data, o.doc.format)
	if err != nil {
		return o, err
	}
	all := *file
	file.ID, file.Messages = cmp.Or(in.ID, file.ID), file.Live()
	in.Model = cmp.Or(in.Model, file.Model)
	if o.agent, err = host.Agent(ctx, path, in.Model); err != nil {
		return o, err
	}
	o.run = &record.Run{Path: in.Name, Data: o.doc.data, File: file, Session: abi.Session{ID: record.ID(file),
		AgentPath: path, Model: o.agent.Model.Name(), ContextWindow: o.agent.Window}}
	if o.req, err = s.request(ctx, in, host, o.agent, o.run); err == nil {
		o.run.Begin(&o.req)
		if in.Record && record.LackFiles(o.req.Messages) {
			o.req.Messages, err = o.run.Files(ctx, s.store, o.req.Messages)
		}
	}
	has := func() []session.StoredMessage { return record.Stored(&all) }
	o.req.Search = record.Search(has, func(ctx context.Context) ([]session.StoredMessage, error) {
		if !in.Record {
			return nil, nil
		}
		return o.run.Earlier(ctx, s.store)
	})
	return o, err
}

// request is what the compactor is asked.
func (s *compactions) request(
	ctx context.Context, in *Once, host Host, agent *Agent, run *record.Run,
) (req kagewasm.Request, err error) {
	prompt := ""
	if in.Prompt != "" {
		if prompt, err = host.Prompt(in.Prompt); err != nil {
			return req, err
		}
	}
	tools, err := agent.Tools(ctx, run.File.Tools)
	if err != nil {
		return req, err
	}
	if in.Window > 0 {
		run.Session.ContextWindow = &in.Window
	}
	return kagewasm.Request{Session: run.Session, Messages: run.File.Messages, Overhead: tools + in.Overhead,
		Force: in.Force || in.Target != nil, Reason: in.Reason, Target: in.Target, Overrides: in.overrides(prompt),
		DryRun: in.DryRun, Instructions: in.Instructions, Release: in.Release, Recall: in.Recall, Sent: new(kagewasm.Sent),
		Audit: func(e kagewasm.Event) { run.Events = append(run.Events, e) }}, nil
}

// made writes the result in the form that the session came in, and records it.
func (s *compactions) made(ctx context.Context, in *Once, doc *document, run *record.Run) (out *Made, err error) {
	out = &Made{Report: &run.Result.Report}
	if in.DryRun {
		out.Record = run.Result.Record
	} else {
		for _, e := range run.Events {
			s.totals.add(e)
		}
	}
	out.Report.Metrics.InexactCount = true
	data, err := run.File.Encode(run.Result.Messages, transcript.Format(in.To))
	if err != nil {
		return nil, err
	}
	to := transcript.Format(in.To)
	if to == "" || to == transcript.Same {
		to = run.File.Format
	} else if to != run.File.Format {
		written, err := transcript.ReadContext(ctx, "the result", data, to)
		if err != nil {
			return nil, err
		}
		out.Report.LeftOut = transcript.LeftOut(run.Result.Messages, written)
	}
	if out.Messages, err = doc.write(data, to); err != nil || !in.Record || in.DryRun {
		return out, err
	}
	kept, err := run.Keep(ctx, s.store, keepOf(&s.opts))
	if err != nil {
		out.RecordError = err.Error()
		s.opts.Log.WarnContext(ctx, "a compaction is done and not recorded", "session", run.Session.ID, "error", err)
		return out, nil
	}
	out.Session = kept.Key
	for _, e := range run.Events {
		s.hub.publish(eventOf(e))
	}
	if p := run.Waits(); p != nil {
		out.Pending = p.Record.ID
	}
	return out, nil
}

// document is a session in the form that a request has it in.
type document struct {
	data   []byte
	format transcript.Format
	text   bool // it came as a string
	lines  bool // neutral messages came as a list
}

// documentOf makes a file of what a request has.
func documentOf(op string, raw json.RawMessage, format transcript.Format) (*document, error) {
	d := &document{format: format}
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil, usage(op, "no messages: give a list, a request body, or a file's text as a string")
	case raw[0] == '"':
		var text string
		if err := json.Unmarshal(raw, &text); err != nil {
			return nil, &abi.Error{Code: abi.CodeBadInput, Op: op, Message: "messages: " + err.Error(), Err: err}
		}
		d.data, d.text = []byte(text), true
	case raw[0] == '[' && format == transcript.Neutral:
		d.data, d.lines = linesOf(raw), true
	default:
		d.data = raw
	}
	return d, nil
}

// linesOf writes each element of a list as a line. The list was decoded, so it is sound.
func linesOf(list []byte) []byte {
	list = list[1 : len(list)-1]
	lines := make([]byte, 0, len(list)+1)
	depth := 0
	for i := 0; i < len(list); i++ {
		c := list[i]
		switch c {
		case ' ', '\t', '\n', '\r':
			continue
		case '"':
			end, _ := jsonlex.Text(list, i)
			lines = append(lines, list[i:end-1]...)
			i = end - 1
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case ',':
			if depth == 0 {
				c = '\n'
			}
		}
		lines = append(lines, c)
	}
	if len(lines) > 0 {
		lines = append(lines, '\n')
	}
	return lines
}

// write gives a file the form that the document had. One in a format of lines that came
// as JSON of another format is a string.
func (d *document) write(data []byte, format transcript.Format) (json.RawMessage, error) {
	switch {
	case d.text:
	case format == transcript.Neutral:
		lines := slices.DeleteFunc(bytes.Split(data, []byte("\n")), func(l []byte) bool { return len(l) == 0 })
		return slices.Concat([]byte("["), bytes.Join(lines, []byte(",")), []byte("]")), nil
	case json.Valid(data):
		return data, nil
	}
	return plainjson.Marshal(string(data))
}
