package tokens

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"io"
	"strings"
)

// The vocabularies, written by TestRanks -update. Of the form in which they are
// published a program would carry 7 MB; these have 1.4, and load faster.
//
//go:embed o200k_base.ranks.gz
var o200kRanks []byte

//go:embed cl100k_base.ranks.gz
var cl100kRanks []byte

// readRanks returns the rank of each token of a vocabulary, which is its place.
// Compressed are the lengths of all tokens, a byte each, a zero, and the tokens.
func readRanks(gz []byte) (map[string]int, error) {
	r, err := gzip.NewReader(bytes.NewReader(gz))
	if err != nil {
		return nil, err
	}
	var text strings.Builder // tokens are parts of one string
	if _, err := io.Copy(&text, r); err != nil {
		return nil, err
	}
	lengths, tokens, _ := strings.Cut(text.String(), "\x00")
	ranks := make(map[string]int, len(lengths))
	for rank := range len(lengths) {
		n := lengths[rank]
		ranks[tokens[:n]], tokens = rank, tokens[n:]
	}
	return ranks, nil
}
