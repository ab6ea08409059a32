package demogen

import (
	"bytes"
	"encoding/json"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/tokens"
)

// toolsLine is tools.json on one line.
func toolsLine() ([]byte, error) {
	text, err := sources.ReadFile("tools.json")
	if err != nil {
		return nil, err
	}
	var buf bytes.Buffer
	if err := json.Compact(&buf, text); err != nil {
		return nil, err
	}
	return append(buf.Bytes(), '\n'), nil
}

// A person asked for this compaction; the window is far from full.
const (
	hookModel        = "gpt-4o"
	hookInstructions = "keep the numbers, and what Jonas is told"
)

// hookInput is what a plugin is given in pre_compact about msgs.
func hookInput(msgs []abi.Message) ([]byte, error) {
	model := tokens.Default().Resolve(hookModel)
	counter, err := tokens.New(model.Encoding, tokens.Options{})
	if err != nil {
		return nil, err
	}
	pinned := abi.Pinned(msgs)
	_, unit := abi.Units(msgs)
	window := model.Window()
	last := msgs[len(msgs)-1].Timestamp
	in := abi.Input{
		ABI: abi.Version, Call: last + "/" + string(abi.HookPreCompact), Time: last, Hook: abi.HookPreCompact,
		Session: abi.Session{ID: "parcel-2026-03-16", Model: hookModel, ContextWindow: &window},
		Trigger: abi.Trigger{Reason: abi.TriggerManual, Upper: 0.85, Lower: 0.6, Instructions: hookInstructions},
		Budget:  abi.Budget{TargetTokens: 600, SummaryTokens: 200},
	}
	for i := range msgs {
		m := abi.InputMessage{Message: msgs[i], Tokens: counter.Message(&msgs[i]), Pinned: pinned[i], Unit: unit[i]}
		in.Trigger.Tokens += m.Tokens
		in.Messages = append(in.Messages, m)
	}
	in.Trigger.Fraction = float64(in.Trigger.Tokens) / float64(window)
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err = enc.Encode(in)
	return buf.Bytes(), err
}
