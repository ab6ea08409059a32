package guest

import (
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wire"
)

// decodeInput reads what the host wrote. The host is trusted to write the
// documents of the ABI, so nothing is checked twice here; fields this version
// does not know are left out. The input points into doc.
func decodeInput(doc []byte) (*abi.Input, error) {
	in := new(abi.Input)
	if err := wire.Unmarshal(doc, in); err != nil {
		return nil, &abi.Error{Code: abi.CodeBadInput, Op: "decode input", Message: err.Error(), Err: err}
	}
	return in, nil
}

// Serve answers one call, bytes in and bytes out, as a module does: input is
// an [abi.Input] as JSON, output an [abi.Output], empty where there is nothing
// to say. host may be anything that answers host calls. What the handler gets
// points into input, which must not change while the handler's data is used.
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
	if err != nil || out.IsZero() {
		return nil, err
	}
	if output, err = wire.Marshal(out); err != nil {
		return nil, &abi.Error{Code: abi.CodeBadOutput, Op: "encode output", Message: err.Error(), Err: err}
	}
	return output, nil
}
