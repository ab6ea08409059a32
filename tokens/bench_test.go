package tokens_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/cost"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/tokens"
)

const prose = `The counter isn't clever: it splits the text, looks each piece up, and adds. ` +
	`Where a piece isn't in the vocabulary, its bytes are merged pair by pair, "lowest rank first".` + "\n\n"

// ordinary are kinds of text that sessions are made of, a tenth of a megabyte and more of each.
func ordinary(tb testing.TB) map[string]string {
	tb.Helper()
	return map[string]string{
		"prose": read(tb, "../*.md", "../docs/*.md"),
		"code":  read(tb, "../*.go", "*.go"),
		"json":  read(tb, "../testdata/demo.jsonl"),
		"logs":  logs(200_000),
		"cjk":   shuffled(read(tb, "testdata/cjk.txt"), 200_000),
	}
}

// read returns the files that match patterns, one after the other.
func read(tb testing.TB, patterns ...string) string {
	tb.Helper()
	var all strings.Builder
	for _, p := range patterns {
		paths, err := filepath.Glob(p)
		if err != nil || len(paths) == 0 {
			tb.Fatalf("%s: no files: %v", p, err)
		}
		for _, path := range paths {
			b, err := os.ReadFile(path)
			if err != nil {
				tb.Fatal(err)
			}
			all.Write(b)
		}
	}
	return all.String()
}

// shuffled is a text of so many bytes, made of the clauses of another one.
func shuffled(text string, size int) string {
	r := rand.New(rand.NewPCG(1, 2))
	clauses := regexp.MustCompile(`[^，。、,.\n]*[，。、,.\n]+`).FindAllString(text, -1)
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(clauses[r.IntN(len(clauses))])
	}
	return b.String()
}

// logs are lines as a server writes them, of so many bytes.
func logs(size int) string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC); b.Len() < size; at = at.Add(time.Duration(r.IntN(1e9))) {
		fmt.Fprintf(&b, "%s %s [worker-%d] request id=%08x path=/api/v1/sessions/%d/compact status=%d took=%.2fms\n",
			at.Format("2006-01-02T15:04:05.000Z"), []string{"INFO", "WARN", "ERROR"}[r.IntN(3)], r.IntN(8), r.Uint32(),
			r.IntN(10_000), 200+r.IntN(300), r.Float64()*100)
	}
	return b.String()
}

// BenchmarkText counts messages of 2 KB. It reports, as x-tiktoken, how much longer tiktoken-go takes for them in the
// same run.
func BenchmarkText(b *testing.B) {
	for _, e := range encodings {
		c := counter(b, e, uncached)
		var kinds []*kind
		for name, text := range ordinary(b) {
			kinds = append(kinds, newKind(name, text))
		}
		// In turn, so that no kind finds what its last round has left in memory.
		for range 5 {
			for _, k := range kinds {
				k.own = min(k.own, k.count(c.Text))
			}
		}
		for _, k := range kinds {
			k.other = least(2, func() { k.count(func(s string) int { return plain(e, s) }) })
		}
		for _, k := range kinds {
			b.Run(string(e)+"/"+k.name, func(b *testing.B) {
				b.SetBytes(int64(k.size))
				b.ReportAllocs()
				for b.Loop() {
					k.count(c.Text)
				}
				b.ReportMetric(float64(k.other)/float64(k.own), "x-tiktoken")
			})
		}
	}
}

// kind is a kind of text, and the shortest times that counting it took.
type kind struct {
	name       string
	messages   []string // of about 2 KB
	size       int
	own, other time.Duration
}

func newKind(name, text string) *kind {
	k := &kind{name: name, own: math.MaxInt64}
	for len(text) > 2000 && k.size < 200_000 {
		head := clip.Head(text, 2000)
		k.messages, text = append(k.messages, head), text[len(head):]
		k.size += len(head)
	}
	return k
}

// count returns how long counting all of it takes.
func (k *kind) count(count func(string) int) time.Duration {
	start := time.Now()
	for _, m := range k.messages {
		count(m)
	}
	return time.Since(start)
}

// least is the shortest of n times that f takes.
func least(n int, f func()) time.Duration {
	best := time.Duration(1<<63 - 1)
	for range n {
		start := time.Now()
		f()
		best = min(best, time.Since(start))
	}
	return best
}

// BenchmarkAdversarial reports, as x-prose, how much longer a text takes than
// prose of the same length.
func BenchmarkAdversarial(b *testing.B) {
	const size = 1 << 20
	c := counter(b, tokens.O200k, uncached)
	base := least(5, func() { c.Text(repeat(prose, size)) })
	for _, name := range slices.Sorted(maps.Keys(adversarial)) {
		b.Run(strings.ReplaceAll(name, " ", "_"), func(b *testing.B) {
			s := repeat(adversarial[name], size)
			b.SetBytes(size)
			for b.Loop() {
				c.Text(s)
			}
			b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(base), "x-prose")
		})
	}
}

// BenchmarkRecount is a session that was counted before.
func BenchmarkRecount(b *testing.B) {
	path := slices.MaxFunc(sessions(b), func(x, y string) int {
		return len(texts(readSession(b, x))) - len(texts(readSession(b, y)))
	})
	msgs := readSession(b, path)
	size := 0
	for _, s := range texts(msgs) {
		size += len(s)
	}
	c := counter(b, tokens.O200k, tokens.Options{})
	for _, warm := range []bool{false, true} {
		b.Run(map[bool]string{false: "cold", true: "warm"}[warm], func(b *testing.B) {
			b.Logf("%s: %d messages", filepath.Base(path), len(msgs))
			b.SetBytes(int64(size))
			for b.Loop() {
				if !warm {
					c = counter(b, tokens.O200k, tokens.Options{})
				}
				sum(c, msgs)
			}
		})
	}
}

// TestAdversarialTime: no input takes more than 40 times what prose takes.
func TestAdversarialTime(t *testing.T) {
	size := soak.Count(1<<16, 1<<18, 1<<20)
	if cost.Raced {
		size = 1 << 14
	}
	for _, e := range encodings {
		c := counter(t, e, uncached)
		of := func(unit string) func() {
			s := repeat(unit, size)
			return func() { c.Text(s) }
		}
		for name, unit := range adversarial {
			t.Run(string(e)+"/"+name, func(t *testing.T) { cost.AtMost(t, 40, of(prose), of(unit)) })
		}
	}
}
