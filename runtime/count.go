package runtime

import (
	"context"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
)

// countTokens answers the op tokens.count.
func (c *call) countTokens(ctx context.Context, r abi.TokensRequest) (any, error) {
	counter := c.plugin.runtime.counter
	if counter == nil {
		return nil, &abi.Error{Code: abi.CodeDenied, Message: "this host does not count tokens"}
	}
	if err := countItems("texts", len(r.Texts)); err != nil {
		return nil, err
	}
	counts := make([]int, len(r.Texts))
	for i, text := range r.Texts {
		for first := true; first || text != ""; first = false {
			c.check(ctx)
			n := pieceEnd(text)
			counts[i] += counter.Text(text[:n])
			text = text[n:]
		}
	}
	return abi.TokensResponse{Counts: counts}, nil
}

// minPiece is how much text is counted between two looks at the clock, twice
// that at most.
const minPiece = 64 << 10

// pieceEnd is where the first piece of a text ends. A tokenizer begins a new
// word at a space between two words, so cutting before one changes no count;
// text without any is cut anywhere between two runes.
func pieceEnd(s string) int {
	if len(s) <= 2*minPiece {
		return len(s)
	}
	for i := minPiece; i < 2*minPiece; i++ {
		if s[i] == ' ' && !spaceBefore(s, i) && !spaceAt(s, i+1) {
			return i
		}
	}
	end := 2 * minPiece
	for end > minPiece && !utf8.RuneStart(s[end]) {
		end--
	}
	return end
}

func spaceBefore(s string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return unicode.IsSpace(r)
}

func spaceAt(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return unicode.IsSpace(r)
}
