package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"sync"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/store/internal/rows"
)

// Stats are the figures of the compactions of a session, or of all.
type Stats struct {
	// Completed, Failed and Noop count how compactions ended, RolledBack how often
	// something was taken back, and Redone how often a rollback was. A compaction that
	// was taken back and made again, the very same, counts once.
	Completed  int `json:"completed"`
	Failed     int `json:"failed"`
	Noop       int `json:"noop"`
	RolledBack int `json:"rolled_back"`
	Redone     int `json:"redone,omitempty"`
	// TakenBack are those of the completed ones that are not in force now.
	TakenBack int `json:"taken_back"`
	// Fallbacks are those in which somebody else's plan was to be used.
	Fallbacks int `json:"fallbacks"`
	// TokensBefore and TokensAfter are sums over the completed ones that were not taken back.
	TokensBefore int `json:"tokens_before"`
	TokensAfter  int `json:"tokens_after"`
	// Summary is how long the summaries are, in bytes; MS what a compaction took.
	Summary Spread `json:"summary_bytes"`
	MS      Spread `json:"ms"`
	// Flags counts the judgements that hold.
	Flags map[string]int `json:"flags"`
	Hooks []HookStats    `json:"hooks"`
	Costs []Cost         `json:"costs"`
}

// Spread is how figures are spread.
type Spread struct {
	Least  float64 `json:"least"`
	Median float64 `json:"median"`
	Most   float64 `json:"most"`
}

// HookStats are the figures of a plugin's hook.
type HookStats struct {
	Plugin string `json:"plugin"`
	Hook   string `json:"hook"`
	Calls  int    `json:"calls"`
	// Failed are those that did not answer as they should.
	Failed int    `json:"failed"`
	MS     Spread `json:"ms"`
}

// Stats returns figures read off the audit log, so deleted sessions count too. They are of all sessions
// where key is empty; of those only what is new since the last time is read.
func (s *Store) Stats(ctx context.Context, key string) (*Stats, error) {
	t := new(tally)
	if key == "" {
		s.tally.mu.Lock()
		defer s.tally.mu.Unlock()
		t = &s.tally.tally
	}
	err := rows.Each(ctx, s.db, func(r *sql.Rows) error {
		var text string
		var e AuditEntry
		err := r.Scan(&text)
		if err == nil {
			err = json.Unmarshal([]byte(text), &e)
		}
		if err == nil {
			t.add(&e)
		}
		return err
	}, "SELECT entry FROM audit WHERE seq > $1 AND ($2 = '' OR session = $2) ORDER BY seq", t.last, key)
	if err != nil {
		return nil, fault("stats", err)
	}
	st := t.stats()
	takenBack, err := notInForce(ctx, s.db, key)
	if err != nil {
		return nil, fault("stats", err)
	}
	for of, ids := range takenBack {
		for _, id := range ids {
			if one := [2]string{of, id}; !t.deleted[one] {
				st.takeBack(t.made, one)
			}
		}
	}
	for one := range t.deleted {
		st.takeBack(t.made, one)
	}
	costs, err := s.Costs(ctx, key)
	st.Costs = append(st.Costs, costs...)
	return st, err
}

// totals is the tally of all sessions, as far as the log was read.
type totals struct {
	mu sync.Mutex
	tally
}

// tally is what stats are made of.
type tally struct {
	sums            Stats // the counts
	last            int   // the entry that was added last
	summaries, took []float64
	hooks           map[[2]string][]float64
	failed          map[[2]string]int
	order           [][2]string
	flags           map[[2]string]string
	made            map[[2]string][2]int // tokens before and after of the compactions that are counted
	deleted         map[[2]string]bool   // those that were not in force when their session was deleted
}

// takeBack takes a compaction, if it is counted, out of the sums of those in force.
func (s *Stats) takeBack(made map[[2]string][2]int, one [2]string) {
	if tokens, ok := made[one]; ok {
		s.TakenBack++
		s.TokensBefore, s.TokensAfter = s.TokensBefore-tokens[0], s.TokensAfter-tokens[1]
	}
}

// again reports whether a compaction was counted already.
func (t *tally) again(e *AuditEntry) bool {
	if e.Compaction == "" {
		return false
	}
	one := [2]string{e.Session, e.Compaction}
	delete(t.deleted, one) // a session of the same id made it
	if _, ok := t.made[one]; ok {
		return true
	}
	if t.made == nil {
		t.made = make(map[[2]string][2]int)
	}
	t.made[one] = [2]int{e.TokensBefore, e.TokensAfter}
	return false
}

func (t *tally) add(e *AuditEntry) {
	st := &t.sums
	t.last = e.Seq
	switch e.Type {
	case kagewasm.EventCompleted:
		if t.again(e) {
			break
		}
		st.Completed++
		st.TokensBefore, st.TokensAfter = st.TokensBefore+e.TokensBefore, st.TokensAfter+e.TokensAfter
		t.summaries, t.took = append(t.summaries, float64(e.SummaryBytes)), append(t.took, e.MS)
	case kagewasm.EventFailed:
		st.Failed++
	case kagewasm.EventNoop:
		st.Noop++
	case EventRolledBack:
		if e.Redo {
			st.Redone++
		} else {
			st.RolledBack++
		}
	case EventDeleted:
		for _, id := range e.TakenBack {
			if t.deleted == nil {
				t.deleted = make(map[[2]string]bool)
			}
			t.deleted[[2]string{e.Session, id}] = true
		}
	case kagewasm.EventFlagged:
		if t.flags == nil {
			t.flags = make(map[[2]string]string)
		}
		t.flags[[2]string{e.Session, e.Compaction}] = e.Flag
	}
	if e.Fallback {
		st.Fallbacks++
	}
	for _, h := range e.Hooks {
		if t.hooks == nil {
			t.hooks, t.failed = make(map[[2]string][]float64), make(map[[2]string]int)
		}
		name := [2]string{h.Plugin, string(h.Hook)}
		if t.hooks[name] == nil {
			t.order = append(t.order, name)
		}
		t.hooks[name] = append(t.hooks[name], h.MS)
		if h.Outcome == "failed" || h.Outcome == "refused" || h.Outcome == "unstored" {
			t.failed[name]++
		}
	}
}

func (t *tally) stats() *Stats {
	st := t.sums
	st.Flags, st.Hooks, st.Costs = make(map[string]int), []HookStats{}, []Cost{}
	st.Summary, st.MS = spread(t.summaries), spread(t.took)
	for _, flag := range t.flags {
		if flag != "" {
			st.Flags[flag]++
		}
	}
	for _, name := range t.order {
		st.Hooks = append(st.Hooks, HookStats{Plugin: name[0], Hook: name[1], Calls: len(t.hooks[name]),
			Failed: t.failed[name], MS: spread(t.hooks[name])})
	}
	return &st
}

func spread(figures []float64) (s Spread) {
	if len(figures) == 0 {
		return s
	}
	slices.Sort(figures)
	return Spread{Least: figures[0], Median: figures[len(figures)/2], Most: figures[len(figures)-1]}
}
