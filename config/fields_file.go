package config

import "regexp"

// The blocks of a file, and what each can hold.
var (
	modelBlock    = newModelBlock()
	pluginBlock   = newPluginBlock()
	overrideBlock = newOverrideBlock()
	agentBlock    = newAgentBlock()
	file          = newFileBlock()
)

// blocks are where a field may belong that stands in the wrong place.
var blocks = []struct {
	of    *field
	place string
}{
	{agentBlock, "agents.NAME"},
	{agentBlock.at("compaction"), "compaction"},
	{agentBlock.at("compaction.summarize"), "compaction.summarize"},
	{agentBlock.at("compaction.prune"), "compaction.prune"},
	{agentBlock.at("compaction.recent"), "compaction.recent"},
	{modelBlock, "models.NAME"},
	{pluginBlock, "plugins.NAME"},
	{file, "the top of the file"},
}

// Names of models and agents, and those of plugins, which manifests have too.
var (
	nameRE       = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)
	pluginNameRE = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)
)

// newFileBlock is the whole file: what is provided, and the agent at the root
// of all others.
func newFileBlock() *field {
	fields := []*field{
		{name: "models", kind: table, keys: nameRE, elem: modelBlock, own: true,
			doc: "Models by the aliases that agents call them."},
		{name: "overrides", kind: list, elem: overrideBlock, own: true, def: []string{}, example: "[{model: qwen/qwen3-coder, context_window: 262144}]",
			doc: "What is said here of a model, by provider and name, wins over the catalog."},
		{name: "plugins", kind: table, keys: pluginNameRE, elem: pluginBlock, own: true,
			doc: "Plugins by the names that agents call them. None takes part before an agent names it."},
	}
	for _, f := range agentBlock.fields {
		if f.name != "subagents" {
			fields = append(fields, f)
		}
	}
	return &field{kind: block, fields: append(fields, &field{
		name: "agents", kind: table, keys: nameRE, elem: agentBlock, own: true,
		doc: "Agents by name. What one does not say it inherits: from the agent above it, in the end from the top of the file.",
	})}
}
