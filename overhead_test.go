package kagewasm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

// turns is a session of so many turns, each of so many words, looked at before each, with
// tool definitions of so many tokens.
func turns(
	t *testing.T, c *kagewasm.Compactor, n, words int, overhead func(turn int) int,
) (looks []*kagewasm.Result) {
	t.Helper()
	list := chat(1)
	for k := range n {
		req := request(longWindow, list)
		req.Overhead = overhead(k)
		r, err := c.Compact(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if r.Report.TokensAfter > longWindow {
			t.Errorf("turn %d: %s", k, r.Report.Reason)
		}
		looks = append(looks, r)
		exchange := renamed(chat(1)[2:4], fmt.Sprintf("n%d-", k))
		exchange[1].Content = abi.Text(strings.Repeat("word ", words))
		list = append(slices.Clip(r.Messages), exchange...)
	}
	return looks
}

func warnings(looks []*kagewasm.Result) (list []string) {
	for _, r := range looks {
		if r.Report.Warning != "" {
			list = append(list, r.Report.Warning)
		}
	}
	return list
}

// TestOverheadAboveTheTarget: tool definitions that take 83% of the window are more than a
// compaction is to get down to. That is told once, with the way out; from then on the session
// is not compacted, and no model asked, until something changes or it does not fit.
func TestOverheadAboveTheTarget(t *testing.T) {
	features.Proves(t, "complaint 1")
	const overhead = longWindow * 83 / 100
	always := func(int) int { return overhead }
	t.Run("while it fits", func(t *testing.T) {
		m := writes("all is well")
		looks := turns(t, newCompactor(t, kagewasm.Options{Model: m}), 30, 15, always)
		if n := compactions(looks); n != 0 || len(m.Requests()) != 0 {
			t.Errorf("%d compactions and %d requests to the model in 30 turns", n, len(m.Requests()))
		}
		said := warnings(looks)
		if len(said) != 1 || !strings.Contains(said[0], fmt.Sprint(overhead)) || !strings.Contains(said[0], "fewer tools") {
			t.Errorf("told %d times: %q", len(said), said)
		}
	})
	t.Run("where it has to be", func(t *testing.T) {
		m := writes("all is well")
		looks := turns(t, newCompactor(t, kagewasm.Options{Model: m}), 30, 180, always)
		for _, r := range looks[2:] {
			if r.Report.Compacted && r.Report.TokensBefore <= longWindow && r.Report.Strategy == "drop" {
				t.Errorf("compacted at %d of %d tokens", r.Report.TokensBefore, longWindow)
			}
		}
		if n := compactions(looks); n > 8 || len(m.Requests()) > 2 || len(warnings(looks)) != 1 {
			t.Errorf("%d compactions, %d requests to the model, %d warnings in 30 turns", n, len(m.Requests()),
				len(warnings(looks)))
		}
	})
	t.Run("more than the window", func(t *testing.T) {
		m := writes("all is well")
		c := newCompactor(t, kagewasm.Options{Model: m})
		list := chat(60)
		for range 3 {
			req := request(longWindow, list)
			req.Overhead = longWindow + 100
			r, err := c.Compact(t.Context(), req)
			if abi.CodeOf(err) != abi.CodeExceedsWindow || !strings.Contains(abi.AsError(err).Hint, "fewer tools") ||
				!strings.Contains(r.Report.Warning, "fewer tools") {
				t.Errorf("%v; %q", err, r.Report.Warning)
			}
			if r.Report.Compacted || len(r.Messages) != len(list) || len(m.Requests()) > 0 {
				t.Errorf("%s: messages went for nothing", r.Report.Reason)
			}
			list = append(slices.Clip(r.Messages), renamed(chat(1)[2:4], fmt.Sprint("x", len(list)))...)
		}
	})
	t.Run("until something changes", func(t *testing.T) {
		m := writes("all is well")
		looks := turns(t, newCompactor(t, kagewasm.Options{Model: m}), 40, 60, func(turn int) int {
			if turn < 30 {
				return overhead
			}
			return overhead + 20 // another tool
		})
		asked, told := 0, 0
		for _, r := range looks[30:] {
			if r.Report.Compacted {
				asked++
			}
			if r.Report.Warning != "" {
				told++
			}
		}
		if asked == 0 || told != 1 {
			t.Errorf("with another tool: %d compactions, told %d times", asked, told)
		}
	})
	t.Run("by hand", func(t *testing.T) {
		m := writes("all is well")
		c := newCompactor(t, kagewasm.Options{Model: m})
		last := turns(t, c, 30, 15, always)[29]
		before := len(m.Requests())
		req := request(longWindow, append(slices.Clip(last.Messages), renamed(chat(20)[2:], "x")...))
		req.Overhead, req.Force = overhead, true
		if r, err := c.Compact(t.Context(), req); err != nil || !r.Report.Compacted || len(m.Requests()) == before {
			t.Errorf("%+v, %v", r.Report.Reason, err)
		}
	})
}

// TestOverheadThatLeavesRoom: where compactions free what is worth it they go on at the
// threshold, though none meets its target; the way out is told once all the same.
func TestOverheadThatLeavesRoom(t *testing.T) {
	features.Proves(t, "complaint 1")
	looks := turns(t, newCompactor(t, kagewasm.Options{}), 60, 80, func(int) int { return longWindow * 61 / 100 })
	for _, r := range looks {
		if r.Report.TokensAfter > longWindow*86/100 {
			t.Errorf("%d of %d tokens: %s", r.Report.TokensAfter, longWindow, r.Report.Reason)
		}
	}
	if said := warnings(looks); compactions(looks) < 2 || len(said) != 1 || strings.Contains(said[0], "until then") {
		t.Errorf("%d compactions, told %q", compactions(looks), said)
	}
}
