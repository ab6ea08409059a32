package host

import (
	"encoding/json"
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/plainjson"
	"github.com/kagewasm/kagewasm/internal/strictjson"
)

// Cassette is runtime.Cassette.
type Cassette interface {
	Answer(op abi.Op, request json.RawMessage, live func() abi.HostResponse) abi.HostResponse
}

// recorded answers a call by the plugin's cassette, where it has one.
func recorded[Request, Response any](
	c *Call, op abi.Op, r Request, live func() (Response, error),
) (answer Response, err error) {
	if c.Plugin.Cassette == nil {
		return live()
	}
	request, err := plainjson.Marshal(r)
	if err != nil {
		return answer, err
	}
	played := c.Plugin.Cassette.Answer(op, request, func() abi.HostResponse {
		resp, err := live()
		var doc []byte
		if err == nil {
			doc, err = plainjson.Marshal(resp)
		}
		if err != nil {
			return abi.HostResponse{Error: opError(c, []byte(op), err)}
		}
		return abi.HostResponse{Result: doc}
	})
	if e := played.Error; e != nil {
		if e.Code == abi.CodeNotRecorded {
			c.Warn(string(op) + ": " + e.Message)
		}
		return answer, e
	}
	if err := strictjson.Decode(played.Result, &answer); err != nil {
		return answer, &abi.Error{
			Code: abi.CodeBadInput, Message: fmt.Sprintf("the recorded answer: %v", err),
			Hint: "fix the recording, or record again",
		}
	}
	return answer, nil
}
