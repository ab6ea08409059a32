package rank_test

import (
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/rank"
)

// recallWithin is the share of a question's evidence in as many of the best hits
// as fit a share of the conversation's size, as the mean over all questions.
func recallWithin(list []conversation, opts rank.Options, share float64) float64 {
	sum, n := 0.0, 0
	for _, c := range list {
		ix, all := c.index(), 0
		for _, t := range c.Turns {
			all += len(t.Text) + len(t.Caption)
		}
		for _, q := range c.Questions {
			if len(q.Evidence) == 0 {
				continue
			}
			n++
			left := int(share * float64(all))
			needed := make(map[string]bool)
			for _, id := range q.Evidence {
				needed[id] = true
			}
			for _, h := range ix.Search(q.Question, opts) {
				t := &c.Turns[h.Text]
				if left -= len(t.Text) + len(t.Caption); left < 0 {
					break
				}
				if needed[t.ID] {
					sum += 1 / float64(len(q.Evidence))
				}
			}
		}
	}
	return sum / float64(n)
}

// TestRecallAtTwelvePercent: with twelve in a hundred of a conversation's
// text about nine in ten of what its questions need are there, by ranking alone.
func TestRecallAtTwelvePercent(t *testing.T) {
	features.Proves(t, "O9")
	list := conversations(t)
	got := recallWithin(list, rank.Conversation(), 0.12)
	t.Logf("recall at 12%% of the text: %.3f", got)
	if got < 0.89 {
		t.Errorf("recall at 12%% of the text is %.3f", got)
	}
}
