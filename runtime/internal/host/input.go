package host

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/strictjson"
)

// MaxInput is the longest input, in bytes: lengths cross as 32-bit numbers.
const MaxInput = math.MaxInt32

// Input is what a guest reads.
type Input struct {
	Bytes []byte
	// Full is the same with the bodies of all messages. Nil in a raw call, where
	// it is read when it is first needed.
	Full *abi.Input
	read bool
}

// full is the input as a document, nil where it is none.
func (in *Input) full() *abi.Input {
	if in.Full == nil && !in.read {
		in.read = true
		doc := new(abi.Input)
		if strictjson.Check(in.Bytes, inputKeys) == nil && json.Unmarshal(in.Bytes, doc) == nil {
			in.Full = doc
		}
	}
	return in.Full
}

func (in *Input) dryRun() bool {
	doc := in.full()
	return doc != nil && doc.Trigger.DryRun
}

func (in *Input) agent() string {
	if doc := in.full(); doc != nil {
		return doc.Session.AgentPath
	}
	return ""
}

var inputKeys = strictjson.Keys(abi.Input{})

// TooLarge is the error of an input that has no room in so many bytes.
func (c *Call) TooLarge(room int64) *abi.Error {
	return c.error(
		abi.CodeInputLimit,
		fmt.Sprintf("an input of %d bytes does not fit the %d MiB of memory the plugin has", len(c.Input.Bytes), room>>20),
		memoryHint, nil,
	)
}

// pageBytes is a page of WebAssembly's memory.
const pageBytes = 1 << 16

// fits refuses an input that the guest has no room for.
func (c *Call) fits() *abi.Error {
	room := c.Memory.Limit
	if m := c.Plugin.Module; len(m.Memories) == 1 && m.Memories[0].HasMax && !m.Uses(abi.ExtismModule) {
		room = min(room, int64(m.Memories[0].Max)*pageBytes)
	}
	if n := len(c.Input.Bytes); int64(n) > room || n > MaxInput {
		return c.TooLarge(room)
	}
	return nil
}
