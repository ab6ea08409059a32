package runtime

import (
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
	filled.Config = p.shared.Config
	filled.Roles = p.shared.Manifest.Roles
	sent := filled
	if p.shared.Manifest.Content == abi.ContentLazy {
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
