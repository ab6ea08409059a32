package rank_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/strategies/rank"
)

// filler is what is said in other conversations, for answers that go on about
// their matter for a page.
type filler struct {
	texts  []string
	search searcher
}

func newFiller(list []conversation, without int) *filler {
	f, p := new(filler), new(plain)
	for i := range list {
		if i == without {
			continue
		}
		for _, t := range list[i].Turns {
			if len(t.Text) > 40 {
				p.add(rank.Hit{Text: len(f.texts)}, t.Text)
				f.texts = append(f.texts, t.Text)
			}
		}
	}
	f.search = p.search
	return f
}

// like is that much filler about what a text is about.
func (f *filler) like(text string, n int) (list []string) {
	hits := f.search(text)
	for _, h := range hits[:min(n, len(hits))] {
		list = append(list, f.texts[h.Text])
	}
	return list
}

// lengthened is the conversation with every so many turns in the middle of a page
// about the same matter.
func lengthened(c conversation, f *filler, every int) conversation {
	c.Turns = slices.Clone(c.Turns)
	for i := range c.Turns {
		if t := &c.Turns[i]; i%every == every-1 {
			page := f.like(t.Text, 12)
			at := i % (len(page) + 1)
			t.Own = t.Text
			t.Text = strings.Join(slices.Concat(page[:at], []string{t.Text}, page[at:]), " ")
		}
	}
	return c
}

// chatted is the conversation as one with an assistant: a person says so many of
// its turns in one message, and gets a page about the same matter. With echo the
// page repeats the message before and after.
func chatted(c conversation, f *filler, turns int, echo bool) conversation {
	old := c.Turns
	in := make(map[string]string) // the message by turn
	c.Turns = nil
	for i := 0; i < len(old); {
		message := old[i]
		var said []string
		for n := 0; n < turns && i < len(old) && old[i].Session == message.Session; n, i = n+1, i+1 {
			in[old[i].ID] = message.ID
			said = append(said, strings.TrimSpace(old[i].Text+" "+old[i].Caption))
		}
		message.Speaker, message.Caption, message.Text = "user", "", strings.Join(said, " ")
		page := f.like(message.Text, 10+turns)
		if echo {
			page = slices.Concat([]string{message.Text}, page, []string{"In short:", message.Text})
		}
		answer := message
		answer.ID, answer.Speaker, answer.Text = "", "assistant", strings.Join(page, " ")
		c.Turns = append(c.Turns, message, answer)
	}
	c.Questions = slices.Clone(c.Questions)
	for i := range c.Questions {
		q := &c.Questions[i]
		var evidence []string
		for _, id := range q.Evidence {
			if !slices.Contains(evidence, cmp.Or(in[id], id)) {
				evidence = append(evidence, cmp.Or(in[id], id))
			}
		}
		q.Evidence = evidence
	}
	return c
}

// beside is the conversation with another one behind it.
func beside(c, other conversation) conversation {
	c.Turns = slices.Concat(c.Turns, other.Turns)
	return c
}

// asked is a chat with an assistant of which half the questions are taken out, to
// be asked: the evidence is the answer.
func asked(c conversation) conversation {
	turns := c.Turns
	c.Turns, c.Questions = nil, nil
	for i, t := range turns {
		if t.Speaker != "user" || i%4 > 1 || len(t.Text) > 400 || i+1 == len(turns) || turns[i+1].Session != t.Session {
			c.Turns = append(c.Turns, t)
			continue
		}
		c.Questions = append(c.Questions, question{t.Text, []string{turns[i+1].ID}})
	}
	return c
}

// quoted asks for each long answer by every other long word of a sentence in it.
func quoted(c conversation) conversation {
	c.Questions = nil
	for i, t := range c.Turns {
		if t.Speaker != "assistant" || len(t.Text) < 800 {
			continue
		}
		sentences := strings.FieldsFunc(t.Text, func(r rune) bool { return r == '.' || r == '\n' })
		var words []string
		for k, w := range strings.Fields(sentences[len(sentences)*(i%5)/5]) {
			if k%2 == i%2 && len(w) > 3 && len(words) < 5 {
				words = append(words, w)
			}
		}
		if len(words) > 2 {
			c.Questions = append(c.Questions, question{strings.Join(words, " "), []string{t.ID}})
		}
	}
	return c
}

// figureNames are what is compared: as many of the best, and as many as fit.
var figureNames = [...]string{"R@5", "R@10", "R@25", "R@50", "12%", "1,024 tokens"}

type figures [len(figureNames)]float64

// bytesPerToken is a guess that is as good for one ranking as for the other.
const bytesPerToken = 4

// measure is the mean share of the evidence. A passage of a turn that was
// lengthened counts where it holds half of what the turn said before.
func measure(list []conversation, by func(c *conversation) searcher) (sum figures) {
	questions := 0.0
	for i := range list {
		c := &list[i]
		search, size := by(c), 0
		for n := range c.Turns {
			size += len(c.body(n))
		}
		for n, q := range c.Questions {
			if len(q.Evidence) == 0 || n%soak.Count(3, 1, 1) > 0 {
				continue
			}
			questions++
			seen, used := make(map[string]int), 0
			for n, h := range search(q.Question) {
				id := c.Turns[h.Text].ID
				used += h.End - h.Start
				if !slices.Contains(q.Evidence, id) || !c.tells(h) {
					continue
				}
				fits := [...]bool{n < 5, n < 10, n < 25, n < 50, used <= size*12/100, used <= 1024*bytesPerToken}
				for k, within := range fits {
					if within && seen[id]&(1<<k) == 0 {
						seen[id] |= 1 << k
						sum[k] += 1 / float64(len(q.Evidence))
					}
				}
			}
		}
	}
	for k := range sum {
		sum[k] /= questions
	}
	return sum
}

// tells reports whether a passage holds half of what its turn said by itself.
func (c *conversation) tells(h rank.Hit) bool {
	own := c.Turns[h.Text].Own
	if own == "" {
		return true
	}
	at := strings.Index(c.body(h.Text), own)
	return min(h.End, at+len(own))-max(h.Start, at) >= len(own)/2
}

func rankTurns(c *conversation) searcher {
	ix := c.index()
	return func(query string) []rank.Hit {
		hits := ix.Search(query, rank.Conversation())
		for i := range hits {
			hits[i].Start, hits[i].End = 0, len(c.body(hits[i].Text))
		}
		return hits
	}
}

func rankPassages(c *conversation) searcher {
	ix, opts := c.index(), rank.Conversation()
	opts.Passages = true
	return func(query string) []rank.Hit { return ix.Search(query, opts) }
}

// TestNeverBelowPlain: whatever a conversation is like, what is found of it is no
// less than plain BM25 finds in the same run, by turns and by passages, at every
// number of hits and in every budget.
func TestNeverBelowPlain(t *testing.T) {
	features.Proves(t, "N9")
	list, chats := conversations(t), read(t, "longmemeval")
	list = soak.Sample(list, 4, len(list))
	type changer func(c conversation, f *filler) conversation
	each := func(change changer) func() []conversation {
		return func() (changed []conversation) {
			for i := range list {
				changed = append(changed, change(list[i], newFiller(list, i)))
			}
			return changed
		}
	}
	long := func(every int) changer {
		return func(c conversation, f *filler) conversation { return lengthened(c, f, every) }
	}
	chat := func(turns int, echo bool) changer {
		return func(c conversation, f *filler) conversation { return chatted(c, f, turns, echo) }
	}
	other := func(c conversation, _ *filler) conversation { return beside(c, chats[1]) }
	tests := []struct {
		what string
		list func() []conversation
		// less is what may be missing, where messages of several turns need no
		// surroundings and where nearly all is found anyway.
		less float64
	}{
		{"long answers", each(long(2)), 0},
		{"as they are", each(func(c conversation, _ *filler) conversation { return c }), 0},
		{"all of them long", each(long(1)), 0},
		{"eight turns and a page", each(chat(8, false)), 0.01},
		{"four turns and a page", each(chat(4, false)), 0},
		{"each turn told again", each(chat(1, true)), 0},
		{"beside a chat with an assistant", each(other), 0},
		{"questions to an assistant", func() []conversation { return lists(chats, asked) }, 0},
		{"words of an assistant", func() []conversation { return lists(chats, quoted) }, 0.01},
	}
	for _, tc := range soak.Sample(tests, 1, len(tests)) {
		t.Run(tc.what, func(t *testing.T) {
			changed := tc.list()
			compare(t, "turns", tc.less, measure(changed, rankTurns), measure(changed, plainTurns))
			compare(t, "passages", tc.less, measure(changed, rankPassages), measure(changed, plainPassages))
		})
	}
}

func compare(t *testing.T, unit string, less float64, ours, plain figures) {
	t.Helper()
	t.Logf("%-8s %.3f", unit, ours)
	t.Logf("%-8s %.3f", "plain", plain)
	for k, name := range figureNames {
		if ours[k] < plain[k]-less {
			t.Errorf("%s, %s: %.3f, and plain BM25 %.3f", unit, name, ours[k], plain[k])
		}
	}
}

func lists(list []conversation, change func(c conversation) conversation) (changed []conversation) {
	for _, c := range list {
		changed = append(changed, change(c))
	}
	return changed
}
