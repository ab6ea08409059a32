package tokens_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/tokens"
)

// Cut at every boundary that is held to be certain, a text must count as it
// does whole.
func checkBoundaries(t rapid.TB, s string) {
	for _, e := range encodings {
		chunks, certain := tokens.Chunks(e, s, 1)
		if strings.Join(chunks, "") != s {
			t.Fatalf("%s: the chunks of %q are %q", e, s, chunks)
		}
		if !certain {
			continue
		}
		sum := 0
		for _, c := range chunks {
			sum += plain(t, e, c)
		}
		if want := plain(t, e, s); sum != want {
			t.Fatalf("%s: %q counts %d, cut into %q %d", e, s, want, chunks, sum)
		}
	}
}

// Every pair and triple of what the patterns tell apart, in both encodings, and
// in a longer test with what may come after.
func TestBoundariesInEveryContext(t *testing.T) {
	atoms := []string{" ", "\t", "\n", "\r", "\r\n", "\u00a0", "\u2028", "\u0085", "1", "12", "1234", "a", "B", "ſ", "ǅ", "ʰ", "漢",
		"\u0301", "\u0903", "'", "'s", "'LL", "'l", "L", "/", "//", ".", "=", "😀", "\u200d", "\xff", "Ⅷ", "½", "\x00"}
	tail := soak.Sample([]string{"", "x", " ", "\n", "/", "'"}, 1, 6)
	if raceEnabled {
		tail = tail[:1] // one goroutine, and slow
	}
	for _, a := range atoms {
		for _, b := range atoms {
			for _, c := range atoms {
				for _, d := range tail {
					checkBoundaries(t, a+b+c+d)
				}
			}
		}
	}
}

func TestBoundariesInRandomText(t *testing.T) {
	atom := rapid.OneOf(
		rapid.SampledFrom([]string{" ", "  ", "\n", "\r\n", "\t", "'", "'s", "'re", "/", ".", "{\"", "\":", "12345", "word", "Word", "WORD", "漢字", "ไทย", "e\u0301", "\u0301", "😀", "\xfe", "<|im_start|>"}),
		rapid.StringN(1, 4, 16))
	rapid.Check(t, func(t *rapid.T) {
		checkBoundaries(t, strings.Join(rapid.SliceOfN(atom, 0, 40).Draw(t, "atoms"), ""))
	})
}

// Time is linear because no piece that is merged is longer than MaxPiece, and
// no text that is split at once longer than a chunk.
func TestPiecesAreBounded(t *testing.T) {
	for _, e := range encodings {
		pattern := regexp2.MustCompile(tokens.Pattern(e), regexp2.None)
		for name, unit := range adversarial {
			s := repeat(unit, 40_000)
			chunks, _ := tokens.Chunks(e, s, tokens.MinChunk)
			if strings.Join(chunks, "") != s {
				t.Fatalf("%s: %s: the chunks are not the text", e, name)
			}
			for _, chunk := range chunks {
				if len(chunk) > tokens.MinChunk+tokens.MaxPiece {
					t.Errorf("%s: %s: a chunk of %d bytes", e, name, len(chunk))
				}
				if n := longest(t, pattern, chunk); n > tokens.MaxPiece {
					t.Errorf("%s: %s: a piece of %d bytes", e, name, n)
				}
			}
		}
	}
}

func longest(t *testing.T, pattern *regexp2.Regexp, s string) (n int) {
	t.Helper()
	m, err := pattern.FindStringMatch(s)
	for ; m != nil && err == nil; m, err = pattern.FindNextMatch(m) {
		n = max(n, len(m.String()))
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestChunksKeepRunesWhole(t *testing.T) {
	for _, unit := range []string{"漢", "😀", "e\u0301"} {
		t.Run(unit, func(t *testing.T) {
			chunks, certain := tokens.Chunks(tokens.O200k, strings.Repeat(unit, 5000), tokens.MinChunk)
			for _, c := range chunks {
				if !utf8.ValidString(c) {
					t.Fatalf("%q: a chunk ends inside a rune", unit)
				}
			}
			if unit != "😀" && certain {
				t.Errorf("a run of %d bytes is said to be cut at certain boundaries", 5000*len(unit))
			}
		})
	}
}

// What is cut inside a piece, and is the same all through, is off by no more
// than a token a cut, and never under.
func TestCutsCostATokenEach(t *testing.T) {
	for _, e := range encodings {
		c := counter(t, e, uncached)
		for name, unit := range adversarial {
			s := repeat(unit, 4000) // short enough for the plain count
			got, err := c.Measure(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			want := plain(t, e, s)
			if got.Exact && got.Tokens != want {
				t.Errorf("%s: %s: %d, said to be exact, but is %d", e, name, got.Tokens, want)
			}
			if slack := len(s) * 3 / (tokens.MaxPiece - 3); got.Tokens < want || got.Tokens > want+slack {
				t.Errorf("%s: %s: %d, want %d to %d", e, name, got.Tokens, want, want+slack)
			}
		}
	}
}

// Of other long pieces a cut may even save a token or two.
func TestCutsInRandomPieces(t *testing.T) {
	part := rapid.SampledFrom([]string{"inter", "national", "ization", "the", "un", "believ", "q", "x", "z", "j", "状", "态", "管理", "ก", "ำ"})
	sign := rapid.SampledFrom([]string{"=", "-", "*", "_", "#", "~", "+"})
	for _, e := range encodings {
		c := counter(t, e, uncached)
		rapid.Check(t, func(t *rapid.T) {
			atom := part
			if rapid.Bool().Draw(t, "signs") {
				atom = sign
			}
			s := strings.Join(rapid.SliceOfN(atom, 1, 600).Draw(t, "atoms"), "")
			if got, want, cuts := c.Text(s), plain(t, e, s), len(s)/(tokens.MaxPiece-3); got < want-2*cuts || got > want+2*cuts {
				t.Fatalf("%s: %d tokens, want %d; %d cuts", e, got, want, cuts)
			}
		})
	}
}

func FuzzText(f *testing.F) {
	for _, unit := range adversarial {
		f.Add(repeat(unit, 700))
		f.Add(unit)
	}
	f.Add("func main() {\n\tfmt.Println(\"hi\")\n}\n\n\n  // it's\r\n")
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 10_000 {
			return // the plain count is quadratic
		}
		checkBoundaries(t, s)
		for _, e := range encodings {
			n, err := counter(t, e, uncached).Measure(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			// An invalid byte is encoded as three.
			if n.Tokens < 0 || n.Tokens > 3*len(s) || n.Tokens == 0 && s != "" {
				t.Fatalf("%s: %d tokens in %d bytes", e, n.Tokens, len(s))
			}
			if want := plain(t, e, s); n.Exact && n.Tokens != want {
				t.Fatalf("%s: %q counts %d, want %d", e, s, n.Tokens, want)
			}
		}
	})
}
