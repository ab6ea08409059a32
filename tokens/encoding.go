package tokens

import (
	"cmp"
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/tokens/internal/bpe"
)

// Encoding names a vocabulary and the way text is split for it.
type Encoding string

const (
	// O200k is the encoding of OpenAI's models since gpt-4o, and the estimate
	// for everybody else's.
	O200k Encoding = "o200k_base"
	// CL100k is the encoding of gpt-4 and gpt-3.5.
	CL100k Encoding = "cl100k_base"
)

func (e Encoding) engine() (*bpe.Encoding, error) {
	switch cmp.Or(e, O200k) {
	case O200k:
		return bpe.O200k, nil
	case CL100k:
		return bpe.CL100k, nil
	}
	return nil, &abi.Error{Code: abi.CodeUsage, Op: "tokens", Message: fmt.Sprintf("unknown encoding %q", string(e)),
		Hint: fmt.Sprintf("use %s or %s", O200k, CL100k)}
}
