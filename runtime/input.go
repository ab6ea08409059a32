package runtime

import (
	stdjson "encoding/json"
	"fmt"
	"slices"

	"github.com/goccy/go-json"

	"github.com/kagewasm/kagewasm/abi"
)

// encodeInput fills in what the host knows and encodes the input for the
// guest. full has all bodies, for messages.get; in is not changed.
func (p *Plugin) encodeInput(in *abi.Input) (doc []byte, full *abi.Input, err error) {
	filled := *in
	filled.ABI = abi.Version
	filled.Config = p.config
	sent := filled
	if p.manifest.Content == abi.ContentLazy {
		sent.Messages = withoutBodies(in.Messages)
	}
	doc, err = json.MarshalWithOption(&sent, json.DisableHTMLEscape())
	if err != nil {
		return nil, nil, fmt.Errorf("encode: %w", err)
	}
	return doc, &filled, nil
}

// withoutBodies leaves what a plugin decides by: who said what kind of thing
// when, how much it costs, and what belongs together.
func withoutBodies(msgs []abi.InputMessage) []abi.InputMessage {
	bare := slices.Clone(msgs)
	for i := range bare {
		m := &bare[i].Message
		m.Content, m.Raw = abi.Content{}, nil
		m.ToolCalls = slices.Clone(m.ToolCalls)
		for j := range m.ToolCalls {
			m.ToolCalls[j].Arguments = ""
		}
	}
	return bare
}

// parsedInput is the input as a document. In a raw call it is read when first
// needed; nil where it is none.
func (c *call) parsedInput() *abi.Input {
	if c.in == nil && !c.parsed {
		c.parsed = true
		in := new(abi.Input)
		if abi.CheckJSON(c.input, inputKeys) == nil && stdjson.Unmarshal(c.input, in) == nil {
			c.in = in
		}
	}
	return c.in
}

var inputKeys = abi.Keys(abi.Input{})

func inputMessage(n, memoryMB int) string {
	return fmt.Sprintf("an input of %d bytes does not fit the %d MiB of memory the plugin has", n, memoryMB)
}
