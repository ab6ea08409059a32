package config

import (
	kagewasm "github.com/kagewasm/kagewasm"
)

// newAgentBlock is an agent, with those below it.
func newAgentBlock() *field {
	agent := &field{name: "agent", kind: block}
	agent.fields = []*field{
		{name: "model", kind: text, doc: "Alias of the model that the agent uses.", example: "main",
			set: to(func(a *Agent) *string { return &a.Model })},
		{name: "context", kind: integer, min: 1, doc: "Context window in tokens. It wins over what models, catalog or provider say, and is inherited together with the model only.", example: "200000",
			set: to(func(a *Agent) *int { return &a.Window })},
		{name: "context_window", same: "context", min: 1, doc: "Another spelling of context."},
		{name: "prompt", kind: text, check: checkPrompt, doc: "Prompt with which this agent's own model writes summaries; no other agent is asked then. Also the prompt of an agent that others name under compaction.agent. A name (config:/prompts/NAME.md), or a path that begins with project:/ or config:/.",
			example: "project:/prompts/handover.md", set: to(func(a *Agent) *string { return &a.prompt })},
		newCompactionBlock(),
		{name: "subagents", kind: table, keys: nameRE, elem: agent, own: true, doc: "Agents below this one, which inherit whatever they do not say."},
	}
	return agent
}

// policy is the setter of a field of the policy.
func policy[V any](at func(*kagewasm.Policy) *V) func(any, *node) {
	return to(func(a *Agent) *V { return at(&a.Policy) })
}

// newCompactionBlock says when and how an agent's session is compacted.
func newCompactionBlock() *field {
	fields := append(newTriggerFields(),
		newTrimBlock(),
		&field{name: "trim_threshold", same: "trim.threshold", percent: true, min: 1, max: 100, doc: "trim.threshold in percent."},
		&field{name: "trim_max_tokens", same: "trim.max_tokens", doc: "Another spelling of trim.max_tokens."},
		newPruneBlock(),
		newRecentBlock(),
		&field{name: "keep_last_messages", same: "recent.messages", doc: "Another spelling of recent.messages."},
		&field{name: "keep_recent_tokens", same: "recent.tokens", doc: "Another spelling of recent.tokens."},
		newSummarizeBlock(),
		&field{name: "chunks", same: "summarize.chunks", min: 1, max: 64, doc: "Another spelling of summarize.chunks."},
		&field{name: "tool_result_max_length", same: "summarize.tool_result_max_length", doc: "Another spelling of summarize.tool_result_max_length."},
	)
	return &field{name: "compaction", kind: block, fields: append(fields, newKeepFields()...),
		doc: "When and how the session is compacted."}
}

// newTriggerFields are about when to compact, how far, and who does it.
func newTriggerFields() []*field {
	return []*field{
		{name: "enabled", kind: boolean, def: true, doc: "Compact when a threshold is passed. A compaction that is asked for runs in any case.",
			set: func(target any, n *node) { target.(*Agent).Policy.Disabled = !n.value.(bool) }},
		{name: "strategy", kind: text, choices: kagewasm.Strategies(), def: kagewasm.StrategyDrop,
			doc: "What makes the plan where no compactor plugin does. drop summarizes first where a model is there and summarize is not off.",
			set: policy(func(p *kagewasm.Policy) *string { return &p.Strategy })},
		{name: "compactor", kind: text, doc: "Plugin that compacts this agent's session, at most one. It comes first, whatever the strategy; the strategy follows where it fails.", example: "hindsight",
			set: to(func(a *Agent) *string { return &a.Compactor })},
		{name: "observers", kind: list, elem: &field{kind: text}, def: []string{}, doc: "Plugins that see what is compacted, keep facts, and bring them back.", example: "[markdown]",
			set: to(func(a *Agent) *[]string { return &a.Observers })},
		{name: "agent", kind: text, doc: "Agent (its path) that writes summaries for this one, with its model and prompt. At the top of the file it is the default of all.", example: "summarizer",
			set: to(func(a *Agent) *string { return &a.helper })},
		{name: "profile", kind: text, choices: profileNames(), def: kagewasm.Profiles()[0].Name, doc: "Pair of thresholds that suits a family of models; auto takes the one of the agent's model. Thresholds that are set win.",
			set: policy(func(p *kagewasm.Policy) *string { return &p.When.Profile })},
		{name: "upper_threshold", kind: number, over: true, max: 1, def: kagewasm.DefaultUpper, doc: "Fraction of the window over which a compaction starts.",
			set: policy(func(p *kagewasm.Policy) *float64 { return &p.When.Upper })},
		{name: "lower_threshold", kind: number, over: true, max: 1, def: kagewasm.DefaultLower, doc: "Fraction of the window that a compaction gets down to; less than upper_threshold.",
			set: policy(func(p *kagewasm.Policy) *float64 { return &p.When.Lower })},
		{name: "threshold", same: "upper_threshold", percent: true, min: 1, max: 100, doc: "upper_threshold in percent: 80 is 0.8."},
		{name: "max_tokens", kind: integer, def: 0, doc: "Tokens over which a compaction starts, whatever the window is; before the thresholds and reserve_tokens. 0: not used.",
			set: policy(func(p *kagewasm.Policy) *int { return &p.When.MaxTokens })},
		{name: "reserve_tokens", kind: integer, def: 0, doc: "Start a compaction when fewer tokens than that are left in the window; before the thresholds. 0: not used.",
			set: policy(func(p *kagewasm.Policy) *int { return &p.When.ReserveTokens })},
		{name: "output_reserve", kind: integer, def: 0, doc: "Tokens taken off the window for the model's answer before anything is reckoned.",
			set: policy(func(p *kagewasm.Policy) *int { return &p.When.OutputReserve })},
		{name: "strict_window", kind: boolean, def: false, doc: "Make it an error that nothing says how large the window is. Otherwise 128,000 tokens are used.",
			set: policy(func(p *kagewasm.Policy) *bool { return &p.When.StrictWindow })},
		{name: "max_bytes", kind: integer, def: 0, doc: "Bound of the request in bytes, beside its tokens. 0: none.",
			set: policy(func(p *kagewasm.Policy) *int { return &p.When.MaxBytes })},
		{name: "background", kind: boolean, def: false, doc: "Compact while the agent is idle, and take the result with the next call.",
			set: policy(func(p *kagewasm.Policy) *bool { return &p.When.Background })},
		{name: "idle_upper", kind: number, over: true, max: 1, doc: "Fraction of the window over which an idle session is compacted. Default half way between the thresholds.", example: "0.7",
			set: policy(func(p *kagewasm.Policy) *float64 { return &p.When.IdleUpper })},
		{name: "no_floor", kind: boolean, def: false, doc: "Only prune where neither a prompt, an agent, a model nor a compactor is named: no mechanical compaction, no hooks. By default a compaction always completes.",
			set: policy(func(p *kagewasm.Policy) *bool { return &p.NoFloor })},
		{name: "payback_calls", kind: integer, def: 0, doc: "Refuse a compaction that would take more model calls than that to earn back its cost. 0: never.",
			set: policy(func(p *kagewasm.Policy) *int { return &p.When.PaybackCalls })},
	}
}

func profileNames() []string {
	names := []string{kagewasm.ProfileAuto}
	for _, p := range kagewasm.Profiles() {
		names = append(names, p.Name)
	}
	return names
}
