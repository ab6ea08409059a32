// Package config reads kagewasm.yaml: which models and plugins there are, and
// when and how each agent's sessions are compacted. [Load] reads one, [Follow]
// follows it as it changes; [Config.Agent] is what holds for an agent, as a
// [kagewasm.Policy] and the names around it. [Config.Explain] says where each value
// comes from, [Config.With] puts flags on top, and [Config.CheckManifests] checks what
// is said of plugins against their modules.
//
// # What holds
//
// Agents form a tree, and the top of the file is its root: model, context,
// prompt and compaction there hold for all. An agent takes over whatever it
// does not say from the agent above it: blocks field by field, lists as a whole.
// Two things to know: "~" asks for the default instead of what would be inherited;
// and context, a window, is taken over only together with the model it belongs to.
//
// The main agent of a session has no path. It is the agent called main where
// the file has one, else the top of the file; agents that the file does not
// know are like the nearest one above them that it does.
//
// Numbers of 0 mean zero. Where a [kagewasm.Policy] takes 0 for its default,
// such a field is -1 in it.
//
// # Spellings
//
// What other systems call a setting is read too, and explain shows the one that
// was used: threshold: 80 is upper_threshold: 0.8, trim_threshold and
// trim_max_tokens are trim's, keep_last_messages and keep_recent_tokens are
// recent's, chunks and tool_result_max_length are summarize's. A block that can
// be switched off takes "off" in its place.
//
// # Prompts
//
// project:/ is the folder of the configuration, config:/ the folder .kagewasm
// in it. Neither can be left: not by "..", not by an absolute path, not by a
// link. The default prompt lies in config:/prompts/compaction-summary.md. [Init] and
// [Config.WriteDefaultPrompt] write it where it is missing, and never over it.
//
// # What it refuses
//
// Unknown fields and names, duplicates, wrong types, numbers out of range, two
// compactors for an agent, thresholds that cross, a key in place of its variable's
// name, YAML's anchors, tags and merges. Errors are [*abi.Error] of code bad_input
// that wrap [Problems], each with its line, column and excerpt; secrets do not show
// in it.
package config
