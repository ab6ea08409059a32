package config

import (
	"regexp"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// newTrimBlock is about duplicates (FEATURES A1).
func newTrimBlock() *field {
	return &field{name: "trim", kind: block, off: true, doc: "Takes duplicate synthetic messages out early. \"off\" switches it off.", fields: []*field{
		offField(policy(func(p *kagewasm.Policy) *bool { return &p.Prune.Trim.Off })),
		{name: "threshold", kind: number, over: true, max: 1, def: 0.5, doc: "Fraction of the window over which to trim.",
			set: policy(func(p *kagewasm.Policy) *float64 { return &p.Prune.Trim.Threshold })},
		{name: "max_tokens", kind: integer, def: 0, doc: "Tokens over which to trim, instead of the threshold. 0: not used.",
			set: policy(func(p *kagewasm.Policy) *int { return &p.Prune.Trim.MaxTokens })},
	}}
}

func offField(set func(any, *node)) *field {
	return &field{name: "off", kind: boolean, def: false, doc: "Switch it off.", set: set}
}

// newPruneBlock is about old tool output and arguments (FEATURES K20, I7, A13).
func newPruneBlock() *field {
	prune := func(at func(*strategies.PruneConfig) *int) func(any, *node) {
		return policy(func(p *kagewasm.Policy) *int { return at(&p.Prune) })
	}
	return &field{name: "prune", kind: block, off: true, doc: "Shortens old tool output before anything is decided. \"off\" switches it off.", fields: []*field{
		offField(policy(func(p *kagewasm.Policy) *bool { return &p.Prune.Off })),
		{name: "protect_tokens", kind: integer, off: true, def: 40_000, doc: "Tokens of the newest tool output that stay.",
			set: prune(func(c *strategies.PruneConfig) *int { return &c.ProtectTokens })},
		{name: "minimum_savings", kind: integer, off: true, def: 20_000, doc: "Tokens below which nothing is pruned.",
			set: prune(func(c *strategies.PruneConfig) *int { return &c.MinimumSavings })},
		{name: "protected_tools", kind: list, elem: &field{kind: text}, def: []string{"read", "skill"}, doc: "Tools whose output is never pruned.",
			set: policy(func(p *kagewasm.Policy) *[]string { return &p.Prune.ProtectedTools })},
		{name: "shorten_tokens", kind: integer, def: 0, doc: "Cut tool output of more tokens than that to its beginning and end. 0: not used; 2000 is a good value.",
			set: prune(func(c *strategies.PruneConfig) *int { return &c.ShortenTokens })},
		{name: "end_tokens", kind: integer, min: 1, def: 500, doc: "Tokens that shortened output keeps at each end.",
			set: prune(func(c *strategies.PruneConfig) *int { return &c.EndTokens })},
		{name: "reference", kind: boolean, def: false, doc: "Name the path or command in the notice that stands for pruned output.",
			set: policy(func(p *kagewasm.Policy) *bool { return &p.Prune.Reference })},
		{name: "mode", kind: text, choices: []string{"off", string(strategies.ArgumentsIteration), string(strategies.ArgumentsCompaction)}, def: "off",
			doc: "When to prune the arguments of old tool calls: before every model call (iteration), or when a compaction is due (compaction).", set: setMode},
		{name: "protect_percent", kind: integer, off: true, max: 100, def: 30, doc: "Percent of the window, at the end, in which arguments stay.",
			set: prune(func(c *strategies.PruneConfig) *int { return &c.ProtectPercent })},
		{name: "arg_threshold", kind: integer, off: true, def: 200, doc: "Tokens that arguments have to have to be pruned.",
			set: prune(func(c *strategies.PruneConfig) *int { return &c.ArgThreshold })},
	}}
}

func setMode(target any, n *node) {
	mode := strategies.ArgumentMode(n.value.(string))
	if mode == "off" {
		mode = strategies.ArgumentsOff
	}
	target.(*Agent).Policy.Prune.Arguments = mode
}

// newRecentBlock is what stays word for word (FEATURES A3, I2, T1).
func newRecentBlock() *field {
	recent := func(at func(*strategies.KeepConfig) *int) func(any, *node) {
		return policy(func(p *kagewasm.Policy) *int { return at(&p.Keep) })
	}
	return &field{name: "recent", kind: block, doc: "What stays word for word at the end; the larger of what is set. Where nothing is set, as much as fits.", fields: []*field{
		{name: "messages", kind: integer, def: 0, doc: "Messages at the end, not counting internal ones.",
			set: recent(func(r *strategies.KeepConfig) *int { return &r.Messages })},
		{name: "tokens", kind: integer, def: 0, doc: "Tokens at the end, by whole exchanges with tools.",
			set: recent(func(r *strategies.KeepConfig) *int { return &r.Tokens })},
		{name: "exchanges", kind: integer, def: 0, doc: "Messages of a person at the end, each with all that follows.",
			set: recent(func(r *strategies.KeepConfig) *int { return &r.Exchanges })},
		{name: "tool_tokens", kind: integer, def: 0, doc: "Cut tool output in what stays to about so many tokens each. 0: not.",
			set: recent(func(r *strategies.KeepConfig) *int { return &r.ToolTokens })},
	}}
}

// newSummarizeBlock is about the model that writes summaries (FEATURES K23 to
// K25, A4, A9, I9).
func newSummarizeBlock() *field {
	s := func(at func(*strategies.SummarizeConfig) *int) func(any, *node) {
		return policy(func(p *kagewasm.Policy) *int { return at(&p.Summarize) })
	}
	outlines := make([]string, 0, len(note.Outlines()))
	for _, o := range note.Outlines() {
		outlines = append(outlines, o.Name)
	}
	return &field{name: "summarize", kind: block, off: true, doc: "The model that writes summaries. \"off\" never asks one.", fields: []*field{
		offField(policy(func(p *kagewasm.Policy) *bool { return &p.Summarize.Off })),
		{name: "model", kind: text, doc: "Alias of the model that writes summaries. Default the agent's own.", example: "fast",
			set: policy(func(p *kagewasm.Policy) *string { return &p.Summarize.Model })},
		{name: "fast_model", kind: text, doc: "Alias of the model for everything but what a person asks for.", example: "fast",
			set: policy(func(p *kagewasm.Policy) *string { return &p.Summarize.FastModel })},
		{name: "prompt", kind: text, check: checkPrompt, def: defaultPrompt, doc: "Prompt of summaries: a path that begins with project:/ or config:/, or a name (config:/prompts/NAME.md).",
			set: to(func(a *Agent) *string { return &a.summaryPrompt })},
		{name: "outline", kind: text, choices: outlines, example: outlines[0], doc: "Sections of a summary. Default those that the prompt shows, " + outlines[0] + " with the one that ships.",
			set: policy(func(p *kagewasm.Policy) *string { return &p.Summarize.Outline })},
		{name: "window_messages", kind: integer, min: 1, def: 20, doc: "Least number of messages to summarize at once.",
			set: s(func(p *strategies.SummarizeConfig) *int { return &p.WindowMessages })},
		{name: "preserve_recent", kind: integer, off: true, def: 10, doc: "Messages at the end that stay out of a summary where possible.",
			set: s(func(p *strategies.SummarizeConfig) *int { return &p.PreserveRecent })},
		{name: "max_summary_tokens", kind: integer, min: 1, def: 1500, doc: "Tokens that a summary may have.",
			set: s(func(p *strategies.SummarizeConfig) *int { return &p.MaxSummaryTokens })},
		{name: "tool_result_max_length", kind: integer, off: true, def: 200, doc: "Characters of a tool result that the summarizer sees.",
			set: s(func(p *strategies.SummarizeConfig) *int { return &p.ToolResultChars })},
		{name: "chunks", kind: integer, min: 1, max: 64, def: 1, doc: "Summarize in so many steps, each building on the one before.",
			set: s(func(p *strategies.SummarizeConfig) *int { return &p.Chunks })},
		{name: "serial", kind: boolean, def: false, doc: "Ask the provider for one thing at a time.",
			set: policy(func(p *kagewasm.Policy) *bool { return &p.Summarize.Serial })},
		{name: "timeout", kind: duration, over: true, max: 86_400, def: "5m", doc: "Time for all model calls of one summary.",
			set: s(func(p *strategies.SummarizeConfig) *int { return &p.TimeoutMS })},
	}}
}

// newKeepFields are about what is kept, what is added, and what never is.
func newKeepFields() []*field {
	return []*field{
		{name: "message_tokens", kind: integer, off: true, doc: "Cap of one tool result, or of one call's arguments, in what a compaction leaves. Default a quarter of the target; 0 or off: none.", example: "8000",
			set: policy(func(p *kagewasm.Policy) *int { return &p.Keep.MessageTokens })},
		{name: "ledger_tokens", kind: integer, off: true, doc: "Tokens of the ledger of exact names in a summary, at most half of the target. Default a share of what goes or of the target, the larger, and the last failures beside it; 0 or off: none.", example: "2000",
			set: policy(func(p *kagewasm.Policy) *int { return &p.Note.Tokens })},
		{name: "inject_tokens", kind: integer, min: 1, def: 2000, doc: "Tokens that texts of plugins may cost together.",
			set: policy(func(p *kagewasm.Policy) *int { return &p.Note.InjectTokens })},
		{name: "always_keep", kind: list, elem: newMatcherBlock(), def: []string{}, doc: "Messages that are never touched, beside the system prompt and the first message of a person: those that any of these matches.",
			example: "[{role: user, contains: \"always:\"}]", set: setAlwaysKeep},
		{name: "redact", kind: list, off: true, def: []string{}, elem: &field{kind: text, check: checkRedact}, doc: "Patterns (RE2) of secrets that are taken out of whatever a compaction inserts, beside those that are known. \"off\" takes out nothing.",
			example: "[\"corp-[0-9a-f]{32}\"]", set: setRedact},
	}
}

func checkRedact(n *node) string {
	re, err := regexp.Compile(n.value.(string))
	switch {
	case err != nil:
		return "pattern: " + err.Error()
	case re.MatchString(""):
		return "this pattern matches the empty text, and so everywhere: write one that needs at least a letter"
	}
	return ""
}

func setRedact(target any, n *node) {
	p := &target.(*Agent).Policy
	if p.Note.NoRedact = n.value != nil; p.Note.NoRedact {
		return
	}
	for _, item := range n.items {
		p.Note.Redact = append(p.Note.Redact, regexp.MustCompile(item.value.(string)))
	}
}
