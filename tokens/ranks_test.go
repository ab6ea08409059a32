package tokens_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	loader "github.com/pkoukk/tiktoken-go-loader"

	"github.com/kagewasm/kagewasm/tokens"
)

var update = flag.Bool("update", false, "write the vocabularies anew")

// TestRanks: the vocabularies are those that are published.
func TestRanks(t *testing.T) {
	for _, e := range []tokens.Encoding{tokens.O200k, tokens.CL100k} {
		t.Run(string(e), func(t *testing.T) {
			want, err := loader.NewOfflineLoader().LoadTiktokenBpe(string(e) + ".tiktoken")
			if err != nil {
				t.Fatal(err)
			}
			if *update {
				if err := os.WriteFile(string(e)+".ranks.gz", packRanks(t, want), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			gz, err := os.ReadFile(string(e) + ".ranks.gz") // what was linked is older after an update
			if err != nil {
				t.Fatal(err)
			}
			if got, err := tokens.ReadRanks(gz); err != nil || !maps.Equal(got, want) {
				t.Errorf("%d tokens, not the %d that are published (go test -update writes them): %v", len(got), len(want), err)
			}
		})
	}
}

// packRanks writes a vocabulary the way the package reads it.
func packRanks(t *testing.T, ranks map[string]int) []byte {
	t.Helper()
	list := slices.SortedFunc(maps.Keys(ranks), func(a, b string) int { return ranks[a] - ranks[b] })
	lengths := make([]byte, 0, len(list)+1)
	for rank, token := range list {
		if ranks[token] != rank || len(token) == 0 || len(token) > 255 {
			t.Fatalf("token %q of rank %d does not fit the form", token, ranks[token])
		}
		lengths = append(lengths, byte(len(token)))
	}
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{string(append(lengths, 0)), strings.Join(list, "")} {
		if _, err := w.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// BenchmarkLoad is what the first text costs that is counted: read the ranks,
// make the encoder.
func BenchmarkLoad(b *testing.B) {
	for _, e := range []tokens.Encoding{tokens.O200k, tokens.CL100k} {
		b.Run(string(e), func(b *testing.B) {
			for b.Loop() {
				tokens.Load(e)
			}
		})
	}
}
