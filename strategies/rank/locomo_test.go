package rank_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/strategies/rank"
)

type conversation struct {
	Turns     []turn
	Questions []question
}

type turn struct {
	ID, Date, Speaker, Text, Caption string

	Session any
	// Own is what the turn said before it was made longer.
	Own string
}

type question struct {
	Question string
	Evidence []string
}

func conversations(tb testing.TB) []conversation { return read(tb, "locomo") }

// read reads the public conversations of a folder.
func read(tb testing.TB, folder string) []conversation {
	return readAll(tb, shared.Glob(tb, "data", folder, "*.json")...)
}

func readAll(tb testing.TB, paths ...string) (list []conversation) {
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		var c conversation
		if err := json.Unmarshal(b, &c); err != nil {
			tb.Fatal(path, err)
		}
		list = append(list, c)
	}
	return list
}

// index holds the turns.
func (c *conversation) index() *rank.Index {
	ix := new(rank.Index)
	for i, t := range c.Turns {
		ix.Add(rank.Text{Body: c.body(i), About: t.Date, Author: t.Speaker, Group: fmt.Sprint(t.Session)})
	}
	return ix
}

// body is what a turn says.
func (c *conversation) body(i int) string {
	t := &c.Turns[i]
	body := t.Speaker + ` said, "` + t.Text + `"`
	if t.Caption != "" {
		body += " and shared " + t.Caption
	}
	return body
}

// tops are the numbers of hits that recall is measured at.
var tops = [...]int{5, 10, 25, 50}

// searched is a question with evidence, and what a search for it finds.
type searched struct {
	c        *conversation
	evidence []string
	hits     []rank.Hit
}

// search searches for all questions that have evidence.
func search(list []conversation, opts rank.Options) (all []searched) {
	for i := range list {
		c := &list[i]
		ix := c.index()
		for _, q := range c.Questions {
			if len(q.Evidence) > 0 {
				all = append(all, searched{c, q.Evidence, ix.Search(q.Question, opts)})
			}
		}
	}
	return all
}

// recalls is the share of a question's evidence in the top hits, as the mean
// over all questions.
func recalls(all []searched) (recall [len(tops)]float64) {
	for _, s := range all {
		for k, top := range tops {
			for _, h := range s.hits[:min(top, len(s.hits))] {
				if slices.Contains(s.evidence, s.c.Turns[h.Text].ID) {
					recall[k] += 1 / float64(len(s.evidence))
				}
			}
		}
	}
	for k := range recall {
		recall[k] /= float64(len(all))
	}
	return recall
}

// withReplies is the conversation with a listener who has a word or two to say
// after each turn.
func withReplies(c conversation) conversation {
	turns := c.Turns
	c.Turns = nil
	for i, t := range turns {
		c.Turns = append(c.Turns, t)
		t.ID, t.Speaker, t.Caption = "", "Listener", ""
		t.Text = []string{"Sounds good!", "Yes, sure.", "Go on.", "Nice one"}[i%4]
		c.Turns = append(c.Turns, t)
	}
	return c
}

// TestEvidence measures on public conversations how much of what a question
// needs is found, option by option.
func TestEvidence(t *testing.T) {
	features.Proves(t, "N9")
	list := conversations(t)
	tests := []struct {
		what    string
		opts    rank.Options
		r5, r10 float64 // at least
	}{
		{"all: Conversation()", rank.Conversation(), 0.71, 0.79},
		{"plain BM25", rank.Options{}, 0.56, 0.62},
		{"and the group", rank.Options{Group: 1}, 0.58, 0.64},
		{"and the author", rank.Options{Author: 0.5}, 0.56, 0.63},
		{"and surroundings", rank.Options{Near: 0.5}, 0.66, 0.75},
	}
	for _, tc := range soak.Sample(tests, 1, len(tests)) {
		t.Run(tc.what, func(t *testing.T) {
			r := recalls(search(list, tc.opts))
			t.Logf("%-20s R@5 %.3f R@10 %.3f R@25 %.3f R@50 %.3f", tc.what, r[0], r[1], r[2], r[3])
			if r[0] < tc.r5 || r[1] < tc.r10 {
				t.Errorf("R@5 %.3f and R@10 %.3f, at least %.2f and %.2f wanted", r[0], r[1], tc.r5, tc.r10)
			}
		})
	}
	var replied []conversation
	for _, c := range list {
		replied = append(replied, withReplies(c))
	}
	plain, all := recalls(search(replied, rank.Options{})), recalls(search(replied, rank.Conversation()))
	t.Logf("with short replies between: plain BM25 %.3f, Conversation() %.3f", plain, all)
	if all[0] < plain[0]+0.05 || all[1] < plain[1]+0.05 {
		t.Errorf("short replies between the turns take the place of what is looked for: %.3f, plain BM25 %.3f", all, plain)
	}
}
