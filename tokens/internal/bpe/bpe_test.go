package bpe_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/tokens/internal/bpe"
	"github.com/kagewasm/kagewasm/tokens/internal/reference"
)

var encodings = map[string]*bpe.Encoding{"o200k_base": bpe.O200k, "cl100k_base": bpe.CL100k}

// check holds a text's tokens against tiktoken-go's.
func check(t rapid.TB, text string) {
	t.Helper()
	for name, e := range encodings {
		got, err := e.IDs(context.Background(), text)
		if err != nil {
			t.Fatal(err)
		}
		if want := reference.IDs(name, text); !slices.Equal(got, want) {
			t.Fatalf("%s: %.200q is %d, want %d", name, text, got, want)
		}
		for range 2 { // the second time as it is remembered
			if n, err := e.Count(context.Background(), text); n != len(got) || err != nil {
				t.Fatalf("%s: %.200q counts %d, %v, want %d", name, text, n, err, len(got))
			}
		}
	}
}

// atoms are what the patterns tell apart, and what they look for.
var atoms = []string{" ", "\t", "\n", "\r", "\r\n", "\u00a0", "\u2028", "\u0085", "1", "12", "1234", "a", "B", "ſ", "ǅ",
	"ʰ", "漢",
	"\u0301", "\u0903", "'", "'s", "'LL", "'l", "L", "/", "//", ".", "=", "😀", "\u200d", "\xff", "Ⅷ", "½", "\x00",
	"\U000e0100"}

// TestEveryContext: all that the patterns tell apart, three in a row, and what may come after.
func TestEveryContext(t *testing.T) {
	tail := soak.Sample([]string{"", "x", " ", "\n", "/", "'"}, 1, 2)
	first := soak.Sample(atoms, 5, len(atoms))
	for _, a := range first {
		for _, b := range atoms {
			for _, c := range atoms {
				for _, d := range tail {
					check(t, a+b+c+d)
				}
			}
		}
	}
}

func TestRandomText(t *testing.T) {
	atom := rapid.OneOf(
		rapid.SampledFrom([]string{" ", "  ", "\n", "\r\n", "\t", "'", "'s", "'re", "/", ".", "{\"", "\":", "12345",
			"word", "Word", "WORD", "漢字", "ไทย", "e\u0301", "\u0301", "😀", "\xfe", "<|im_start|>"}),
		rapid.StringN(1, 4, 16))
	rapid.Check(t, func(t *rapid.T) {
		check(t, strings.Join(rapid.SliceOfN(atom, 0, 40).Draw(t, "atoms"), ""))
	})
}

// TestLongPieces: what is merged within a piece, however long.
func TestLongPieces(t *testing.T) {
	part := rapid.SampledFrom([]string{"inter", "national", "ization", "the", "un", "believ", "q", "x", "z", "j", "aa",
		"aaa", "状", "态", "管理", "ก", "ำ"})
	sign := rapid.SampledFrom([]string{"=", "-", "--", "*", "_", "#", "~", "+", "\xff", "😀"})
	rapid.Check(t, func(t *rapid.T) {
		atom := part
		if rapid.Bool().Draw(t, "signs") {
			atom = sign
		}
		check(t, strings.Join(rapid.SliceOfN(atom, 1, 200).Draw(t, "atoms"), ""))
	})
}

// repeated are texts on which a careless counter takes more than linear time.
var repeated = []string{"a", "A", "aA", " ", "\t", "\n", "  \n", " \n", "\u2028", "7", "'", "'s", "a'", "=", "/\n",
	".\n", "漢", "กำ", "😀",
	"👩\u200d👩\u200d👧", "\u0301", "e\u0301\u0301", "..\u0301", "<|endoftext|>", "\xff", "\x00", "aGVsbG8gd29ybGQK",
	"deadBEEF0123",
	"\xed\xa0\x80", "The quick brown fox isn't lazy. "}

func TestRepeated(t *testing.T) {
	for _, unit := range repeated {
		for _, size := range []int{17, 130, soak.Count(500, 1000, 1000), soak.Count(1001, 3001, 3001)} {
			check(t, strings.Repeat(unit, size/len(unit)+1)[:size])
		}
	}
}

// TestCancelled: the context ends the count of any text, between pieces and inside of one.
func TestCancelled(t *testing.T) {
	for _, unit := range repeated {
		text := strings.Repeat(unit, 1<<20/len(unit))
		for _, after := range []int{0, 3} {
			ctx := &ending{Context: t.Context(), after: after}
			if n, err := bpe.O200k.Count(ctx, text); !errors.Is(err, context.Canceled) {
				t.Errorf("%q: %d, %v, want the context's error", unit, n, err)
			}
		}
	}
	check(t, "after counts that were given up")
}

// ending is a context that ends when it is looked at for the last time of a few.
type ending struct {
	context.Context
	after int
}

func (c *ending) Err() error {
	if c.after--; c.after < 0 {
		return context.Canceled
	}
	return nil
}

func TestConcurrent(t *testing.T) {
	texts := make([]string, 50)
	want := make([]int, len(texts))
	for i := range texts {
		texts[i] = strings.Repeat("The quick brown fox isn't lazy. 12345\n\n", 1+i)[:20*i]
		want[i] = len(reference.IDs("o200k_base", texts[i]))
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 200 {
				k := (i*7 + g) % len(texts)
				if got, _ := bpe.O200k.Count(t.Context(), texts[k]); got != want[k] {
					t.Errorf("text %d: %d, want %d", k, got, want[k])
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestLoadIsLight: a vocabulary takes 8 MB to load at most, and less to keep.
func TestLoadIsLight(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	bpe.Load()
	runtime.ReadMemStats(&after)
	if mb := float64(after.TotalAlloc-before.TotalAlloc) / 1e6; mb > 8 {
		t.Errorf("%.1f MB", mb)
	}
}

// BenchmarkLoad is what the first text costs that is counted.
func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		bpe.Load()
	}
}

func FuzzEncode(f *testing.F) {
	for _, unit := range repeated {
		f.Add(strings.Repeat(unit, 700/len(unit)))
		f.Add(unit)
	}
	f.Add("func main() {\n\tfmt.Println(\"hi\")\n}\n\n\n  // it's\r\n")
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) <= 2_000 { // the reference is quadratic
			check(t, s)
		}
	})
}
