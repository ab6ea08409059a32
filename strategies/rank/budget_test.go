package rank_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/rank"
)

// recallWithin is the share of a question's evidence in as many of the best hits
// as fit a share of the conversation's size, as the mean over all questions.
func recallWithin(all []searched, share float64) float64 {
	sum := 0.0
	for _, s := range all {
		size := 0
		for _, t := range s.c.Turns {
			size += len(t.Text) + len(t.Caption)
		}
		left := int(share * float64(size))
		for _, h := range s.hits {
			t := &s.c.Turns[h.Text]
			if left -= len(t.Text) + len(t.Caption); left < 0 {
				break
			}
			if slices.Contains(s.evidence, t.ID) {
				sum += 1 / float64(len(s.evidence))
			}
		}
	}
	return sum / float64(len(all))
}

// TestRecallAtTwelvePercent: with twelve in a hundred of a conversation's
// text about nine in ten of what its questions need are there, by ranking alone.
func TestRecallAtTwelvePercent(t *testing.T) {
	features.Proves(t, "O9")
	list := conversations(t)
	got := recallWithin(search(list, rank.Conversation()), 0.12)
	t.Logf("recall at 12%% of the text: %.3f", got)
	if got < 0.90 {
		t.Errorf("recall at 12%% of the text is %.3f", got)
	}
}

// TestRecallOfTheProjectsOwn is the same for the conversation that is part of the project.
func TestRecallOfTheProjectsOwn(t *testing.T) {
	features.Proves(t, "O9")
	list := readAll(t, filepath.Join("..", "..", "plugins", "hindsight", "testdata", "conversation.json"))
	if got := recallWithin(search(list, rank.Conversation()), 0.12); got < 0.85 {
		t.Errorf("recall at 12%% of the text is %.3f", got)
	}
}
