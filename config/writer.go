package config

import "cmp"

// What decides who writes an agent's summaries.
const (
	// The agent names a prompt, and writes with its own model.
	byPrompt = "prompt"
	// The agent, or one above it, names an agent that writes.
	byAgent = "agent"
	// The top of the file does.
	byDefaultAgent = "default_agent"
	// Nobody is named. The agent's own model writes with the prompt of its summarize
	// block; with no_floor set and no model there either, nobody does, and the agent's
	// session is only pruned.
	byNone = "none"
)

// Writer is who writes an agent's summaries.
type Writer struct {
	// By is what decides it: "prompt" (the agent names one), "agent" (it, or one above
	// it, names an agent that writes), "default_agent" (the top of the file does), or
	// "none" (its own model, where it has one).
	By string `json:"by"`
	// Agent is the path of the agent that writes.
	Agent string `json:"agent"`
	// Model is its alias; empty is the model of the session, also where the agent that writes names none.
	Model string `json:"model,omitempty"`
	// Prompt is the path of the prompt.
	Prompt string `json:"prompt"`
	// PruneOnly is set where nobody writes, and nothing but pruning happens
	// unless the agent has a compactor.
	PruneOnly bool `json:"prune_only,omitempty"`
}

// String says it for a person: "by agent writer, model fast with config:/x.md".
func (w Writer) String() string {
	model := "its own model"
	switch {
	case w.Model != "":
		model = "model " + w.Model
	case w.By == byAgent, w.By == byDefaultAgent:
		model = "the asking agent's own model"
	}
	line := model
	if w.Prompt != "" {
		line += " with " + w.Prompt
	}
	switch {
	case w.PruneOnly:
		return "none: this agent's sessions are only pruned"
	case w.By == byAgent:
		return "by agent " + w.Agent + ", " + line
	case w.By == byDefaultAgent:
		return "by the default agent " + w.Agent + ", " + line
	}
	return line
}

// settle decides who writes the agent's summaries, and puts it into the policy. It
// tries in turn: a named prompt with the agent's own model, the agent that
// compaction.agent names, nobody. isDefault says that the top of the file names it.
func (a *Agent) settle(helper *Agent, isDefault bool) {
	s := &a.Policy.Summarize
	switch {
	case a.prompt != "":
		a.Writer = Writer{By: byPrompt, Agent: a.Path, Model: a.Model, Prompt: a.prompt}
		s.Model = ""
	case a.helper != "" && helper != nil:
		a.Writer = Writer{By: byAgent, Agent: helper.Path, Model: helper.Model}
		a.Writer.Prompt = cmp.Or(helper.prompt, helper.summaryPrompt, defaultPrompt)
		if isDefault {
			a.Writer.By = byDefaultAgent
		}
		s.Model, s.FastModel = helper.Model, ""
	default:
		a.Writer = Writer{By: byNone, Agent: a.Path, Model: cmp.Or(s.Model, a.Model)}
		a.Writer.Prompt = cmp.Or(a.summaryPrompt, defaultPrompt)
		a.Writer.PruneOnly = a.Policy.NoFloor && s.Model == "" && a.summaryPrompt == ""
		s.Off = s.Off || a.Writer.PruneOnly
	}
}
