package runtime

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/strictjson"
	"github.com/kagewasm/kagewasm/internal/wire"
	"github.com/kagewasm/kagewasm/runtime/internal/host"
)

var outputKeys = strictjson.Keys(abi.Output{})

// CheckOutput returns what a host would say to the answer of a hook: warnings, and the error with which
// it would refuse it.
func CheckOutput(doc []byte) (warnings []string, err error) {
	_, warnings, err = decodeOutput(doc, strictjson.Limits{})
	return warnings, err
}

// decodeOutput reads what a hook answered, within limits: each byte of it once to
// see whether it is a document, and once more to build the output, which shares the
// texts with it. Nothing and null are a nil output, and so is an error.
func decodeOutput(doc []byte, l strictjson.Limits) (out *abi.Output, warnings []string, err error) {
	doc = bytes.TrimSpace(doc)
	if len(doc) == 0 || bytes.Equal(doc, []byte("null")) {
		return nil, nil, nil
	}
	if err := strictjson.CheckWithin(doc, outputKeys, l); err != nil {
		return nil, nil, err
	}
	if doc[0] != '{' {
		return nil, nil, errors.New("json: neither an object nor null")
	}
	out = new(abi.Output)
	unknown, err := wire.UnmarshalWithin(doc, out, wire.Limits{Items: abi.MaxOutputIDs, Limits: l})
	if err != nil {
		return nil, nil, err
	}
	for _, key := range unknown {
		warnings = append(warnings, fmt.Sprintf("output: unknown field %q is ignored", host.Shorten(key, 80)))
	}
	return out, warnings, nil
}
