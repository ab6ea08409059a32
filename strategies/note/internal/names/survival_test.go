package names_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/internal/survival"
	"github.com/kagewasm/kagewasm/tokens"
)

// TestSurvival: of the exact names that an agent went on to use after a
// compaction, and that it had met before, how many does the ledger hold within
// the tokens of the summary that the agent's own model wrote, and within 2.4%
// of the tokens it stands for? The second figure is the ledger's share of the
// characters.
func TestSurvival(t *testing.T) {
	features.Proves(t, "N8")
	for _, tc := range []struct {
		what            string
		files           func(testing.TB) []string
		part            float64 // of the tokens; 0: as many as the agent's own summary
		survival, share float64 // at least, at most
	}{
		{"the project's own session", own, 0, 0.76, 0.1},
		{"compactions of popular agents", shared.Sessions, 0, 0.71, 0.026},
		{"the same, in 2.4% of the tokens", shared.Sessions, 0.024, 0.80, 0.028},
	} {
		t.Run(tc.what, func(t *testing.T) {
			m := measure(t, tc.files(t), 1, tc.part)
			t.Logf("%d, mean survival %.4f, mean share %.4f", m.n, m.survival, m.share)
			if !(m.survival >= tc.survival && m.share <= tc.share) {
				t.Errorf("survival %.4f, at least %.2f wanted; share %.4f, at most %.3f", m.survival, tc.survival,
					m.share, tc.share)
			}
		})
	}
}

// own is the project's own session.
func own(testing.TB) []string { return []string{filepath.Join("testdata", "session.jsonl")} }

// TestSurvivalInChains: the same where five compactions come
// one after the other, each reading the ledger before it.
func TestSurvivalInChains(t *testing.T) {
	features.Proves(t, "N8", "complaint 8")
	files := shared.With(t, nil)
	files = soak.Sample(files, 8, len(files))
	if len(files) == 0 {
		files = own(t)
	}
	for _, rounds := range soak.Sample([]int{5, 2, 3}, 1, 3) {
		t.Run(fmt.Sprintf("%d rounds", rounds), func(t *testing.T) {
			m := measure(t, files, rounds, 0)
			t.Logf("%d rounds: mean survival %.4f", rounds, m.survival)
			if m.survival < 0.69 {
				t.Errorf("%d rounds: survival %.4f, at least 0.69 wanted", rounds, m.survival)
			}
		})
	}
}

// means are taken over n compactions.
type means struct {
	n               int
	survival, share float64
}

// measure goes through the compactions in the sessions.
func measure(t *testing.T, files []string, rounds int, part float64) means {
	t.Helper()
	counter, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var m means
	for _, path := range files {
		for _, c := range compactions(t, path) {
			budget := utf8.RuneCountInString(c.own) / 4
			if part > 0 {
				budget = int(part * float64(tokensOf(c.before, counter)))
			}
			list := chain(goes(c.before), rounds, budget, counter.Text)
			if got := counter.Text(list); got > budget {
				t.Errorf("%s at %d: %d tokens of %d", filepath.Base(path), len(c.before), got, budget)
			}
			kept, share := survival.Held(list, c.need), float64(utf8.RuneCountInString(list))/float64(size(c.before))
			if rounds == 1 {
				t.Logf("%-50s at %3d: needed %3d, survival %.3f, the agent's own summary %.3f, share %.4f",
					filepath.Base(path), len(c.before), len(c.need), kept, survival.Held(c.own, c.need), share)
			}
			m.n, m.survival, m.share = m.n+1, m.survival+kept, m.share+share
		}
	}
	m.survival, m.share = m.survival/float64(m.n), m.share/float64(m.n)
	return m
}

// compaction is one that an agent made in its session.
type compaction struct {
	before []abi.Message
	own    string          // the summary that its model wrote
	need   map[string]bool // the names that it went on to use
}

// known are the compactions of the files that were read: to find what was needed
// takes longer than all the rest.
var known = make(map[string][]compaction)

// compactions are those of a session that are followed by enough to judge them by.
func compactions(t *testing.T, path string) []compaction {
	t.Helper()
	list, ok := known[path]
	if ok {
		return list
	}
	msgs := shared.Messages(t, path)
	for i := range msgs {
		if msgs[i].Kind != abi.KindSummary {
			continue
		}
		if need := survival.Needed(msgs, i); len(need) >= 10 {
			list = append(list, compaction{msgs[:i], survival.Text(&msgs[i]), need})
		}
	}
	known[path] = list
	return list
}

func tokensOf(msgs []abi.Message, counter abi.Counter) int {
	n := 0
	for i := range msgs {
		n += counter.Message(&msgs[i])
	}
	return n
}

// chain compacts the messages in so many rounds, each with what the last one
// left at its head.
func chain(msgs []abi.Message, rounds, budget int, count func(string) int) string {
	list := ""
	for k := range rounds {
		part := msgs[len(msgs)*k/rounds : len(msgs)*(k+1)/rounds]
		if list != "" {
			part = append([]abi.Message{summary(list)}, part...)
		}
		list = build(part).Render(budget, count)
	}
	return list
}

// goes is what a compaction that keeps only pinned messages takes away.
func goes(msgs []abi.Message) []abi.Message {
	var gone []abi.Message
	pins := abi.Pinned(msgs)
	for i := range msgs {
		if !pins[i] {
			gone = append(gone, msgs[i])
		}
	}
	return gone
}

func size(msgs []abi.Message) int {
	n := 0
	for i := range msgs {
		n += utf8.RuneCountInString(survival.Text(&msgs[i]))
	}
	return max(1, n)
}
