package kagewasm

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// Report is what one look at a session found and did. It is the JSON document
// of `kagewasm compact --report`.
type Report struct {
	// Compacted is whether messages were superseded.
	Compacted bool `json:"compacted"`
	// Reason is ReasonCode in words, with the figures.
	Reason     string         `json:"reason"`
	ReasonCode abi.ReasonCode `json:"reason_code"`
	// Strategy is who made the plan: a strategy's name, "delegate" for a compactor plugin's plan, or
	// empty where there is none. Source names the strategy, model or plugin itself.
	Strategy string      `json:"strategy"`
	Source   *abi.Source `json:"source,omitempty"`
	// Fallback reports whether a plan of another strategy or of a plugin was to be used, and failed.
	Fallback bool `json:"fallback"`
	// Failures is the whole chain of failures, in order.
	Failures []*abi.Error `json:"failures"`

	// Window is the context window that was used, in counted tokens. ContextWindow is what is known of
	// the model's own, null where nothing is.
	Window        int    `json:"window"`
	ContextWindow *int   `json:"context_window"`
	Model         string `json:"model,omitempty"`
	// Scale is how many tokens of the model stand for one that is counted; nil where they
	// are the same. Window is in counted ones, ContextWindow in the model's.
	Scale *Scale  `json:"scale,omitempty"`
	Upper float64 `json:"upper"`
	Lower float64 `json:"lower"`
	// Target is what the request had to come down to, in tokens.
	Target int  `json:"target"`
	DryRun bool `json:"dry_run,omitempty"`

	// TokensBefore is what the request cost as it came, before pruning.
	TokensBefore   int `json:"tokens_before"`
	TokensAfter    int `json:"tokens_after"`
	MessagesBefore int `json:"messages_before"`
	MessagesAfter  int `json:"messages_after"`

	// Superseded, Kept, Pinned and Inserted are message ids, in session order.
	Superseded []string `json:"superseded"`
	Kept       []string `json:"kept"`
	Inserted   []string `json:"inserted"`
	Pinned     []string `json:"pinned"`
	// FirstKept is the id of the first message that stays behind the note, empty where none does.
	FirstKept string `json:"first_kept,omitempty"`
	// Files are the files that were read and modified in what is superseded.
	Files *abi.Files `json:"files,omitempty"`
	// Focus says what the host's note made of the instructions of the request; nil where
	// there were none. A model and plugins are given them as well.
	Focus *note.Focus `json:"focus,omitempty"`
	// Edited are the ids of messages in which a plan shortened tool output or arguments. Pruned lists
	// them too.
	Edited []string `json:"edited,omitempty"`

	// Summary is the text that stands for the superseded messages, without its frame.
	Summary string `json:"summary"`
	// AuditSummary is the summary that a compactor plugin returned beside a list of
	// messages, for people to read. No model is shown it.
	AuditSummary string `json:"audit_summary,omitempty"`
	Pruned       Pruned `json:"pruned"`
	// Hooks has an entry for each call of a plugin.
	Hooks []hooks.Outcome `json:"hooks"`
	// Retained are the facts that plugins asked to keep and that are stored. Where there is no Memory,
	// and in a dry run, it is all they asked for.
	Retained []hooks.Fact `json:"retained,omitempty"`
	// Wishes are the compactions that plugins asked for while this one ran: see [Request].Asked.
	Wishes []hooks.Wish `json:"wishes,omitempty"`
	// Cost is the compactor's own, apart from the agent's.
	Cost    Cost    `json:"cost"`
	Metrics Metrics `json:"metrics"`
	// Receipt weighs what the compaction costs against what it saves, also of one
	// that was too dear or not put in place; nil where there was none.
	Receipt *abi.Receipt `json:"receipt,omitempty"`
	// LeftOut lists what the format of the result has no place for. The host sets
	// it: the engine writes no files.
	LeftOut []string `json:"left_out,omitempty"`
	// Warning says what a person should do: about a session that does not fit
	// though everything went that may go, about one that nearly fills the window
	// with what may not go, or about thinking that the model's provider does not
	// take where it stands now.
	Warning string `json:"warning,omitempty"`
}

// Scale says how many tokens of a model stand for one that is counted. Windows and thresholds are
// converted to counted tokens by it. Everything else in a report is in counted tokens already.
type Scale struct {
	Factor float64 `json:"factor"`
	// Calls is how many requests, as their provider counted them, corrected the published scale; 0
	// where none did.
	Calls int `json:"calls,omitempty"`
}

// Tokens converts counted tokens to the model's. A nil Scale leaves them as they are.
func (s *Scale) Tokens(counted int) int {
	if s == nil {
		return counted
	}
	return int(float64(counted) * s.Factor)
}

// reported returns the scale as reports have it.
func (s Scale) reported() *Scale {
	if s.Factor == 1 {
		return nil
	}
	return &s
}

// Pruned says what trimming and pruning did.
type Pruned struct {
	Count       int      `json:"count"`
	TokensSaved int      `json:"tokens_saved"`
	IDs         []string `json:"ids"`
	// Removed are the ids of messages that were left out: duplicate synthetic messages.
	Removed []string `json:"removed,omitempty"`
	// Calls are the ids of messages in which the arguments of calls were shortened.
	Calls []string `json:"calls,omitempty"`
	// Thinking are the ids of messages that lost what the model thought.
	Thinking []string `json:"thinking,omitempty"`
	// Words are the ids of messages that a person or the agent wrote and that left no room for anything else.
	// Their beginning and end are left, with a mark between that says where the rest is.
	Words []string `json:"words,omitempty"`
}

// Cost is what the models of a compaction cost, in US dollars, apart from what the agent itself costs.
type Cost struct {
	// Compactor is all of it: of the model that wrote the summary, and of those that plugins asked, which
	// the report's Hooks name.
	Compactor float64 `json:"compactor"`
	// Model wrote the summary, and Usage is what its calls took, failed ones too. Both are empty where
	// no model was asked. PriceUnknown is set where nothing says what the calls cost.
	Model        string          `json:"model,omitempty"`
	Usage        *abi.ModelUsage `json:"usage,omitempty"`
	PriceUnknown bool            `json:"price_unknown,omitempty"`
}

// Metrics say how good a compaction was, as far as that can be known when it is made. After how many
// the session goes on, and needs nothing that is gone, is measured in replays of recorded sessions.
type Metrics struct {
	// CompressionRatio is tokens before over tokens after.
	CompressionRatio float64 `json:"compression_ratio"`
	// NoteTokens is what the host says in the note beside a summary, in tokens.
	NoteTokens int `json:"note_tokens"`
	// WordsKept is the share of what persons wrote in the superseded messages, in
	// bytes, that the note has word for word and whole; 1 where they wrote
	// nothing.
	WordsKept float64 `json:"words_kept"`
	// FailuresGone is how many different failed calls are in what is superseded, FailuresTold how many of them
	// the note has word for word, with the line that says what went wrong at least, and FailureRetention the
	// share; 1 where there were none.
	FailuresGone     int     `json:"failures_gone"`
	FailuresTold     int     `json:"failures_told"`
	FailureRetention float64 `json:"failure_retention"`
	// Completeness is the share of the sections asked for that the model filled or marked empty; 1
	// where no model wrote a summary. MissingSections are the others.
	Completeness    float64  `json:"completeness"`
	MissingSections []string `json:"missing_sections,omitempty"`
	// Redacted is how many secrets are marked as taken out in what was inserted.
	Redacted int `json:"redacted,omitempty"`
	// Cache says how much of the previous request a provider's cache can
	// still serve.
	Cache Cache `json:"cache"`
	// InexactCount says that the token counts are an estimate. The host sets it:
	// the engine takes the counts of its counter as they are.
	InexactCount bool `json:"inexact_count,omitempty"`
	// MS is the wall clock of the whole pipeline, in milliseconds.
	MS float64 `json:"ms"`
}

// EventType names an audit event.
type EventType string

const (
	EventTriggered EventType = "compaction.triggered"
	EventCompleted EventType = "compaction.completed"
	EventFailed    EventType = "compaction.failed"
	EventNoop      EventType = "compaction.noop"
	// EventFlagged: the operator judged a compaction. The program that keeps its record notes it.
	EventFlagged EventType = "compaction.flagged"
	// EventObserved: plugins that a compaction did not wait for have ended, or asked a model at the end of
	// a turn, where no compaction is named. Hooks, Retained and Failures of its report say what they answered.
	EventObserved EventType = "compaction.observed"
)

// Event is one entry for the audit log. A compaction that ran has a triggered
// event and one that says how it ended, with the whole chain of failures in
// its report; a look that found nothing to do has none.
type Event struct {
	Type    EventType   `json:"type"`
	Time    string      `json:"time"`
	Session abi.Session `json:"session"`
	// Compaction is the id of the compaction's record, empty where there is none.
	Compaction string            `json:"compaction,omitempty"`
	Trigger    abi.TriggerReason `json:"trigger"`
	// Strategy is the configured one in a triggered event.
	Strategy string `json:"strategy"`
	// Given is what the compaction is made of, in a triggered event.
	Given *Given `json:"given,omitempty"`
	// Report says how the compaction ended; nil in a triggered event.
	Report *Report `json:"report,omitempty"`
	// Heard are the answers of the model that wrote the summary, in an event of an end.
	Heard []Heard `json:"heard,omitempty"`
	// Said are the answers of the plugins that were asked for a plan, in an event of an end.
	Said []Heard `json:"said,omitempty"`
	// Error is what Compact returned, nil where it returned none.
	Error *abi.Error `json:"error,omitempty"`
}

// Heard is what a model or a plugin answered.
type Heard struct {
	// Request is the SHA-256 of what a model was asked, as JSON.
	Request  string             `json:"request,omitempty"`
	Response *abi.ModelResponse `json:"response,omitempty"`
	Error    *abi.Error         `json:"error,omitempty"`
	// Plugin is the manifest of a plugin, Digest that of its module, and Granted what it is granted. It
	// answered a call of Hook with Output.
	Plugin  *abi.Manifest    `json:"plugin,omitempty"`
	Digest  string           `json:"digest,omitempty"`
	Granted []abi.Capability `json:"granted,omitempty"`
	Hook    abi.Hook         `json:"hook,omitempty"`
	Output  json.RawMessage  `json:"output,omitempty"`
	// Record is what the call depended on beside its input: knobs, limits and the answers to its host
	// calls, as far as they fit. With it the call can be made again. Stored records have it under its
	// first name, tape.
	Record json.RawMessage `json:"tape,omitempty"`

	asked string // the model's name, as it was asked for
	begun time.Time
	took  time.Duration
}

// hearing is a model whose answers are kept.
type hearing struct {
	abi.Model
	mu   sync.Mutex
	list []Heard
}

// Complete implements abi.Model.
func (h *hearing) Complete(ctx context.Context, req abi.ModelRequest) (abi.ModelResponse, error) {
	begun := time.Now()
	resp, err := h.Model.Complete(ctx, req)
	one := Heard{Request: digestOf(req), asked: req.Model, begun: begun, took: time.Since(begun)}
	if err != nil {
		one.Error = abi.AsError(err)
	}
	if err == nil || resp != (abi.ModelResponse{}) { // a failed call may say which model it was, and what it took
		one.Response = &resp
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, one)
	return resp, err
}

func (h *hearing) heard() []Heard {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.list)
}

// heardBy returns the answers of models and plugins in a compaction. For one that waited, they are
// those from when it was made.
func heardBy(l *look, result *Result) (heard, said []Heard) {
	heard, said = l.hearing.heard(), l.said.heard()
	if result != nil && len(heard)+len(said) == 0 {
		return result.Heard, result.Said
	}
	return heard, said
}

// To reports whether this is the answer to a request.
func (h *Heard) To(req abi.ModelRequest) bool { return h.Request == digestOf(req) }

func digestOf(req abi.ModelRequest) string {
	text, _ := json.Marshal(req) // which is texts and numbers
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// saying keeps what plugins answer in a compaction, so that it can be made again.
type saying struct {
	mu   sync.Mutex
	list []Heard
}

type sayingKey struct{}

// in returns a context in which the answers of plugins are kept.
func (s *saying) in(ctx context.Context) context.Context {
	if s == nil {
		return ctx
	}
	return context.WithValue(ctx, sayingKey{}, s)
}

func (s *saying) heard() []Heard {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.list)
}

// Span is a compaction, a call of a plugin's hook or one of a model, as OpenTelemetry's
// conventions for generative AI have it. Nothing that was said is in it.
type Span struct {
	// ID tells the span from others. Parent is the ID of the compaction that it is part of, empty for
	// the compaction itself.
	ID, Parent string
	Name       string
	// Client: a model was called. Otherwise the work is the host's own.
	Client     bool
	Start, End time.Time
	// Attributes are strings, numbers and booleans by their names in the conventions, such as
	// gen_ai.conversation.id and gen_ai.conversation.compacted. The project's own names begin with
	// kagewasm.
	Attributes map[string]any
	// Error is the code of the error, empty where there was none.
	Error abi.Code
}

// traced passes on the spans of a compaction: itself, and what was called in it.
func traced(ctx context.Context, l *look, result *Result, err error) {
	if l.opts.Spans == nil {
		return
	}
	s := &l.req.Session
	whole := Span{ID: rand.Text(), Name: "compact", Start: l.start, End: l.opts.Now(), Error: abi.CodeOf(err),
		Attributes: map[string]any{"gen_ai.operation.name": "compact", "gen_ai.conversation.id": s.ID,
			"gen_ai.conversation.compacted": false, "kagewasm.compaction.trigger": string(l.req.Reason)}}
	text := func(of map[string]any, name, value string) {
		if value != "" {
			of[name] = value
		}
	}
	text(whole.Attributes, "gen_ai.request.model", s.Model)
	text(whole.Attributes, "gen_ai.agent.id", s.AgentPath)
	if result != nil {
		r := &result.Report
		text(whole.Attributes, "kagewasm.compaction.strategy", r.Strategy)
		text(whole.Attributes, "kagewasm.compaction.reason_code", string(r.ReasonCode))
		maps.Copy(whole.Attributes, map[string]any{"gen_ai.conversation.compacted": r.Compacted,
			"kagewasm.compaction.dry_run": r.DryRun, "kagewasm.tokens.before": r.TokensBefore,
			"kagewasm.tokens.after": r.TokensAfter, "kagewasm.messages.superseded": len(r.Superseded),
			"kagewasm.messages.inserted": len(r.Inserted)})
		if result.Record != nil {
			whole.Attributes["kagewasm.compaction.id"] = result.Record.ID
		}
		for i := range r.Hooks {
			if h := &r.Hooks[i]; !h.Start.IsZero() {
				tracedHook(ctx, l, &whole, h)
			}
		}
	}
	for _, h := range l.hearing.heard() {
		of := map[string]any{"gen_ai.operation.name": "chat", "gen_ai.conversation.id": s.ID}
		text(of, "gen_ai.request.model", h.asked)
		one := Span{ID: rand.Text(), Parent: whole.ID, Name: strings.TrimSpace("chat " + h.asked), Client: true,
			Start: h.begun, End: h.begun.Add(h.took), Attributes: of}
		if h.Error != nil {
			one.Error = h.Error.Code
		}
		if h.Response != nil && h.Error == nil {
			text(of, "gen_ai.response.model", h.Response.Model)
			of["gen_ai.usage.input_tokens"], of["gen_ai.usage.output_tokens"] = h.Response.InputTokens, h.Response.OutputTokens
		}
		span(ctx, l, one)
	}
	span(ctx, l, whole)
}

func tracedHook(ctx context.Context, l *look, whole *Span, h *hooks.Outcome) {
	one := Span{ID: rand.Text(), Parent: whole.ID, Name: "plugin " + h.Plugin + " " + string(h.Hook), Start: h.Start,
		End: h.Start.Add(time.Duration(h.MS * float64(time.Millisecond))), Attributes: map[string]any{
			"gen_ai.conversation.id": l.req.Session.ID, "kagewasm.plugin.name": h.Plugin, "kagewasm.plugin.hook": string(h.Hook),
			"kagewasm.plugin.outcome": h.Outcome, "kagewasm.plugin.fuel": h.Fuel,
			"kagewasm.plugin.peak_memory_bytes": h.PeakMemoryBytes}}
	if h.Error != nil {
		one.Error = h.Error.Code
	}
	span(ctx, l, one)
}

// span passes a span on, with its error as the conventions have it.
func span(ctx context.Context, l *look, s Span) {
	if s.Error != "" {
		s.Attributes["error.type"] = string(s.Error)
	}
	l.opts.Spans(ctx, s)
}

func emit(o *Options, e Event) {
	if o.Audit != nil {
		o.Audit(e)
	}
}

func audit(l *look, t EventType, result *Result, err error) {
	e := Event{Type: t, Time: l.now, Session: l.req.Session, Trigger: l.req.Reason, Strategy: l.policy.Strategy}
	switch t {
	case EventTriggered:
		e.Given = givenTo(l)
	case EventCompleted, EventFailed, EventNoop:
		e.Heard, e.Said = heardBy(l, result)
	}
	if result != nil {
		e.Report = &result.Report
	}
	if result != nil && result.Record != nil {
		e.Compaction = result.Record.ID
	}
	if err != nil {
		e.Error = abi.AsError(err)
	}
	if l.req.Audit != nil {
		l.req.Audit(e)
		return
	}
	emit(l.opts, e)
}

// audited notes how a compaction ended. One that waits for the operator has not ended yet. One that
// could supersede nothing has not failed, even where the session does not fit: the error says that.
func audited(l *look, result *Result, err error) {
	switch {
	case result == nil:
		audit(l, EventFailed, nil, err)
	case result.Pending != nil:
	case result.Report.Compacted:
		audit(l, EventCompleted, result, err)
	case nothingWent(result.Report.ReasonCode) && abi.CodeOf(err) == abi.CodeExceedsWindow:
		audit(l, EventNoop, result, err)
	case err != nil, result.Report.ReasonCode == abi.ReasonFailed:
		audit(l, EventFailed, result, err)
	default:
		audit(l, EventNoop, result, nil)
	}
}

// nothingWent reports whether a compaction superseded nothing by itself: nothing failed, and nobody
// stopped it.
func nothingWent(code abi.ReasonCode) bool {
	return code == abi.ReasonNothingToSupersede || code == abi.ReasonNotWorthIt
}
