package config

import kagewasm "github.com/kagewasm/kagewasm"

// WriterBy says what decided who writes an agent's summaries.
type WriterBy string

const (
	// ByPrompt: the agent names a prompt, and writes with its own model.
	ByPrompt WriterBy = "prompt"
	// ByAgent: the agent, or one above it, names an agent that writes.
	ByAgent WriterBy = "agent"
	// ByDefaultAgent: the top of the file does.
	ByDefaultAgent WriterBy = "default_agent"
	// ByNone: nobody is named. The agent's own model writes with the prompt of
	// its summarize block (K25); with no_floor set and no model there either,
	// nobody does, and the agent's session is only pruned.
	ByNone WriterBy = "none"
)

// Writer is who writes an agent's summaries (FEATURES A8).
type Writer struct {
	By WriterBy `json:"by"`
	// Agent is the path of the agent that writes.
	Agent string `json:"agent"`
	// Model is its alias; empty is the model of the session.
	Model string `json:"model,omitempty"`
	// Prompt is the path of the prompt.
	Prompt string `json:"prompt"`
	// PruneOnly is set where nobody writes, and nothing but pruning happens
	// unless the agent has a compactor.
	PruneOnly bool `json:"prune_only,omitempty"`
}

// resolveWriter is the order of A8: a named prompt with the agent's own model,
// the agent named for it, the default agent, nobody. helper is the agent that
// compaction.agent names, nil for none; isDefault says that the top of the file
// names it.
func resolveWriter(a, helper *Agent, isDefault bool) Writer {
	s := &a.Policy.Summarize
	switch {
	case a.prompt != "":
		return Writer{By: ByPrompt, Agent: a.Path, Model: a.Model, Prompt: a.prompt}
	case helper != nil:
		w := Writer{By: ByAgent, Agent: helper.Path, Model: helper.Model, Prompt: helper.prompt}
		if isDefault {
			w.By = ByDefaultAgent
		}
		if w.Prompt == "" {
			w.Prompt = promptOr(helper.summaryPrompt)
		}
		return w
	}
	w := Writer{By: ByNone, Agent: a.Path, Model: s.Model, Prompt: promptOr(a.summaryPrompt)}
	w.PruneOnly = a.Policy.NoFloor && s.Model == "" && a.summaryPrompt == ""
	if w.Model == "" {
		w.Model = a.Model
	}
	return w
}

func promptOr(ref string) string {
	if ref == "" {
		return DefaultPromptPath
	}
	return ref
}

// apply puts the writer into a policy; text is what its prompt says.
func (w Writer) apply(p *kagewasm.Policy, text string) {
	s := &p.Summarize
	s.Prompt = text
	switch w.By {
	case ByPrompt:
		s.Model = ""
	case ByAgent, ByDefaultAgent:
		s.Model, s.FastModel = w.Model, ""
	case ByNone:
		s.Off = s.Off || w.PruneOnly
	}
}
