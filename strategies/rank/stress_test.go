package rank_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/strategies/rank"
)

// pages are long answers of assistants, from conversations about anything else.
func pages(tb testing.TB) (list []string) {
	for _, c := range read(tb, "longmemeval") {
		for _, t := range c.Turns {
			if len(t.Text) > 1000 && len(t.Text) < 6000 {
				list = append(list, t.Text)
			}
		}
	}
	return list
}

// nods is the conversation with a word or two of the other one after each turn.
func nods(c conversation) conversation {
	turns := c.Turns
	c.Turns = nil
	for i, t := range turns {
		c.Turns = append(c.Turns, t)
		t.ID, t.Caption = "", ""
		t.Speaker = turns[(i+1)%len(turns)].Speaker
		t.Text = []string{"ok thanks", "yes sure", "oh wow", "Nice one", "haha true", "got it"}[i%6]
		c.Turns = append(c.Turns, t)
	}
	return c
}

// answered is the conversation with a page about something else after every so
// many turns.
func answered(c conversation, pages []string, every int) conversation {
	turns := c.Turns
	c.Turns = nil
	for i, t := range turns {
		c.Turns = append(c.Turns, t)
		if i%every == every-1 {
			t.ID, t.Speaker, t.Caption, t.Text = "", "assistant", "", pages[i*7%len(pages)]
			c.Turns = append(c.Turns, t)
		}
	}
	return c
}

// buried is the conversation with every so many turns in the middle of a page
// about something else.
func buried(c conversation, pages []string, every int) conversation {
	c.Turns = slices.Clone(c.Turns)
	for i := range c.Turns {
		if i%every == every-1 {
			a, b := pages[i*7%len(pages)], pages[(i*11+3)%len(pages)]
			c.Turns[i].Text = half(a, 2) + "\n\n" + c.Turns[i].Text + "\n\n" + half(b, 3)
		}
	}
	return c
}

// half is the beginning of a text, that part of it.
func half(text string, part int) string {
	n := len(text) / part
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// cyrillic is the conversation in letters that no stop word and no ending is
// known of.
func cyrillic(c conversation) conversation {
	var pairs []string
	for i, r := range "abcdefghijklmnopqrstuvwxyz" {
		pairs = append(pairs, string(r), string(rune('а'+i)), string(r-'a'+'A'), string(rune('А'+i)))
	}
	letters := strings.NewReplacer(pairs...)
	c.Turns, c.Questions = slices.Clone(c.Turns), slices.Clone(c.Questions)
	for i := range c.Turns {
		t := &c.Turns[i]
		t.Text, t.Speaker, t.Caption = letters.Replace(t.Text), letters.Replace(t.Speaker), letters.Replace(t.Caption)
	}
	for i := range c.Questions {
		c.Questions[i].Question = letters.Replace(c.Questions[i].Question)
	}
	return c
}

// TestStress measures what is found in conversations that were made harder,
// each in a way that real ones are hard.
func TestStress(t *testing.T) {
	features.Proves(t, "N9")
	list, pages := conversations(t), pages(t)
	tests := []struct {
		what           string
		change         func(c conversation) conversation
		r5, r10, share float64 // at least
	}{
		{"as they are", func(c conversation) conversation { return c }, 0.71, 0.79, 0.90},
		{"a nod after each turn", nods, 0.70, 0.78, 0.90},
		{"a page after each third turn", func(c conversation) conversation {
			return answered(c, pages, 3)
		}, 0.69, 0.77, 0.91},
		{"a page after each turn", func(c conversation) conversation { return answered(c, pages, 1) }, 0.64, 0.74, 0.91},
		{"each fourth turn within pages", func(c conversation) conversation { return buried(c, pages, 4) }, 0.64, 0.74, 0.87},
		{"each second turn within pages", func(c conversation) conversation { return buried(c, pages, 2) }, 0.58, 0.68, 0.85},
		{"within pages, and nods", func(c conversation) conversation { return nods(buried(c, pages, 2)) }, 0.60, 0.69, 0.85},
		{"in another language", cyrillic, 0.62, 0.71, 0.86},
	}
	for _, tc := range soak.Sample(tests, 2, len(tests)) {
		t.Run(tc.what, func(t *testing.T) {
			var hard []conversation
			for _, c := range list {
				hard = append(hard, tc.change(c))
			}
			found := search(hard, rank.Conversation())
			r, share := recalls(found), recallWithin(found, 0.12)
			t.Logf("%-30s R@5 %.3f R@10 %.3f, at 12%% of the text %.3f", tc.what, r[0], r[1], share)
			if r[0] < tc.r5 || r[1] < tc.r10 || share < tc.share {
				t.Errorf("R@5 %.3f, R@10 %.3f, %.3f at 12%% of the text; at least %.2f, %.2f and %.2f wanted", r[0],
					r[1], share, tc.r5, tc.r10, tc.share)
			}
		})
	}
}

// chat is a conversation about as many things, each an exchange of a question
// and an answer that does not name it.
func chat(n int) (texts []rank.Text) {
	for i := range n {
		texts = append(texts,
			said("Ann", "1", fmt.Sprintf("Tell me, where do you keep the thing%d of the kitchen these days?", i)),
			said("Bob", "1", fmt.Sprintf("Beside shelf%d under some blankets, where nobody looks.", i)))
	}
	return texts
}

// TestNods: nods between question and answer part them no further, and take
// no place themselves.
func TestNods(t *testing.T) {
	features.Proves(t, "N9")
	ix := new(rank.Index)
	for _, text := range chat(20) {
		ix.Add(text)
		ix.Add(said("Ann", "1", "Yes, sure."))
		ix.Add(said("Bob", "1", "Nice one!"))
	}
	for i := range 20 {
		got := numbers(ix.Search(fmt.Sprintf("thing%d", i), rank.Conversation()))
		// The answer before it is as near as the one after it.
		if len(got) < 3 || got[0] != 6*i || got[1] != 6*i+3 && got[2] != 6*i+3 {
			t.Errorf("thing%d finds %v, not what asks and what answers: %d and %d", i, got[:min(len(got), 4)], 6*i, 6*i+3)
		}
	}
}

// TestLong: a long text is found by the passage that tells of the query, as if
// that were all it said, and does not come before a short one by holding many
// words.
func TestLong(t *testing.T) {
	features.Proves(t, "N9")
	var page strings.Builder
	for i := range 400 {
		fmt.Fprintf(&page, "Sentence %d speaks about matter%d and nothing else at all. ", i, i%97)
	}
	long := page.String()
	ix := indexOf(
		said("Ann", "1", "I would like to know more about the harbour of Ostend."),
		said("Bob", "1", half(long, 2)+"The ferry to Ramsgate leaves at noon from pier seven. "+long[len(half(long, 2)):]),
		said("Ann", "2", "A ferry? I have never been to Ramsgate."),
		said("Bob", "2", long+"ferry. "+long+"noon. "+long+"pier. "+long+"seven."),
		said("Ann", "3", "matter5 was discussed on Tuesday, briefly."),
	)
	for _, tc := range []struct {
		query string
		want  int
	}{{"When does the ferry leave pier seven at noon?", 1}, {"matter5 on Tuesday", 4}, {"harbour", 0}} {
		t.Run(tc.query, func(t *testing.T) {
			if got := numbers(ix.Search(tc.query, rank.Options{})); len(got) == 0 || got[0] != tc.want {
				t.Errorf("%q finds %v, not %d first", tc.query, got, tc.want)
			}
		})
	}
	if got := ix.Search("matter96", rank.Options{}); len(got) != 2 {
		t.Errorf("a long text is %d hits", len(got))
	}
}
