package config

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/tokens"
)

// FileName is the name of a configuration.
const FileName = "kagewasm.yaml"

// Config is a configuration that was read and checked. It never changes, and
// what it hands out must not be changed.
type Config struct {
	// File is the path it was read from.
	File string
	// Digest is the SHA-256, in hex, of the file and of the prompts of its
	// agents. Another digest means that something was changed. It is empty
	// where there is no file, see [None].
	Digest string
	// Models and Plugins by alias and name.
	Models  map[string]Model
	Plugins map[string]Plugin
	// Overrides are for [tokens.Catalog.Resolve]: those of the file, then what
	// it says under the aliases, but for their prices: two aliases of a model may
	// be two contracts. [Model.Override] has those of one.
	Overrides []tokens.Override

	agents  map[string]*Agent
	root    *node
	source  source            // to point into
	prompts map[string]string // their texts, by what names them
	met     map[string]Plugin // Plugins with the roles of their manifests, once those were read
}

// Agent is what holds for one agent, inherited values included.
type Agent struct {
	// Path is its place in the tree: "main/reviewer". The top of the file is "".
	Path string
	// Model is the alias of its model; empty where none is configured.
	Model string
	// Context is the context window in tokens that it says itself, whatever its model is; 0
	// where it says none.
	Context int
	// Window is its context window in tokens: what it says itself, else what
	// its model's alias does; 0 leaves it to the catalog.
	Window int
	// Compactor and Observers are names of plugins. Compactor may be among the
	// observers too.
	Compactor string
	Observers []string
	// Writer is who writes its summaries. Policy has it already.
	Writer Writer
	Policy kagewasm.Policy

	prompt, summaryPrompt, helper string
	said                          *node
}

// Plugins returns the names of all plugins of the agent, the compactor first.
func (a *Agent) Plugins() []string {
	if a.Compactor == "" {
		return a.Observers
	}
	rest := slices.DeleteFunc(slices.Clone(a.Observers), func(name string) bool { return name == a.Compactor })
	return append([]string{a.Compactor}, rest...)
}

// Agents returns the paths of all agents, sorted; the top of the file is "".
func (c *Config) Agents() []string { return slices.Sorted(maps.Keys(c.agents)) }

// Agent finds an agent. A session's main agent has the empty path: that is the
// agent called main where there is one, else the top of the file. Agents that
// the configuration does not know, at the top or below main, inherit all from
// the nearest one above them that it knows.
func (c *Config) Agent(path string) *Agent {
	for _, under := range []string{"", mainAgent + "/"} {
		for p := path; p != ""; p = parent(p) {
			if a, ok := c.agents[under+p]; ok {
				return a
			}
		}
	}
	return cmp.Or(c.agents[mainAgent], c.agents[""])
}

const mainAgent = "main"

// parent is the path above, "" for a name without one.
func parent(path string) string {
	return path[:max(strings.LastIndexByte(path, '/'), 0)]
}

// Policy returns the policy of an agent, by the rules of [Config.Agent].
func (c *Config) Policy(agentPath string) kagewasm.Policy { return c.Agent(agentPath).Policy }
