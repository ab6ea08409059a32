package ui

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/replay"
)

// Replay is what `kagewasm replay --json` prints.
type Replay struct {
	Sessions []*ReplayedSession `json:"sessions"`
	// Ways are the sums over all sessions.
	Ways []ReplayedSum `json:"ways"`
}

// ReplayedSession is a session that was replayed by each way.
type ReplayedSession struct {
	File     string `json:"file"`
	Messages int    `json:"messages"`
	Model    string `json:"model,omitempty"`
	// Compared says whether any way changed what is sent: where no call reaches a threshold all ways are the same.
	Compared bool          `json:"compared"`
	Ways     []ReplayedWay `json:"ways"`
}

// ReplayedSum is what came of a way.
type ReplayedSum struct {
	Way string `json:"way"`
	replay.Stats
}

// ReplayedWay is what came of a way in a session.
type ReplayedWay struct {
	ReplayedSum
	Model string `json:"model,omitempty"`
	// Window is the context window that was used, ContextWindow the model's own, null where nobody knows it.
	Window        int  `json:"window"`
	ContextWindow *int `json:"context_window"`
	// StartsAt is the number of tokens at which a compaction starts.
	StartsAt int `json:"starts_at"`
	// Points are the compactions, in order.
	Points []*replay.Compaction `json:"points,omitempty"`
}

// Add adds a session.
func (r *Replay) Add(s *ReplayedSession) {
	r.Sessions = append(r.Sessions, s)
	s.Compared = slices.ContainsFunc(s.Ways, func(w ReplayedWay) bool { return w.Compactions+w.Prunings > 0 })
	for i := range s.Ways {
		if i == len(r.Ways) {
			r.Ways = append(r.Ways, ReplayedSum{Way: s.Ways[i].Way})
		}
		r.Ways[i].Add(s.Ways[i].Stats)
	}
}

// Replayed shows what came of each way, side by side: of each session, and of all.
func Replayed(p Printer, r *Replay) {
	for _, s := range r.Sessions {
		first := &s.Ways[0]
		window := Number(first.Window)
		if first.ContextWindow == nil {
			window += assumed
		}
		p.Linef("%s  %s", p.paint(bold, s.File), p.paint(dim, fmt.Sprintf("%s, %s, %s, window %s",
			Plural(s.Messages, "message"), Plural(first.Calls, "call"), orUnknown(s.Model), window)))
		showWays(p, lists.Map(s.Ways, func(w ReplayedWay) ReplayedSum { return w.ReplayedSum }))
		for i := range s.Ways {
			showStops(p, &s.Ways[i])
		}
		if !s.Compared {
			p.Linef("  %s %s", p.paint(yellow, "note"), notCompared(s))
		}
	}
	if len(r.Sessions) > 1 {
		p.Linef("%s", p.paint(bold, Plural(len(r.Sessions), "session")))
		showWays(p, r.Ways)
	}
}

// notCompared says why all ways are the same in a session, and how they would differ.
func notCompared(s *ReplayedSession) string {
	least := slices.MinFunc(s.Ways, func(a, b ReplayedWay) int { return cmp.Compare(a.StartsAt, b.StartsAt) })
	if least.LargestRequest >= least.StartsAt {
		return "nothing is compared: no way compacted or shortened anything"
	}
	half := least.LargestRequest / 2
	if half > 2*roundWindow {
		half -= half % roundWindow
	}
	return fmt.Sprintf("nothing is compared: no call reached the %s tokens at which a compaction starts. "+
		"--window %d, half of the largest call, shows what each way would do", Number(least.StartsAt), max(1, half))
}

// roundWindow is what windows are whole multiples of that are proposed.
const roundWindow = 1000

func orUnknown(model string) string {
	if model == "" {
		return "no model"
	}
	return model
}

func showWays(p Printer, ways []ReplayedSum) {
	var t table
	t.head("way", "pruned", "compacted", "tokens sent", "largest", "cached", "cost", "words kept", "failures kept",
		"goes on")
	for i := range ways {
		w := &ways[i]
		words, failures, goes := "-", "-", "-"
		if w.Compactions > 0 {
			words = fmt.Sprintf("%.0f%%", 100*w.WordsKept)
			if w.Failed.Of > 0 {
				failures = fmt.Sprintf("%.0f%%", w.Failed.Percent())
			}
		}
		if w.Continuation.Compactions > 0 {
			goes = fmt.Sprintf("%.0f%%", w.Continuation.Percent())
		}
		t.row(w.Way, Number(w.Prunings), Number(w.Compactions), Number(w.InputTokens), Number(w.LargestRequest),
			fmt.Sprintf("%.1f%%", 100*w.CachedShare), costOf(w), words, failures, goes)
	}
	t.print(p)
	for i := range ways {
		for _, note := range notesOf(&ways[i]) {
			p.Linef("  %s %s: %s", p.paint(yellow, "note"), ways[i].Way, note)
		}
	}
	if slices.ContainsFunc(ways, func(w ReplayedSum) bool { return strings.HasSuffix(costOf(&w), costMark) }) {
		p.Linef("  %s no price to compare: some of its calls were not sent, or no provider takes them", costMark)
	}
}

// maxStops is how many compactions that did not go on are shown for each way, maxNeeds what each of them missed.
const maxStops, maxNeeds = 5, 3

// showStops shows after which compactions of a way the next call needed what was gone.
func showStops(p Printer, w *ReplayedWay) {
	stops := 0
	for i, c := range w.Points {
		if c.Continued == nil || *c.Continued {
			continue
		}
		if stops++; stops <= maxStops {
			p.Linef("  %s %s: compaction %d of %d, at call %d, did not go on: the next call %s", p.paint(yellow, "note"), w.Way,
				i+1, len(w.Points), c.Call, needsOf(c))
		}
	}
	if stops > maxStops {
		p.Linef("  %s %s: %s did not go on: see --json", p.paint(yellow, "note"), w.Way,
			Plural(stops-maxStops, "more compaction"))
	}
}

// needsOf says what the next call needed.
func needsOf(c *replay.Compaction) string {
	var list []string
	for _, n := range c.Needed {
		switch {
		case n.After > 1:
		case n.File != "":
			list = append(list, "names "+n.File)
		default:
			list = append(list, "makes again what went: "+clip.Cut(n.Call, maxCall, "…"))
		}
	}
	if more := len(list) - maxNeeds; more > 0 {
		list = append(list[:maxNeeds], fmt.Sprintf("%d more", more))
	}
	return strings.Join(list, ", ")
}

// maxCall is how many bytes of a call are shown.
const maxCall = 80

// costMark stands behind a cost of other calls than those of the session: less was sent, or what nobody takes.
const costMark = "*"

func costOf(w *ReplayedSum) string {
	if w.Cost.Unknown {
		return "unknown"
	}
	cost := fmt.Sprintf("$%.3f", w.Cost.Primary+w.Cost.Compactor)
	if w.Unsent+w.OverWindow > 0 {
		cost += costMark
	}
	return cost
}

// notesOf says what makes the figures of a way others than they seem.
func notesOf(w *ReplayedSum) (notes []string) {
	if w.Unsent > 0 {
		notes = append(notes, fmt.Sprintf("%s of %s did not fit the window, and are not in the figures",
			Number(w.Unsent), Plural(w.Calls, "call")))
	}
	if w.OverWindow > 0 {
		notes = append(notes, fmt.Sprintf("%s of %s had more tokens than the window: a provider refuses them",
			Number(w.OverWindow), Plural(w.Calls, "call")))
	}
	if w.Fallbacks > 0 {
		notes = append(notes, fmt.Sprintf("%s by drop in its place", Plural(w.Fallbacks, "compaction")))
	}
	if len(w.Failures) > 0 {
		codes := lists.Map(slices.Sorted(maps.Keys(w.Failures)), func(code abi.Code) string {
			return fmt.Sprintf("%s × %d", code, w.Failures[code])
		})
		notes = append(notes, "failures on the way: "+strings.Join(codes, ", "))
	}
	if w.Cost.Compactor > 0 {
		notes = append(notes, fmt.Sprintf("$%.3f of its cost is for summaries", w.Cost.Compactor))
	}
	return notes
}
