package host

import (
	"context"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
)

// tokens answers the op tokens.count.
type tokens struct{}

func (*tokens) count(ctx context.Context, c *Call, r abi.TokensRequest) (any, error) {
	counter := c.Plugin.Services.counter
	if counter == nil {
		return nil, &abi.Error{Code: abi.CodeDenied, Message: "this host does not count tokens"}
	}
	counts := make([]int, len(r.Texts))
	if counter, ok := counter.(abi.ContextCounter); ok {
		for i, text := range r.Texts {
			var err error
			if counts[i], err = counter.TextContext(ctx, text); err != nil {
				Check(ctx)
				return nil, err
			}
		}
		return abi.TokensResponse{Counts: counts}, nil
	}
	for i, text := range r.Texts {
		for first := true; first || text != ""; first = false {
			Check(ctx)
			n := pieceEnd(text)
			counts[i] += counter.Text(text[:n])
			text = text[n:]
		}
	}
	return abi.TokensResponse{Counts: counts}, nil
}

// minPiece is how much text is counted between two looks at the clock, in bytes;
// twice that at most.
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
	return len(clip.Head(s, 2*minPiece))
}

func spaceBefore(s string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return unicode.IsSpace(r)
}

func spaceAt(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[i:])
	return unicode.IsSpace(r)
}
