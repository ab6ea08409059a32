package guest

import (
	"bytes"
	"encoding/json"

	"github.com/kagewasm/kagewasm/abi"
)

// decodeInput reads what the host wrote. The host is trusted to write the
// documents of the ABI, so nothing is checked twice here; fields this version
// does not know are left out.
func decodeInput(doc []byte) (*abi.Input, error) {
	var in abi.Input
	if err := json.Unmarshal(doc, &in); err != nil {
		return nil, &abi.Error{Code: abi.CodeBadInput, Op: "decode input", Message: err.Error(), Err: err}
	}
	return &in, nil
}

// encodeOutput writes an answer; the one that says nothing is empty.
func encodeOutput(out *abi.Output) ([]byte, error) {
	if out.IsZero() {
		return nil, nil
	}
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(out); err != nil {
		return nil, &abi.Error{Code: abi.CodeBadOutput, Op: "encode output", Message: err.Error(), Err: err}
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

// Serve answers one call, bytes in and bytes out, as a module does: input is
// an [abi.Input] as JSON, output an [abi.Output], empty where there is nothing
// to say. host may be anything that answers host calls.
func (p Plugin) Serve(hook abi.Hook, input []byte, host Host) (output []byte, err error) {
	if p.Handler(hook) == nil {
		return nil, nil
	}
	in, err := decodeInput(input)
	if err != nil {
		return nil, err
	}
	in.Hook = hook
	out, err := p.Call(NewCall(in, host))
	if err != nil {
		return nil, err
	}
	return encodeOutput(out)
}
