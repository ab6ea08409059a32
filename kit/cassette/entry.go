package cassette

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/strictjson"
)

// entry is one recorded call: a line of the file. It has a Response or an
// Error.
type entry struct {
	Op       abi.Op          `json:"op"`
	Request  json.RawMessage `json:"request"`
	Response json.RawMessage `json:"response,omitempty"`
	Error    *abi.Error      `json:"error,omitempty"`
}

func (e *entry) answer() abi.HostResponse {
	return abi.HostResponse{Result: e.Response, Error: e.Error}
}

func (e *entry) check() error {
	switch {
	case e.Op != abi.OpHTTP && e.Op != abi.OpModelComplete:
		return fmt.Errorf("op %q: http and model.complete are recorded", e.Op)
	case len(e.Request) == 0:
		return fmt.Errorf("no request")
	case (len(e.Response) == 0) == (e.Error == nil):
		return fmt.Errorf("give a response or an error")
	}
	return nil
}

// key returns the text by which calls are matched: the op, and the request with its
// fields sorted.
func key(op abi.Op, request json.RawMessage) (string, error) {
	v, err := decode(request)
	if err != nil {
		return "", err
	}
	doc, err := json.Marshal(v) // fields sorted
	return string(op) + " " + string(doc), err
}

// decode keeps numbers as they are written.
func decode(doc json.RawMessage) (v any, err error) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	err = dec.Decode(&v)
	return v, err
}

// Read reads a recording to replay. Errors are of code bad_input, and name the
// line.
func Read(path string) (*Player, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, badRecording(path, err, "make one with --record")
	}
	p := &Player{name: path, next: make(map[string][]int)}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var e entry
		if err = strictjson.Decode(line, &e); err == nil {
			err = e.check()
		}
		if err == nil {
			err = p.add(e, n)
		}
		if err != nil {
			return nil, badRecording(fmt.Sprintf("%s:%d", path, n), err,
				`a line is {"op":…,"request":…,"response":…}: fix it, or record again`)
		}
	}
	return p, nil
}

func badRecording(where string, err error, hint string) error {
	return &abi.Error{Code: abi.CodeBadInput, Op: "read recording", Message: fmt.Sprintf("%s: %v", where, err),
		Hint: hint, Err: err}
}
