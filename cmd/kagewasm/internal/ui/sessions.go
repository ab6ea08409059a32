package ui

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/store"
)

// SessionList is what `kagewasm sessions list --json` prints.
type SessionList struct {
	Sessions []store.Session `json:"sessions"`
	Next     string          `json:"next"` // for --after; empty behind the last
}

// Sessions lists sessions in columns.
func Sessions(p Printer, l *SessionList) {
	if len(l.Sessions) == 0 {
		p.Linef("no session is stored: kagewasm compact keeps those that it compacts")
		return
	}
	var t table
	t.head("ID", "messages", "tokens", "compactions", "changed", "from")
	for i := range l.Sessions {
		s := &l.Sessions[i]
		from := filepath.Base(cmp.Or(s.Source, "-"))
		if s.Pending != "" {
			from += ", waits for approval"
		}
		t.row(s.Key, Number(s.Messages), Number(s.Tokens), Number(s.Compactions), minute(s.Updated), from)
	}
	t.print(p)
	if l.Next != "" {
		p.Linef("there are more: --after %q", l.Next)
	}
}

// minute is a time without its seconds.
func minute(stamp string) string {
	day, clock, _ := strings.Cut(stamp, "T")
	return day + " " + clock[:min(len(clock), 5)]
}

// SessionDetails is what `kagewasm sessions show --json` prints.
type SessionDetails struct {
	Session store.Session  `json:"session"`
	Records []store.Record `json:"compactions"`
	Costs   []store.Cost   `json:"costs"`
	// Turns are those that are open, Calls those of the model in flight, Requests what the agent or
	// plugins asked for and nothing has answered yet.
	Turns    []string     `json:"turns"`
	Calls    []string     `json:"calls"`
	Requests []hooks.Wish `json:"requests"`
}

// SessionShown shows a session and its compactions.
func SessionShown(p Printer, v *SessionDetails) {
	s := &v.Session
	p.Linef("%s", p.paint(bold, s.Key))
	if s.Source != "" {
		p.field("from", "%s", s.Source)
	}
	if s.Model != "" {
		p.field("model", "%s", s.Model)
	}
	p.field("changed", "%s", minute(s.Updated))
	p.field("the model", "sees %s, %s tokens", Plural(s.Messages, "message"), Number(s.Tokens))
	p.field("costs", "%s", costLine(v.Costs))
	if s.Pending != "" {
		p.field("waits", "%s: kagewasm approve %s, or kagewasm reject %s", s.Pending, s.Key, s.Key)
	}
	if len(v.Turns) > 0 {
		p.field("open", "%s", Plural(len(v.Turns), "turn"))
	}
	if len(v.Calls) > 0 {
		p.field("in flight", "%s of the model", Plural(len(v.Calls), "call"))
	}
	for _, w := range v.Requests {
		p.field("asked for", "a compaction, by %s: %s", cmp.Or(w.Plugin, "the agent"),
			cmp.Or(w.Instructions, "nothing in particular is to be kept"))
	}
	for i := range v.Records {
		r := &v.Records[i]
		p.Linef("")
		undone := ""
		if !r.InForce {
			undone = ", undone"
		}
		p.Linef("%s  %s", p.paint(bold, r.ID), p.paint(dim, fmt.Sprintf("%s, %s%s", r.Time, r.Strategy, undone)))
		if r.Instructions != "" {
			p.field("to keep", "%s", r.Instructions)
		}
		p.field("messages", "%s superseded, %s inserted", Number(len(r.Superseded)), Number(len(r.Inserted)))
		p.field("tokens", "%s to %s", Number(r.TokensBefore), Number(r.TokensAfter))
		if r.Flag != "" || r.Notes != "" {
			p.field("judged", "%s", strings.TrimSpace(r.Flag+" "+r.Notes))
		}
	}
}

// costLine is what the agent and the compactor cost. What an agent's own calls cost is known where it tells that; a
// compactor costs nothing where no model was asked.
func costLine(costs []store.Cost) string {
	sums, unknown := make(map[store.Spender]float64), make(map[store.Spender]bool)
	for i := range costs {
		c := &costs[i]
		sums[c.Spender] += c.ModelUsage.Cost
		unknown[c.Spender] = unknown[c.Spender] || c.PriceUnknown
	}
	say := func(who store.Spender, none string) string {
		sum, measured := sums[who]
		text := fmt.Sprintf("%s: $%.4f", who, sum)
		switch {
		case !measured:
			text = fmt.Sprintf("%s: %s", who, none)
		case unknown[who] && sum == 0:
			text = fmt.Sprintf("%s: at a price nobody knows", who)
		case unknown[who]:
			text += " and what nobody knows the price of"
		}
		return text
	}
	return say(store.Primary, "not measured") + ", " + say(store.Compactor, "no model was asked")
}

// Deleted says which sessions are gone.
func Deleted(p Printer, keys []string) {
	p.Linef("%s deleted", Plural(len(keys), "session"))
	for _, key := range keys {
		p.Linef("  %s", key)
	}
}

// Undone is what `kagewasm undo --json` prints.
type Undone struct {
	Session    string `json:"session"`
	Compaction string `json:"compaction,omitempty"` // that was taken back
	Restored   int    `json:"restored"`             // messages that the model sees again
	Redo       bool   `json:"redo,omitempty"`
	Before     int    `json:"messages_before"`
	After      int    `json:"messages_after"`
	Out        string `json:"out,omitempty"`
}

// Undid says what was taken back.
func Undid(p Printer, v *Undone) {
	what := "went back"
	switch {
	case v.Redo:
		what = "took the undo back"
	case v.Compaction != "":
		what = fmt.Sprintf("took %s back, of which %s", v.Compaction, cameBack(v.Restored))
	}
	p.Linef("%s: %s; the model saw %s, and now sees %s", v.Session, what, Plural(v.Before, "message"), Number(v.After))
	if v.Out != "" {
		p.Linef("written to %s", v.Out)
	}
	if !v.Redo {
		p.Linef("%s", p.paint(dim, "kagewasm undo "+v.Session+" --redo takes that back"))
	}
}

func cameBack(n int) string {
	if n == 1 {
		return "1 message came back"
	}
	return Number(n) + " messages came back"
}

// Decided is what `kagewasm approve --json` and `reject --json` print.
type Decided struct {
	Session    string `json:"session"`
	Compaction string `json:"compaction"`
	Approved   bool   `json:"approved"`
	Out        string `json:"out,omitempty"`
	// Hooks, Retained and Failures are what came of telling plugins.
	Hooks    []hooks.Outcome `json:"hooks,omitempty"`
	Retained []hooks.Fact    `json:"retained,omitempty"`
	Failures []*abi.Error    `json:"failures,omitempty"`
}

// Decision says what became of a compaction that waited.
func Decision(p Printer, v *Decided) {
	if !v.Approved {
		p.Linef("%s: %s was dropped, and the session stays as it is", v.Session, v.Compaction)
	} else {
		p.Linef("%s: %s was applied, as it was shown", v.Session, v.Compaction)
	}
	human{p}.hooks(v.Hooks)
	human{p}.retained(v.Retained)
	human{p}.failures(v.Failures)
	if !v.Approved {
		return
	}
	if v.Out != "" {
		p.Linef("written to %s", v.Out)
	} else {
		p.Linef("%s", p.paint(dim, "kagewasm sessions context "+v.Session+" writes the session"))
	}
}

// Flagged is what `kagewasm flag --json` prints.
type Flagged struct {
	Session    string `json:"session"`
	Compaction string `json:"compaction"`
	Flag       string `json:"flag"`
	Notes      string `json:"notes"`
}

// Judged says how a compaction was judged.
func Judged(p Printer, v *Flagged) {
	p.Linef("%s: %s is judged %s", v.Session, v.Compaction, v.Flag)
}

// Verified says whether the audit log is as it was written.
func Verified(p Printer, r *store.AuditReport) {
	for _, problem := range r.Problems {
		what := "the log:"
		if problem.Seq > 0 {
			what = fmt.Sprintf("entry %d:", problem.Seq)
		}
		p.Linef("%s %s", p.paint(red, what), problem.What)
	}
	if len(r.Problems) == 0 {
		p.Linef("entries: %s, as they were written", Number(r.Entries))
	}
	if r.Withheld > 0 {
		p.Linef("of %s what was said was deleted with its session", Number(r.Withheld))
	}
	if r.Head != "" {
		p.Linef("head %s", r.Head)
	}
}

// Stats shows the figures of compactions.
func Stats(p Printer, s *store.Stats) {
	takenBack := ""
	if s.TakenBack > 0 {
		takenBack = "; " + Number(s.TakenBack) + " of those done taken back"
	}
	p.field("compactions", "%s done, %s failed, %s with nothing to do%s", Number(s.Completed), Number(s.Failed),
		Number(s.Noop), takenBack)
	p.field("fallbacks", "%s", Number(s.Fallbacks))
	if s.Completed > s.TakenBack {
		p.field("tokens", "%s to %s", Number(s.TokensBefore), Number(s.TokensAfter))
	}
	if s.Completed > 0 {
		p.field("summaries", "%.0f to %.0f bytes, half of them at most %.0f", s.Summary.Least, s.Summary.Most,
			s.Summary.Median)
		p.field("took", "%.0f to %.0f ms, half of them at most %.0f", s.MS.Least, s.MS.Most, s.MS.Median)
	}
	p.field("judged", "%s good, %s neutral, %s bad", Number(s.Flags["good"]), Number(s.Flags["neutral"]),
		Number(s.Flags["bad"]))
	p.field("costs", "%s", costLine(s.Costs))
	for _, h := range s.Hooks {
		p.field(h.Plugin, "%s: %s, %s failed, %.0f to %.0f ms", h.Hook, Plural(h.Calls, "call"), Number(h.Failed), h.MS.Least,
			h.MS.Most)
	}
}
