package rank_test

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/rank"
)

func indexOf(texts ...rank.Text) *rank.Index {
	ix := new(rank.Index)
	for _, t := range texts {
		ix.Add(t)
	}
	return ix
}

func said(author, group, body string) rank.Text {
	return rank.Text{Body: body, Author: author, Group: group}
}

func numbers(hits []rank.Hit) (list []int) {
	for _, h := range hits {
		list = append(list, h.Text)
	}
	return list
}

// TestSearchScore: the score is the formula of the package comment.
func TestSearchScore(t *testing.T) {
	ix := indexOf(said("", "", "red red blue"), said("", "", "green"), said("", "", "red green"))
	hits := ix.Search("red", rank.Options{})
	idf := math.Log(1 + (3-2+0.5)/(2+0.5))
	score := func(f, length float64) float64 {
		return idf * f * (rank.K1 + 1) / (f + rank.K1*(1-rank.B+rank.B*length/2))
	}
	want := []rank.Hit{{Text: 0, Score: score(2, 3)}, {Text: 2, Score: score(1, 2)}}
	if len(hits) != 2 {
		t.Fatalf("%d hits for 2 texts with the word", len(hits))
	}
	for i, h := range hits {
		if h.Text != want[i].Text || math.Abs(h.Score-want[i].Score) > 1e-12 {
			t.Errorf("hit %d is %+v, not %+v", i, h, want[i])
		}
	}
}

func TestSurroundings(t *testing.T) {
	features.Proves(t, "N9")
	ix := indexOf(
		said("Ann", "1", "Where did you park the bicycle, Bob?"),                     // 0
		said("Bob", "1", "Behind the old mill."),                                     // 1
		said("Ann", "1", "Good."),                                                    // 2
		said("Bob", "2", "The weather is awful today."),                              // 3
		said("Ann", "2", "Bob, I painted the mill and the bridge over the river."),   // 4
		said("Bob", "3", "I painted the whole kitchen yellow, and the bathroom too"), // 5
	)
	for _, tc := range []struct {
		why, query string
		opts       rank.Options
		want       []int
	}{
		{"the words alone find the question", "park bicycle", rank.Options{}, []int{0}},
		{"the answer stands beside the question, and groups do not reach into one another", "park bicycle",
			rank.Options{Near: 0.5}, []int{0, 1, 2}},
		{"a group's other texts come after what was found in it", "weather", rank.Options{Group: 1}, []int{3, 4}},
		{"equals come in order", "mill", rank.Options{}, []int{1, 4}},
		{"of both that painted, the one the query names, not who speaks to him", "What did Bob paint?",
			rank.Options{Author: 0.5}, []int{5, 4}},
		{"a query of nothing but a name finds where it stands", "Bob", rank.Options{Author: 0.5}, []int{0, 4}},
		{"the newer of two", "mill", rank.Options{Recency: 2}, []int{4, 1}},
		{"at most that many", "mill", rank.Options{Limit: 1}, []int{1}},
		{"nothing but stop words", "what is it", rank.Conversation(), nil},
		{"no text has it", "xylophone", rank.Conversation(), nil},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := numbers(ix.Search(tc.query, tc.opts)); !reflect.DeepEqual(got, tc.want) {
				t.Errorf("%q finds %v, not %v", tc.query, got, tc.want)
			}
		})
	}
}

// TestIncremental: an index that grew between searches answers as one that was
// built at once, however often it is asked.
func TestIncremental(t *testing.T) {
	grown, whole := new(rank.Index), new(rank.Index)
	var texts []rank.Text
	for i := range 200 {
		texts = append(texts, said(fmt.Sprint("p", i%3), fmt.Sprint(i/20),
			strings.Repeat(fmt.Sprintf("word%d thing%d ", i%17, i%5), 1+i%4)))
	}
	for _, text := range texts {
		grown.Add(text)
		grown.Search("word3 thing2", rank.Conversation())
	}
	for _, text := range texts {
		whole.Add(text)
	}
	want := whole.Search("word3 thing2 p1", rank.Conversation())
	for range 20 {
		if got := grown.Search("word3 thing2 p1", rank.Conversation()); !reflect.DeepEqual(got, want) {
			t.Fatal("the grown index answers differently")
		}
	}
	if grown.Len() != 200 || len(want) == 0 {
		t.Errorf("%d texts and %d hits", grown.Len(), len(want))
	}
}

func TestEmptyIndex(t *testing.T) {
	ix := new(rank.Index)
	if hits := ix.Search("anything", rank.Conversation()); hits != nil {
		t.Errorf("an empty index finds %v", hits)
	}
	ix.Add(rank.Text{})
	ix.Add(rank.Text{About: "May 2023"})
	if got := numbers(ix.Search("may 2023", rank.Options{})); !reflect.DeepEqual(got, []int{1}) {
		t.Errorf("what is about an empty text finds %v, not [1]", got)
	}
}

func TestPassage(t *testing.T) {
	text := strings.Repeat("lorem ipsum dolor ", 50) + "the port is 8443 in server.yaml " +
		strings.Repeat("sit amet elit ", 50) + "port "
	ix := indexOf(said("", "", text), said("", "", "a port"))
	for _, tc := range []struct {
		why, query string
		size       int
		want       string // in the passage
	}{
		{"where most of the query stands", "which port in server.yaml?", 60, "port is 8443 in server.yaml"},
		{"a rare word weighs more than a frequent one", "port 8443", 20, "8443"},
		{"nothing of the query: the beginning", "xylophone", 20, "lorem ipsum dolor"},
		{"no room", "port", 0, ""},
		{"room for all", "port", len(text), text},
	} {
		t.Run(tc.why, func(t *testing.T) {
			start, end := ix.Passage(text, tc.query, tc.size)
			if got := text[start:end]; !strings.Contains(got, tc.want) || len(got) > tc.size {
				t.Errorf("the passage is %q", got)
			}
		})
	}
}

func FuzzPassage(f *testing.F) {
	f.Add("pkg/foo_bar.go 日本語のテキスト parseHTTPBody", "日本 http", 12)
	f.Add("don't stop\xff", "stop", 3)
	f.Add("a_b__c_ _ __", "b c", -1)
	f.Fuzz(func(t *testing.T, text, query string, size int) {
		size %= 1 << 20
		ix := indexOf(rank.Text{Body: text, Author: query, Group: "g"}, rank.Text{Body: query, About: text})
		start, end := ix.Passage(text, query, size)
		if start < 0 || end < start || end > len(text) || end-start > max(0, size) {
			t.Fatalf("passage [%d:%d] of %d bytes, at most %d", start, end, len(text), size)
		}
		opts, bodies := rank.Conversation(), []string{text, query}
		opts.Passages = true
		for _, h := range ix.Search(query, opts) {
			body := bodies[h.Text]
			start, end := h.Around(body, max(0, size))
			if h.Start > h.End || h.End > len(body) || utf8.ValidString(body) && (start > h.Start || end < h.End) {
				t.Fatalf("[%d:%d], around it [%d:%d], of %d bytes", h.Start, h.End, start, end, len(body))
			}
			if h.Score <= 0 || math.IsNaN(h.Score) || math.IsInf(h.Score, 0) {
				t.Fatalf("a score of %v", h.Score)
			}
		}
	})
}

func BenchmarkAdd(b *testing.B) {
	text := strings.Repeat("ok pkg/step12/run.go:120: the TestReserve in internal/store fails with ErrConflict again. ",
		100)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	ix := new(rank.Index)
	for b.Loop() {
		ix.Add(rank.Text{Body: text})
	}
}

func BenchmarkSearch(b *testing.B) {
	ix := new(rank.Index)
	for i := range 10_000 {
		ix.Add(said("", fmt.Sprint(i/50), fmt.Sprintf("step%d of the work in file%d.go fails with ErrConflict", i, i%100)))
	}
	for b.Loop() {
		ix.Search("file7.go ErrConflict", rank.Conversation())
	}
}
