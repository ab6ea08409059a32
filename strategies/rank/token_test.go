package rank_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/strategies/rank"
)

func terms(text string) string {
	var list []string
	rank.Terms(text, func(term []byte, _, _ int) bool {
		list = append(list, string(term))
		return true
	})
	return strings.Join(list, " ")
}

// TestPlainWords: a plain word is read as a word of any form is.
func TestPlainWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-zA-Z0-9]([a-z]{0,6}|[A-Z0-9]{0,3}|[a-zA-Z0-9_éß水’'./ -]{0,9}){0,3}[a-z]{0,70}`).
			Draw(t, "text")
		if want, got := rank.First(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %v, not %v", text, got, want)
		}
	})
}

func TestTerms(t *testing.T) {
	for _, tc := range []struct{ why, text, want string }{
		{"case and punctuation do not count", "Hello, WORLD!", "hello world"},
		{"stop words and lone letters are left out", "What is the x of a town?", "town"},
		{"what an apostrophe elides is no word", "it's Anna's, we don't", "anna"},
		{"the curly one neither", "Anna\u2019s dog", "anna dog"},
		{"a path is one term and its parts", "pkg/foo_bar.go", "pkg/foo_bar.go pkg foo_bar foo bar"},
		{"camel case", "parseHTTPBody", "parsehttpbody pars http bodi"},
		{"a capital first is no part", "Reserve", "reserv"},
		{"an irregular form is its word", "She bought what he wrote", "buy writ"},
		{"a word of its own is that of its plural", "one bit of thoughts, a thought of bits", "one bit think think bit"},
		{"digits stay with their word", "sha256 v2 404", "sha256 v2 404"},
		{"dates and versions are one term too", "2023-05-08 v1.2", "2023-05-08 2023 05 08 v1.2 v1 2"},
		{"a full stop ends a sentence", "at home. Then", "home"},
		{"underscores at the ends do not count", "__init__ _ _x1_", "init x1"},
		{"other scripts", "Привет МИР, καλημέρα", "привет мир καλημέρα"},
		{"marks belong to their letters", "हिन्दी", "हिन्दी"},
		{"Chinese by pairs", "我爱北京", "我爱 爱北 北京"},
		{"a lone character", "水 and 火", "水 火"},
		{"Japanese mixed with Latin", "GoでWASMを", "で wasm を"},
		{"Thai by pairs", "ไทย", "ไท ทย"},
		{"Korean has spaces", "안녕 세계", "안녕 세계"},
		{"invalid bytes are no letters", "a1\xffb1", "a1 b1"},
		{"accents do not count, composed or not", "Café cafe\u0301 CAFE", "cafe cafe cafe"},
		{"nor those of Vietnamese and Polish", "Nguyễn Łódź", "nguyen lodz"},
		{"a letter of its own is none with an accent", "smørrebrød Æther Straße", "smorrebrod æther straße"},
		{"no stop word of another language", "thé", "the"},
		{"marks of other scripts count", "и\u0306", "и\u0306"},
		{"email", "ann@example.org", "ann@example.org ann exampl org"},
		{"nothing", "", ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := terms(tc.text); got != tc.want {
				t.Errorf("%q has the terms %q, not %q", tc.text, got, tc.want)
			}
		})
	}
}

// TestLongTerms: encoded data makes few terms, and short ones.
func TestLongTerms(t *testing.T) {
	blob := strings.Repeat("aGVsbG8Xb3JsZA", 10_000)
	if got := terms(blob); len(got) > 200 {
		t.Errorf("a word of %d bytes has terms of %d bytes", len(blob), len(got))
	}
	if terms(blob) != terms(blob[:1000]) {
		t.Error("a long term does not count by its beginning")
	}
}

func TestStem(t *testing.T) {
	for _, family := range []string{
		"connect connects connected connecting connection connections",
		"hope hopes hoped hoping",
		"hop hops hopped hopping",
		"city cities",
		"paint paints painted painting paintings painter",
		"agree agreed agrees agreement",
		"class classes",
		"run runs running",
		"hike hikes hiked hiking",
		"happy happily happiness",
		"adopt adopted adopting adoption",
		"organize organized organization organizing",
		"fail fails failed failing",
		"test tests tested testing",
		"box boxes",
		"relate related relating",
	} {
		t.Run(family, func(t *testing.T) {
			words := strings.Fields(family)
			stem := string(rank.Stem([]byte(words[0])))
			for _, w := range words[1:] {
				if got := string(rank.Stem([]byte(w))); got != stem {
					t.Errorf("%s is stemmed to %s, %s to %s", words[0], stem, w, got)
				}
			}
		})
	}
	for _, w := range []string{"bus", "this", "go", "sha256", "naïves", "красные", "bring", "king", "red"} {
		t.Run(w, func(t *testing.T) {
			if got := string(rank.Stem([]byte(w))); got != w {
				t.Errorf("%s is stemmed to %s", w, got)
			}
		})
	}
}

func FuzzTerms(f *testing.F) {
	for _, s := range []string{"pkg/foo_bar.go", "parseHTTPBody __x__", "日本語 ก็", "don't \xff", "a.b.c/d::e",
		"_A_b_Cd'll"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		rank.Terms(text, func(term []byte, start, end int) bool {
			if start < 0 || start >= end || end > len(text) || len(term) == 0 || len(term) > 80 {
				t.Fatalf("term %q at [%d:%d] of %d bytes", term, start, end, len(text))
			}
			if utf8.ValidString(text) && !utf8.Valid(term) {
				t.Fatalf("term %q is no UTF-8", term)
			}
			again := rank.Stem(bytes.Clone(term))
			if len(again) == 0 {
				t.Fatalf("nothing is left of %q", term)
			}
			return true
		})
		n := 0
		rank.Terms(text, func([]byte, int, int) bool { n++; return false })
		if n > 1 {
			t.Fatal("goes on after it was told to stop")
		}
	})
}
