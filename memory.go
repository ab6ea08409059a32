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

// Memory stores texts by namespace and key; see [Namespacer]. Package store has
// implementations.
type Memory interface {
	Set(ctx context.Context, namespace, key, value string) error
}

// Namespacer is what a plugin of Options.Plugins may be: it says where in the
// Memory its data for an agent lies, so that what the host stores for it and
// what it stores itself lie together. runtime.Plugin is one. The namespace of
// any other plugin is its name, with the agent's part as
// [abi.AgentNamespace] has it.
type Namespacer interface {
	Namespace(ctx context.Context, agentPath string) (string, error)
}

// namespace is where a plugin's facts for an agent go.
func (c *Compactor) namespace(ctx context.Context, plugin, agentPath string) (string, error) {
	for _, p := range c.opts.Plugins {
		if n, ok := p.(Namespacer); ok && p.Manifest().Name == plugin {
			return n.Namespace(ctx, agentPath)
		}
	}
	return abi.AgentNamespace(plugin, agentPath), nil
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
		if err := c.retainOne(ctx, f.Plugin, retainedFact{Text: text, Session: s.ID, Agent: s.AgentPath, Call: f.Call, Time: now}); err != nil {
			e := *abi.AsError(err)
			e.Op, e.Plugin = "retain", f.Plugin
			failed[f.Plugin] = true // one line for all that follow
			failures = append(failures, &e)
		}
	}
	return failures
}

func (c *Compactor) retainOne(ctx context.Context, plugin string, fact retainedFact) error {
	value, err := json.MarshalIndent(fact, "", "  ")
	if err != nil {
		return err
	}
	ns, err := c.namespace(ctx, plugin, fact.Agent)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(fact.Text))
	return c.opts.Memory.Set(ctx, ns, abi.RetainedPrefix+hex.EncodeToString(sum[:8])+".json", string(value))
}
