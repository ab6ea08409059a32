package bank

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/cost"
)

// oneValue is a KV in which every key has the same value.
type oneValue string

func (v oneValue) Get(string) (string, bool, error)   { return string(v), true, nil }
func (oneValue) Set(string, string) error             { return nil }
func (oneValue) Swap(string, string, string) error    { return nil }
func (oneValue) Delete(string) error                  { return nil }
func (oneValue) List(string) (keys []string, _ error) { return nil, nil }

// samples are values of each kind.
func samples() (list []string) {
	v := new(values)
	memories := []Memory{
		{ID: "m1", Session: "s", Author: "Ann", Time: "2023-05-08T13:56:00Z", Type: "world", Tags: []string{"a"},
			Text: "one fish two fish"},
		{ID: "m2", Session: "s", Author: "Bob", Time: "2023-05-08T13:57:00Z",
			Text: strings.Repeat("red fish, blue fish. ", 50)},
		{ID: "ü", Session: "t", Text: "рыба"},
	}
	s := build(v, 0, memories)
	for _, value := range v.pending {
		list = append(list, value)
	}
	r := root{generation: 7, segments: []segment{s}, garbage: []garbage{{6, []string{s.table}}}, tail: memories}
	return append(list, r.write(), "", rootMagic)
}

// FuzzRead: whatever a value is, reading it ends, and in an *abi.Error where it
// is none.
func FuzzRead(f *testing.F) {
	for _, s := range samples() {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, value string) {
		check := func(err error) {
			if err != nil && abi.CodeOf(err) != abi.CodeState {
				t.Fatalf("%v", err)
			}
		}
		v := &values{kv: oneValue(value)}
		for texts := range 5 {
			s := segment{table: "t0000000000000000", known: "k0000000000000000", texts: texts}
			_, err := v.known(&s)
			check(err)
			tab, err := v.table(&s)
			check(err)
			if err == nil {
				o := opened{values: v, root: &root{segments: []segment{s}}, tables: []*table{tab}, blocks: make(map[string][]words)}
				check(o.addTerms(tab, []string{"blue", "fish", "рыба"}))
				for n := range texts {
					_, _, err := o.memory(n, new(Query))
					check(err)
				}
				_, err = merge(v, 0, []segment{s, s})
				check(err)
			}
		}
		l := lists{values: v, shards: []shard{{"a", "l0000000000000000"}, {"b", "l0000000000000000"}}, limit: 10}
		for {
			ok, err := l.next()
			if check(err); err != nil || !ok {
				break
			}
			_, err = l.postings()
			check(err)
		}
		w := wordsReader{reader: newReader("w", value)}
		for w.err == nil && w.pos < len(w.in) {
			w.next()
		}
		r, err := readRoot(value)
		if err != nil {
			return
		}
		again, err := readRoot(r.write())
		if err != nil || len(again.segments) != len(r.segments) || len(r.tail) > 0 && !reflect.DeepEqual(again.tail, r.tail) {
			t.Fatalf("a root that was read is not written the same: %v", err)
		}
	})
}

// FuzzRetain: whatever is retained comes back, as valid text.
func FuzzRetain(f *testing.F) {
	f.Add("m1", "s", "Ann", "2023-05-08", "one fish, yesterday")
	f.Add("\xff", "", "", "T", "May 8th 2023 \x00")
	f.Fuzz(func(t *testing.T, id, session, author, when, text string) {
		m := Memory{ID: id, Session: session, Author: author, Time: when, Text: text}.kept()
		v := new(values)
		s := build(v, 3, []Memory{m, {Text: "before"}, m})
		for name, value := range v.pending {
			if !utf8.ValidString(value) {
				t.Fatalf("%s is no text", name)
			}
		}
		tab, err := v.table(&s)
		if err != nil {
			t.Fatal(err)
		}
		o := opened{values: v, root: &root{segments: []segment{s}}, tables: []*table{tab}, blocks: make(map[string][]words)}
		for _, n := range []int{2, 0} {
			got, _, err := o.memory(n, new(Query))
			if err != nil || !reflect.DeepEqual(got, m) {
				t.Fatalf("%+v comes back as %+v, %v", m, got, err)
			}
		}
	})
}

// TestWords: words are runs of letters and digits, of any script, wherever they stand.
func TestWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		letters := rapid.SampledFrom([]rune("abyzABYZ0189@[`{/: \n_é世\u0660\u00a0\U0001F525\uFFFD"))
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.StringOfN(letters, 0, 12, -1), rapid.Just("abcdefgh09")), 0, 4).
			Draw(t, "text"), "")
		want := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		var got []string
		for start, end := nextWord(text, 0); start < end; start, end = nextWord(text, end) {
			got = append(got, text[start:end])
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q has the words %q, not %q", text, got, want)
		}
		var back []string
		for word, start := wordBefore(text, len(text)); word != ""; word, start = wordBefore(text, start) {
			back = append(back, word)
		}
		if slices.Reverse(back); strings.Join(back, " ") != strings.ToLower(strings.Join(want, " ")) {
			t.Errorf("%q has from its end on the words %q, not %q", text, back, want)
		}
	})
}

// TestNoDayIsPassedOver: days looks at each word that names a day together with those around it, whatever stands
// between them.
func TestNoDayIsPassedOver(t *testing.T) {
	said := time.Date(2023, 5, 8, 0, 0, 0, 0, time.UTC)
	pieces := []string{"3", "31", "2023", "0003", "8th", "x8", "three", "Ten", "days", "DAY", "ago", "AGO", "agog",
		"today", "TON\u0130GHT", "tonsil", "Yesterday", "yes", "May", "mayor", "june", "Sep", "of", "OF", "the", "night",
		" ", ", ", "-", "\n", "\u201c", "\u2014", "\u00e9", "\u4e16", "\u0301", "\xe4", "\xe4\xb8"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 20).Draw(t, "pieces"), rapid.SampledFrom(
			[]string{"", " "}).Draw(t, "between"))
		var want []string
		for start, end := nextWord(text, 0); mayNameDays(text) && start < end; start, end = nextWord(text, end) {
			if day := dayAt(text, start, end, said); day != "" {
				want = append(want, day)
			}
		}
		if got := days(text, said); got != strings.Join(want, " ") {
			t.Errorf("%q names %q, not %q", text, got, want)
		}
	})
}

func TestDays(t *testing.T) {
	said := time.Date(2023, 5, 8, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"on 2023-05-08 and 2023/12/24":              "day20230508 day0508 day20231224 day1224",
		"1:56 pm on 8 May, 2023":                    "day20230508 day0508",
		"the 3rd of June":                           "day0603",
		"June 3, 2022":                              "day20220603 day0603",
		"Dec 24th":                                  "day1224",
		"may I have 200 days":                       "",
		"yesterday, and three days ago":             "day20230507 day0507 day20230505 day0505",
		"10 days ago":                               "day20230428 day0428",
		"TEN Days Ago, 8 May days ago, one day ago": "day20230428 day0428 day0508 day20230507 day0507",
		"1. YESTERDAY, TON\u0130GHT, Two Days AGO":  "day20230507 day0507 day20230508 day0508 day20230506 day0506",
		"ON MAY 8TH, NOT MAYBE 9, 2 Sep 2022":       "day0508 day20220902 day0902",
		"in 2023, 5 of 8, or 99999999999999":        "",
		"\u201cYesterday\u201d\u20143 Jun":          "day20230507 day0507 day0603",
		"x8 May, \u00e99 May":                       "",
		"":                                          "",
	} {
		t.Run(text, func(t *testing.T) {
			if got := days(text, said); got != want {
				t.Errorf("%q names %q, not %q", text, got, want)
			}
		})
	}
	if got := days("yesterday", time.Time{}); got != "" {
		t.Errorf("a yesterday of nobody knows when is %q", got)
	}
}

// TestDaysOfOneWord: a text without a blank, of letters beyond ASCII and digits, takes time by its length alone.
func TestDaysOfOneWord(t *testing.T) {
	cost.Linear(t, 20_000, func(n int) func() {
		text := strings.Repeat("\u00e91", n)
		return func() { days(text, time.Time{}) }
	})
}
