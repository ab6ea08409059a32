package abi

import "errors"

// Exceeded is by how much a request did not fit its model, in the words of the
// provider that refused it. A number the provider does not give is 0.
type Exceeded struct {
	// Tokens is what the request takes, with the room for the answer where the
	// provider counts that too. Limit is what the model takes.
	Tokens, Limit int
	// Bytes says that the request has too many bytes, or characters, for the
	// provider's door. Tokens and Limit count those then.
	Bytes bool
}

// ExceededBy asks the first error in err's chain that has a method Exceeded. It is
// nil where none has.
func ExceededBy(err error) *Exceeded {
	var knows interface{ Exceeded() Exceeded }
	if !errors.As(err, &knows) {
		return nil
	}
	return new(knows.Exceeded())
}

// plausible is how far a provider's count can be from one made elsewhere: it has
// another tokenizer, and frames of its own.
const plausible = 3

// Window is the provider's limit in tokens as the caller counts them, where
// estimate is its count of the refused request. It is not ok where a number is
// missing, or where they are so far from the estimate that they must be about
// something else.
func (e *Exceeded) Window(estimate int) (tokens int, ok bool) {
	if e == nil || e.Tokens <= 0 || e.Limit <= 0 {
		return 0, false
	}
	ratio := float64(e.Tokens) / float64(max(1, estimate))
	return max(1, int(float64(e.Limit)/ratio)), ratio <= plausible && ratio >= 1.0/plausible
}
