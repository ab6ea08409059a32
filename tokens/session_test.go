package tokens_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/cost"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/tokens"
)

// texts returns all that is counted as text in a session.
func texts(msgs []abi.Message) (out []string) {
	for i := range msgs {
		out = append(out, msgs[i].Text(), msgs[i].Name)
		for _, c := range msgs[i].ToolCalls {
			out = append(out, c.Name, c.Arguments)
		}
	}
	return out
}

func readSession(tb testing.TB, path string) (msgs []abi.Message) {
	tb.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		var m abi.Message
		if err := json.Unmarshal(line, &m); err != nil {
			tb.Fatalf("%s: %v", path, err)
		}
		if m.Role.Valid() {
			msgs = append(msgs, m)
		}
	}
	return msgs
}

// sessions are a small one of our own, and the shared ones.
func sessions(tb testing.TB) []string {
	return shared.With(tb, []string{filepath.Join("testdata", "session.jsonl")})
}

// Real text counts exactly as tiktoken counts it, whole and line by line.
func TestSessionsCountAsTiktoken(t *testing.T) {
	budget := soak.Count(1<<19, 5<<20, 1<<40) // bytes of text; the plain count is slow, more so under -race
	if cost.Raced {
		budget = 1 << 20
	}
	paths := sessions(t)
	for _, e := range encodings {
		c := counter(t, e, uncached)
		total := 0
		compare := func(path, s string) {
			total++
			if got, want := c.Text(s), plain(e, s); got != want {
				t.Errorf("%s: %s: %.60q counts %d, want %d", e, path, s, got, want)
			}
		}
		for _, path := range paths {
			left := budget / len(paths)
			for _, s := range texts(readSession(t, path)) {
				if left -= 2 * len(s); left < 0 {
					break
				}
				compare(path, s)
				for line := range strings.Lines(s) {
					compare(path, line)
				}
			}
		}
		t.Logf("%s: %d texts", e, total)
	}
}

// a list that is counted again costs next to nothing, and counts the same.
func TestRecountIsTheSame(t *testing.T) {
	features.Proves(t, "T9")
	c := counter(t, tokens.O200k, tokens.Options{})
	msgs := readSession(t, filepath.Join("testdata", "session.jsonl"))
	first := sum(c, msgs)
	cached := c.Cached()
	again := sum(c, msgs)
	if first != again || first == 0 {
		t.Errorf("counted %d, then %d", first, again)
	}
	if c.Cached() != cached {
		t.Errorf("the second count was not taken from the cache: %d entries, then %d", cached, c.Cached())
	}
}
