package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/kagewasm/kagewasm/internal/soak"
)

// TestEmbedded: the vocabularies that are embedded are those that tiktoken-go has.
func TestEmbedded(t *testing.T) {
	for _, name := range soak.Sample(encodings, 1, len(encodings)) {
		t.Run(name, func(t *testing.T) {
			files, err := published(name)
			if err != nil {
				t.Fatal(err)
			}
			for file, want := range files {
				got, err := os.ReadFile(filepath.Join("..", "bpe", file))
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%s: %d bytes, not the %d of what tiktoken-go has (go generate ./tokens writes them)", file,
						len(got), len(want))
				}
			}
		})
	}
}

// TestCheck: what package bpe takes for granted is refused where it does not hold.
func TestCheck(t *testing.T) {
	with := func(more map[string]int) map[string]int {
		ranks := make(map[string]int)
		for b := range 256 {
			ranks[string([]byte{byte(b)})] = b
		}
		maps.Copy(ranks, more)
		return ranks
	}
	if _, _, err := write(with(map[string]int{"ab": 256, "abc": 257})); err != nil {
		t.Errorf("a small vocabulary is refused: %v", err)
	}
	for why, ranks := range map[string]map[string]int{
		"a byte that is no token":               {"ab": 0},
		"a rank that is missing":                with(map[string]int{"ab": 257}),
		"a rank that two tokens have":           with(map[string]int{"ab": 256, "bc": 256}),
		"a token that nothing merges to":        with(map[string]int{"abc": 256}),
		"a token that is merged from later one": with(map[string]int{"abc": 256, "ab": 257}),
		"a token that is too long":              with(map[string]int{string(make([]byte, 129)): 256}),
	} {
		t.Run(why, func(t *testing.T) {
			if _, _, err := write(ranks); err == nil {
				t.Error("it is taken")
			}
		})
	}
}
