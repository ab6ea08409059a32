package service

import (
	"context"
	"encoding/json"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/tokens"
)

// Host says how sessions are compacted: what a configuration, or a program, has decided.
// It is safe for concurrent use.
type Host interface {
	// Agent is how the sessions of an agent are compacted now that are for a model, by
	// its name or alias; without one, the agent's own. It returns the same Agent as
	// before where nothing has changed.
	Agent(ctx context.Context, path, model string) (*Agent, error)
	// Agents are the paths of the agents that the configuration knows, "" for the main one.
	Agents() []string
	// Models are the aliases of models.
	Models() []Model
	// Plugins are those that may take part, in any agent.
	Plugins(ctx context.Context) ([]Plugin, error)
	// Plug is the host of a plug that kagewasm install has put into an agent, which goes by settings of its own. version
	// is the kagewasm that the plug was written by. It fails where that is not this one, with what to do about it.
	Plug(name, version string) (Host, error)
	// Prompt reads the text of a summary's prompt by its path, project:/ or config:/.
	Prompt(path string) (string, error)
	// Settings are those of the engine as they would hold for an agent with some values on
	// top of the configuration, by name. The error has the code usage where one is no setting,
	// or not what it takes.
	Settings(agent string, values map[string]string) ([]Setting, error)
	// KnobsChanged says that values of knobs or settings in the store are others than before.
	KnobsChanged()
	// ResetBreaker has the plugin of a digest called again that failed too often, and keeps
	// that.
	ResetBreaker(ctx context.Context, digest string) error
	Close(context.Context) error
}

// Agent is how the sessions of an agent are compacted. It never changes.
type Agent struct {
	Path string
	// Model is what is known of the model.
	Model tokens.Model
	// Window is the one that holds, nil where nobody knows.
	Window *int
	// Compactor is shared by all sessions of the agent. Its Options.Audit is what
	// [Options.Open] is given.
	Compactor *kagewasm.Compactor
	// Plugins are the names of those that take part, the compactor first.
	Plugins []string
	// Tools counts tool definitions.
	Tools func(ctx context.Context, definitions json.RawMessage) (int, error)
}

// Model is a model under an alias.
type Model struct {
	Alias         string `json:"alias"`
	Provider      string `json:"provider,omitempty"`
	Name          string `json:"name,omitempty"`
	ContextWindow int    `json:"context_window,omitempty"`
}

// Plugin is a plugin of the configuration.
type Plugin struct {
	Name    string              `json:"name"`
	Version string              `json:"version,omitempty"`
	Digest  string              `json:"digest,omitempty"`
	Roles   []abi.PluginRole    `json:"roles"`
	Hooks   []abi.Hook          `json:"hooks"`
	Agents  []string            `json:"agents"`
	Grants  []abi.Capability    `json:"grants"`
	Knobs   map[string]abi.Knob `json:"-"`
	// Configured are the values that the configuration gives.
	Configured abi.Config `json:"-"`
	Breaker    Breaker    `json:"breaker"`
	// Error says why it cannot be loaded.
	Error string `json:"error,omitempty"`
}

// Breaker is the state of a plugin's circuit breaker.
type Breaker struct {
	// State is closed (it is called), open (it is in quarantine) or half_open (one call
	// decides).
	State string `json:"state"`
	// Failures in a row, of the hook that has most of them.
	Failures int    `json:"failures"`
	Until    string `json:"until,omitempty"`
	// Last is the failure that came last.
	Last *abi.Error `json:"last_error,omitempty"`
}
