package ui

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/store"
)

// sessionData is the page of a session.
type sessionData struct {
	Row    *store.Session
	Gauge  *gauge
	Chart  *chart
	Stats  *figures
	Events []event
	// Plugins take part in its compactions, the compactor first.
	Plugins  []string
	Messages *messageList
	// CanRedo: the last thing that happened is an undo.
	CanRedo bool
	// AgentError says why nothing is known of the session's agent.
	AgentError string
}

// nameOf is what a person knows a session by: the file that it comes from, else its id.
func nameOf(row *store.Session) string { return cmp.Or(fileName(row.Source), row.ID) }

// fileName is the last part of a path of any system.
func fileName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

func (p sessionPages) session(r *http.Request) (*view, error) {
	d, err := p.overview(r.Context(), r.PathValue("key"))
	if err != nil {
		return nil, err
	}
	if d.Messages, err = p.listOf(r, d.Row); err != nil {
		return nil, err
	}
	return &view{template: "session.html", title: nameOf(d.Row), data: d}, nil
}

func (p sessionPages) sessionOverview(r *http.Request) (*view, error) {
	d, err := p.overview(r.Context(), r.PathValue("key"))
	return &view{template: "session.html", block: "overview", data: d}, err
}

// overview is all of a session's page but its messages.
func (p sessionPages) overview(ctx context.Context, key string) (*sessionData, error) {
	row, err := p.s.Session(ctx, key)
	if err != nil {
		return nil, err
	}
	d := &sessionData{Row: row, Gauge: &gauge{Tokens: row.Tokens, Window: row.Window}}
	agent, err := p.s.Host().Agent(ctx, row.Agent, row.Model)
	if err == nil {
		d.Plugins = agent.Plugins
		d.Gauge, err = gaugeOf(row, agent)
	}
	if err != nil {
		d.AgentError = err.Error()
		d.Gauge = &gauge{Tokens: row.Tokens, Window: max(row.Window, 1)}
	}
	lines, err := p.s.Outline(ctx, key)
	if err != nil {
		return nil, err
	}
	records, err := p.s.Compactions(ctx, key)
	if err != nil {
		return nil, err
	}
	p.weigh(ctx, d, agent, lines, records)
	d.Chart = chartOf(lines, records, d.Gauge)
	stats, err := p.s.Stats(ctx, key)
	if err != nil {
		return nil, err
	}
	d.Stats = figuresOf(stats)
	if d.Events, err = p.events(ctx, row, records); err != nil {
		return nil, err
	}
	d.CanRedo = len(d.Events) > 0 && d.Events[0].Type == string(store.EventRolledBack)
	return d, nil
}

// maxWeighed is how long what the model sees may be to be counted while a reader waits, in
// bytes. Of more the page tells an estimate.
const maxWeighed = 1 << 20

// weigh says how many tokens the model sees where messages arrived since they were counted.
func (p sessionPages) weigh(
	ctx context.Context, d *sessionData, agent *service.Agent, lines []store.Line, records []store.Record,
) {
	counted, seen, since := 0, 0, 0
	for i := range records {
		if records[i].InForce {
			counted = records[i].Seq
		}
	}
	for _, l := range lines {
		if l.By == "" {
			seen += l.Bytes
			if l.Seq > counted {
				since += l.Bytes
			}
		}
	}
	if since == 0 || counted == 0 && d.Row.Tokens > 0 {
		return
	}
	if agent != nil && seen <= maxWeighed {
		if list, err := p.s.Messages(ctx, d.Row.Key, store.MessageQuery{}); err == nil {
			sum, counter := 0, agent.Compactor.Options().Counter
			for i := range list {
				sum += counter.Message(&list[i].Message)
			}
			d.Gauge.Tokens = max(d.Gauge.Tokens, sum)
			return
		}
	}
	if estimate := d.Row.Tokens + since/bytesPerToken; estimate > d.Gauge.Tokens {
		d.Gauge.Tokens, d.Gauge.Estimated = estimate, true
	}
}

// event is a line of a session's timeline.
type event struct {
	store.AuditEntry
	Type string
	// Record is the compaction, nil where it left none.
	Record *store.Record
}

// Words say what happened.
func (e *event) Words() string {
	switch kagewasm.EventType(e.Type) {
	case kagewasm.EventCompleted:
		return "Compacted"
	case kagewasm.EventNoop:
		return "Nothing went"
	case kagewasm.EventFailed:
		return "A compaction did not come about"
	case kagewasm.EventFlagged:
		return "Judged"
	case kagewasm.EventObserved:
		if e.Compaction == "" {
			return "Plugins asked a model at the end of a turn"
		}
		return "Late observers answered"
	case store.EventRolledBack:
		if e.Redo {
			return "Redone"
		}
		return "Taken back"
	}
	return e.Type
}

// maxEvents bounds a timeline; the audit log has all.
const maxEvents = 200

// events are a session's, the newest first. That a compaction began is left out where it
// is told how it ended.
func (p sessionPages) events(ctx context.Context, row *store.Session, records []store.Record) (list []event,
	err error) {
	byID := make(map[string]*store.Record, len(records))
	for i := range records {
		byID[records[i].ID] = &records[i]
	}
	for after := 0; ; {
		entries, next, err := p.s.Audit(ctx, row.Key, after, 1000)
		if err != nil {
			return nil, err
		}
		for _, a := range entries {
			var e store.AuditEntry
			if err := json.Unmarshal(a.Entry, &e); err != nil {
				return nil, err
			}
			if e.Type != kagewasm.EventTriggered {
				list = append(list, event{AuditEntry: e, Type: string(e.Type), Record: byID[e.Compaction]})
			}
		}
		if after = next; next == 0 {
			break
		}
	}
	slices.Reverse(list)
	return list[:min(len(list), maxEvents)], nil
}

func (p sessionPages) undo(r *http.Request) (*view, error) { return p.restore(r, "undone", p.s.Undo) }
func (p sessionPages) redo(r *http.Request) (*view, error) { return p.restore(r, "redone", p.s.Redo) }

func (p sessionPages) rollback(r *http.Request) (*view, error) {
	return p.restore(r, "rolledback", func(ctx context.Context, key string, version *int) (*service.Restored, error) {
		return p.s.Rollback(ctx, key, r.PostFormValue("message"), nil, version)
	})
}

// restore takes a session back, where it is still as the form showed it.
func (p sessionPages) restore(
	r *http.Request, done string, do func(context.Context, string, *int) (*service.Restored, error),
) (*view, error) {
	version, err := versionOf(r)
	if err == nil {
		_, err = do(r.Context(), r.PathValue("key"), version)
	}
	return after(to(r.PathValue("key")), done), err
}
