package rank_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/rank"
)

// TestParts: an index put together of parts and of the lists of the query's
// terms, in two pieces, answers as the whole does.
func TestParts(t *testing.T) {
	features.Proves(t, "N9")
	var texts []rank.Text
	for i := range 300 {
		body := fmt.Sprintf("word%d thing%d. ", i%17, i%5)
		if i%40 == 7 {
			body = strings.Repeat(body+"Some more of it, and filler. ", 40)
		}
		texts = append(texts, rank.Text{Body: body, About: "2023-05-08", Author: fmt.Sprint("p", i%3),
			Group: fmt.Sprint(i / 20)})
	}
	whole, built := indexOf(texts...), new(rank.Index)
	const query = "word3 thing2 p1 2023-05-08"
	wanted := make(map[string]bool)
	rank.Terms(query, func(term []byte, _, _ int) bool {
		wanted[string(term)] = true
		return true
	})
	for _, piece := range [][]rank.Text{texts[:170], texts[170:]} {
		t.Run(fmt.Sprintf("%d texts", len(piece)), func(t *testing.T) {
			from, offset := indexOf(piece...), built.PartCount()
			n := 0
			for p := range from.Parts() {
				if !p.Same {
					p.Author, p.Group = built.Author(piece[n].Author), built.Group(piece[n].Group)
					n++
				}
				built.AddPart(p)
			}
			last := ""
			for term, list := range from.Lists() {
				if term <= last {
					t.Fatalf("%q comes after %q", term, last)
				}
				if last = term; wanted[term] {
					built.AddList(term, list, offset)
				}
			}
		})
	}
	want, got := whole.Search(query, rank.Conversation()), built.Search(query, rank.Conversation())
	if len(want) == 0 || !reflect.DeepEqual(got, want) || built.Len() != len(texts) {
		t.Errorf("%d texts and %d hits, %v, not %v", built.Len(), len(got), got[:min(3, len(got))], want[:min(3, len(want))])
	}
}

// TestListsAreSorted: by their bytes, also where terms begin alike for longer than a number can tell, or one begins
// another; and what one list grows by is in no other one.
func TestListsAreSorted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.StringMatching(`((international|b|zz9|世界人|h2o)(k1z0|q9){0,4} ?){0,30}`)
		texts := rapid.SliceOfN(words, 0, 20).Draw(t, "texts")
		var ix rank.Index
		if rapid.Bool().Draw(t, "room") {
			ix.Grow(1, 1)
		}
		want := make(map[string][]rank.Posting)
		for i, text := range texts {
			text = clip.Head(text, 60) // one part
			ix.Add(rank.Text{Body: text})
			rank.Terms(text, func(term []byte, _, _ int) bool {
				list := want[string(term)]
				if n := len(list); n > 0 && list[n-1].Part == int32(i) {
					list[n-1].Count++
				} else {
					want[string(term)] = append(list, rank.Posting{Part: int32(i), Count: 1})
				}
				return true
			})
		}
		var terms []string
		for term, list := range ix.Lists() {
			if terms = append(terms, term); !slices.Equal(list, want[term]) {
				t.Fatalf("%q stands in %v, not %v", term, list, want[term])
			}
		}
		if !slices.Equal(terms, slices.Sorted(maps.Keys(want))) {
			t.Fatalf("the terms are %q", terms)
		}
	})
}

// TestOnly: an index of the terms of a query answers it as the whole does.
func TestOnly(t *testing.T) {
	var texts []rank.Text
	for i := range 200 {
		texts = append(texts, rank.Text{Body: fmt.Sprintf("Word%d and thing%d, bought in 20%02d/x.go", i%17, i%5, i%30),
			About: fmt.Sprint("2023-05-", i/20), Author: fmt.Sprint("p", i%3), Group: fmt.Sprint(i / 20)})
	}
	for _, query := range []string{"word3 thing2 p1", "2023-05-7", "buy 2007/x.go", "p2", "nothing of it"} {
		t.Run(query, func(t *testing.T) {
			var terms []string
			rank.Terms(query, func(term []byte, _, _ int) bool {
				terms = append(terms, string(term))
				return true
			})
			only := new(rank.Index)
			only.Only(terms)
			for _, text := range texts {
				only.Add(text)
			}
			want := indexOf(texts...).Search(query, rank.Conversation())
			if got := only.Search(query, rank.Conversation()); !reflect.DeepEqual(got, want) {
				t.Errorf("%d hits, not %d", len(got), len(want))
			}
		})
	}
}

// TestRankedIsSearch: hits come in the same order, whether all are wanted or
// some.
func TestRankedIsSearch(t *testing.T) {
	ix := new(rank.Index)
	for i := range 500 {
		ix.Add(said("", fmt.Sprint(i/50), strings.Repeat("blue ", 1+i*7%11)+fmt.Sprint("thing", i%3)))
	}
	all := ix.Search("blue thing1", rank.Conversation())
	for i := range all[1:] {
		if a, b := all[i], all[i+1]; a.Score < b.Score || a.Score == b.Score && a.Text > b.Text {
			t.Fatalf("%+v comes before %+v", a, b)
		}
	}
	opts := rank.Conversation()
	opts.Limit = 20
	if got := ix.Search("blue thing1", opts); !reflect.DeepEqual(got, all[:20]) {
		t.Error("the best are others where fewer are wanted")
	}
}

// TestPlaces: the passages of a text, one behind the other, are all of it, and a
// passage begins where a sentence does if there are any.
func TestPlaces(t *testing.T) {
	features.Proves(t, "N9")
	for _, tc := range []struct{ why, sentence, begins string }{
		{"sentences", "The committee of the harbour district met about roads, bridges and schools. ", "The committee"},
		{"lists", "- On the roads\n", "- On"},
		{"no sentences", "roads bridges and schools ", ""},
		{"no spaces", "我们昨天在北京开会讨论道路和学校的事情", ""},
		{"sentences without spaces", "我们昨天在北京开会。讨论道路和学校。", ""},
		{"names", "parseHTTPBody_of_theRequest/path.go:", ""},
		{"nothing to find", "... --- ", ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			body := strings.Repeat(tc.sentence, 100)
			ix, end := indexOf(rank.Text{Body: body, About: "2023-05-08"}), 0
			for p := range ix.Parts() {
				begins := strings.HasPrefix(strings.TrimSpace(body[end:]), tc.begins)
				if end += int(p.Bytes); !begins || !utf8.ValidString(body[:end]) {
					t.Fatalf("a passage of %d bytes ends at %d, at %q", p.Bytes, end, body[end:min(end+40, len(body))])
				}
			}
			if end != len(body) {
				t.Errorf("passages of %d bytes of %d", end, len(body))
			}
		})
	}
}
