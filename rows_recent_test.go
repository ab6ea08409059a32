package kagewasm_test

import (
	"fmt"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies"
)

// newest is how many messages at the end of a session a result has.
func newest(r *kagewasm.Result, of int) (n int) {
	msgs := long()
	for n < of && has(r.Messages, msgs[len(msgs)-1-n].ID) {
		n++
	}
	return n
}

// TestPreserveRecent: the newest messages that are to stay out of a summary do so wherever the
// target holds them beside the summary that came, with the default window_messages too: what is
// reserved for a summary and not used is theirs.
func TestPreserveRecent(t *testing.T) {
	features.Proves(t, "K25", "A3")
	kept := make(map[int]int)
	wants := []int{-1, 5, 10, 20, 100}
	for _, want := range wants {
		t.Run(fmt.Sprintf("preserve_recent %d", max(0, want)), func(t *testing.T) {
			c := newCompactor(t, kagewasm.Options{Model: writes("So it is."), Policy: kagewasm.Policy{
				When: kagewasm.When{Lower: 0.2}, Summarize: strategies.SummarizeConfig{PreserveRecent: want}}})
			r := compact(t, c, request(longWindow, long()))
			if r.Report.Strategy != kagewasm.StrategySummarize || r.Report.TokensAfter > r.Report.Target {
				t.Fatalf("%s: %s", r.Report.Strategy, r.Report.Reason)
			}
			kept[want] = newest(r, 200)
			// A call of this session and its result take 23 tokens.
			if unused := r.Report.Target - r.Report.TokensAfter; kept[want] < want && unused > 150 {
				t.Errorf("%d messages stay, and %d tokens are unused", kept[want], unused)
			}
		})
	}
	for i, want := range wants[1:] {
		if less := wants[i]; kept[want] < kept[less] {
			t.Errorf("with preserve_recent %d stay %d messages, with %d stay %d", want, kept[want], less, kept[less])
		}
	}
	if kept[100] <= kept[-1] {
		t.Errorf("preserve_recent changes nothing: %v", kept)
	}
}

// TestWindowMessages: a summary takes in so many messages at least, though the target
// needs fewer to go, and none of those that are to stay.
func TestWindowMessages(t *testing.T) {
	features.Proves(t, "K25")
	for _, tc := range []struct{ window, preserve, least, most int }{
		{1, 10, 1, 60}, {100, 10, 100, 101}, {300, 10, 300, 301}, {600, 400, 200, 220},
	} {
		t.Run(fmt.Sprintf("window_messages %d, preserve_recent %d", tc.window, tc.preserve), func(t *testing.T) {
			c := newCompactor(t, kagewasm.Options{Model: writes("Ok."), Policy: kagewasm.Policy{
				Summarize: strategies.SummarizeConfig{WindowMessages: tc.window, PreserveRecent: tc.preserve,
					MaxSummaryTokens: 100}, Note: strategies.NoteConfig{Tokens: -1}}})
			req := request(longWindow, long())
			req.Target = new(6800)
			r := compact(t, c, req).Report
			if n := len(r.Superseded); r.Strategy != kagewasm.StrategySummarize || n < tc.least || n > tc.most {
				t.Errorf("%d messages went by %s: %s %v", n, r.Strategy, r.Reason, r.Failures)
			}
		})
	}
}
