package ui

import (
	"net/http"

	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/store"
)

// perPage is how many sessions a page lists.
const perPage = 50

// sessionsData is the page of all sessions.
type sessionsData struct {
	Rows    []sessionRow
	Waiting []sessionRow // for a decision, on any page
	Next    string
	First   bool // the page is the first one
	Stats   *figures
	Plugins []service.Plugin
	// PluginsError says why the plugins cannot be listed.
	PluginsError string
}

type sessionRow struct {
	store.Session
	Gauge *gauge // nil where nobody knows the window or the tokens
}

func (p sessionPages) sessions(r *http.Request) (*view, error) {
	after := r.URL.Query().Get("after")
	list, next, err := p.s.Sessions(r.Context(), after, perPage)
	if err != nil {
		return nil, err
	}
	d := &sessionsData{Next: next, First: after == "", Rows: rowsOf(list)}
	if waiting, err := p.s.Pending(r.Context()); err == nil {
		d.Waiting = rowsOf(waiting)
	}
	stats, err := p.s.Stats(r.Context(), "")
	if err != nil {
		return nil, err
	}
	d.Stats = figuresOf(stats)
	if d.Plugins, err = p.s.Plugins(r.Context()); err != nil {
		d.PluginsError = err.Error()
	}
	return &view{template: "sessions.html", block: part(r, "overview"), title: "Sessions", data: d}, nil
}

func rowsOf(list []store.Session) []sessionRow {
	rows := make([]sessionRow, len(list))
	for i, s := range list {
		rows[i].Session = s
		if s.Window > 0 && s.Tokens > 0 {
			rows[i].Gauge = &gauge{Tokens: s.Tokens, Window: s.Window}
		}
	}
	return rows
}

// figures are stats as a page shows them.
type figures struct {
	*store.Stats
	Primary, Compactor float64
	// PrimaryUnknown and CompactorUnknown: nobody knows what some of it cost.
	PrimaryUnknown, CompactorUnknown bool
}

func figuresOf(st *store.Stats) *figures {
	f := &figures{Stats: st}
	for _, c := range st.Costs {
		if c.Spender == store.Primary {
			f.Primary += c.ModelUsage.Cost
			f.PrimaryUnknown = f.PrimaryUnknown || c.PriceUnknown
		} else {
			f.Compactor += c.ModelUsage.Cost
			f.CompactorUnknown = f.CompactorUnknown || c.PriceUnknown
		}
	}
	return f
}

// Freed is how many tokens compactions took away.
func (f *figures) Freed() int { return f.TokensBefore - f.TokensAfter }

// Left is the share of the tokens that compactions left.
func (f *figures) Left() float64 { return float64(f.TokensAfter) / float64(max(1, f.TokensBefore)) }

// Judged is how many compactions were judged.
func (f *figures) Judged() int { return f.Flags["good"] + f.Flags["bad"] + f.Flags["neutral"] }
