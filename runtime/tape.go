package runtime

import (
	"encoding/json"
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
)

// Tape stands between a plugin and the world: it is asked to answer the host
// calls that lead out of the host, http and model.complete, once grants and
// limits have let them pass. One that records makes the call and notes it; one
// that replays answers from what was noted, and nothing leaves the host. The
// other ops need no tape: what they answer depends on the input, the storage
// and the tokenizer alone.
//
// It is safe for concurrent use.
type Tape interface {
	// Answer answers one call. request is the document of the op's type, as the
	// guest sent it: placeholders of secrets, and no values. live makes the
	// call, and returns what the guest would get: secrets are cut out of it. An
	// answer counts like any other, an error in it is the guest's to handle.
	Answer(op abi.Op, request json.RawMessage, live func() abi.HostResponse) abi.HostResponse
}

// taped answers a call by the tape, where the plugin has one.
func taped[Request, Response any](c *call, op abi.Op, r Request, live func() (Response, error)) (answer Response, err error) {
	tape := c.plugin.tape
	if tape == nil {
		return live()
	}
	request, err := plainJSON(r)
	if err != nil {
		return answer, err
	}
	said := tape.Answer(op, request, func() abi.HostResponse {
		resp, err := live()
		if err != nil {
			return abi.HostResponse{Error: c.opError([]byte(op), err)}
		}
		doc, err := plainJSON(resp)
		if err != nil {
			return abi.HostResponse{Error: c.opError([]byte(op), err)}
		}
		return abi.HostResponse{Result: doc}
	})
	if e := said.Error; e != nil {
		if e.Code == abi.CodeNotRecorded {
			c.warn(string(op) + ": " + e.Message)
		}
		return answer, e
	}
	if err := abi.DecodeStrict(said.Result, &answer); err != nil {
		return answer, &abi.Error{Code: abi.CodeBadInput, Message: fmt.Sprintf("the recorded answer: %v", err), Hint: "fix the recording, or record again"}
	}
	return answer, nil
}
