package kagewasm

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	json "github.com/goccy/go-json"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
)

// Memory stores texts by namespace and key; the namespace of a plugin is its
// name. Package store has implementations.
type Memory interface {
	Set(ctx context.Context, namespace, key, value string) error
}

// retainedFact is a fact as it is stored, with where it came from.
type retainedFact struct {
	Text    string `json:"text"`
	Session string `json:"session"`
	Agent   string `json:"agent,omitempty"`
	Call    string `json:"call"`
	Time    string `json:"time"`
}

// retain stores facts in the namespaces of the plugins that asked, each once:
// the key follows from the text. Failures are reported, and stop nothing.
func (c *Compactor) retain(ctx context.Context, s abi.Session, now string, facts []hooks.Fact) []*abi.Error {
	if c.opts.Memory == nil {
		return nil
	}
	var failures []*abi.Error
	failed := make(map[string]bool) // plugins whose store does not take it
	for _, f := range facts {
		if failed[f.Plugin] {
			continue
		}
		text := strings.TrimSpace(abi.Defuse(f.Text))
		if text == "" {
			continue
		}
		value, err := json.MarshalIndent(retainedFact{Text: text, Session: s.ID, Agent: s.AgentPath, Call: f.Call, Time: now}, "", "  ")
		if err == nil {
			sum := sha256.Sum256([]byte(text))
			err = c.opts.Memory.Set(ctx, f.Plugin, abi.RetainedPrefix+hex.EncodeToString(sum[:8])+".json", string(value))
		}
		if err != nil {
			e := *abi.AsError(err)
			e.Op, e.Plugin = "retain", f.Plugin
			failed[f.Plugin] = true // one line for all that follow
			failures = append(failures, &e)
		}
	}
	return failures
}
