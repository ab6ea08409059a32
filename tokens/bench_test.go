package tokens_test

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/tokens"
)

const prose = `The counter isn't clever: it splits the text, looks each piece up, and adds. ` +
	`Where a piece isn't in the vocabulary, its bytes are merged pair by pair, "lowest rank first".` + "\n\n"

const code = "func (c *Counter) Text(s string) int {\n\tn, _ := c.Measure(context.Background(), s)\n" +
	"\treturn n.Tokens // 0x1F, 12345\n}\n\n"

const jsonText = `{"id":"call_01","name":"read_file","arguments":{"path":"/srv/app/config.yaml","offset":1200,"limit":50}},`

var ordinary = map[string]string{"prose": prose, "code": code, "json": jsonText}

func BenchmarkText(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(ordinary)) {
		b.Run(name, func(b *testing.B) { benchmarkText(b, repeat(ordinary[name], 256<<10)) })
	}
}

func benchmarkText(b *testing.B, s string) {
	c := counter(b, tokens.O200k, uncached)
	c.Text("load")
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		c.Text(s)
	}
}

// BenchmarkAdversarial reports, as x-prose, how much longer a text takes than
// prose of the same length.
func BenchmarkAdversarial(b *testing.B) {
	const size = 1 << 20
	c := counter(b, tokens.O200k, uncached)
	base := least(c, repeat(prose, size))
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

// least is the shortest of three counts, after one to warm up.
func least(c *tokens.Counter, s string) time.Duration {
	c.Text(s[:len(s)/8])
	best := time.Duration(1<<63 - 1)
	for range 3 {
		start := time.Now()
		c.Text(s)
		best = min(best, time.Since(start))
	}
	return best
}

// BenchmarkRecount is a session that was counted before.
func BenchmarkRecount(b *testing.B) {
	path := slices.MaxFunc(sessions(b), func(x, y string) int { return len(texts(readSession(b, x))) - len(texts(readSession(b, y))) })
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

// No input takes more than ten times what prose takes. The work itself is
// bounded in TestPiecesAreBounded; this is for what that one does not see. A
// busy machine gets three tries.
func TestAdversarialTime(t *testing.T) {
	size := soak.Count(1<<14, 1<<16, 1<<16)
	if raceEnabled {
		size = 1 << 14
	}
	for _, e := range encodings {
		c := counter(t, e, uncached)
		base := least(c, repeat(prose, size))
		for name, unit := range adversarial {
			d := least(c, repeat(unit, size))
			for try := 0; try < 2 && d > 10*base; try++ {
				base, d = max(base, least(c, repeat(prose, size))), min(d, least(c, repeat(unit, size)))
			}
			if d > 10*base {
				t.Errorf("%s: %s: %v for %d bytes, prose %v", e, name, d, size, base)
			}
		}
	}
}
