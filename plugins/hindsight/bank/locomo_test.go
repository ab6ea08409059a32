package bank_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/plugins/hindsight/bank"
)

type conversation struct {
	Turns []struct {
		ID, Date, Speaker, Text, Caption string

		Session any
	}
	Questions []struct {
		Question string
		Evidence []string
	}
}

func conversations(tb testing.TB, paths ...string) (list []conversation) {
	for _, path := range paths {
		doc, err := os.ReadFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		var c conversation
		if err := json.Unmarshal(doc, &c); err != nil {
			tb.Fatal(path, err)
		}
		list = append(list, c)
	}
	return list
}

// memories are the turns, with their dates as RFC 3339 where they can be read.
func (c *conversation) memories() (list []bank.Memory) {
	for _, turn := range c.Turns {
		text := turn.Speaker + ` said, "` + turn.Text + `"`
		if turn.Caption != "" {
			text += " and shared " + turn.Caption
		}
		when := turn.Date
		for _, form := range []string{"3:04 pm on 2 January, 2006", "2006/01/02 (Mon) 15:04"} {
			if at, err := time.Parse(form, when); err == nil {
				when = at.Format(time.RFC3339)
			}
		}
		list = append(list, bank.Memory{ID: turn.ID, Session: fmt.Sprint(turn.Session), Author: turn.Speaker,
			Time: when, Text: text})
	}
	return list
}

// TestBankEvidence measures how much of what questions about conversations
// need is recalled: in the best hits, and in hits that take twelve in a hundred
// of the conversation's characters. The public ones are not part of the project.
func TestBankEvidence(t *testing.T) {
	features.Proves(t, "K28")
	own := evidence(t, conversations(t, "../testdata/conversation.json"))
	own.atLeast(t, "own", 0.85, 0.85, 0.74)
	t.Run("public", func(t *testing.T) {
		paths := shared.Glob(t, "data", "locomo", "*.json")
		public := evidence(t, conversations(t, soak.Sample(paths, 5, len(paths))...))
		public.atLeast(t, "public", 0.71, 0.79, 0.90)
	})
}

// found is the mean share of the evidence that is among the best 5 and 10 hits,
// and in a part of the text.
type found struct{ five, ten, part float64 }

func (f found) atLeast(t *testing.T, what string, five, ten, part float64) {
	t.Helper()
	t.Logf("%s: R@5 %.3f, R@10 %.3f, at 12%% of the text %.3f", what, f.five, f.ten, f.part)
	if f.five < five || f.ten < ten || f.part < part {
		t.Errorf("%s: %.2f, %.2f and %.2f wanted", what, five, ten, part)
	}
}

func evidence(t *testing.T, list []conversation) (f found) {
	n := 0.0
	for _, c := range list {
		list := c.memories()
		kv := newKV()
		retain(t, kv, list...)
		for _, q := range c.Questions {
			if len(q.Evidence) == 0 {
				continue
			}
			n++
			share, left := 1/float64(len(q.Evidence)), bytesOf(list)*12/100
			for i, h := range recall(t, kv, bank.Query{Text: q.Question, Limit: len(c.Turns)}) {
				fits := len(h.Text) <= left
				if fits {
					left -= len(h.Text)
				}
				if !slices.Contains(q.Evidence, h.ID) {
					continue
				}
				if fits {
					f.part += share
				}
				if i < 10 {
					f.ten += share
				}
				if i < 5 {
					f.five += share
				}
			}
		}
	}
	return found{f.five / n, f.ten / n, f.part / n}
}
