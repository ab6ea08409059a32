package summarize

import "cmp"

// Agent is who may write a summary: a model's alias and a prompt. The zero
// value is nobody.
type Agent struct {
	Name   string
	Model  string
	Prompt string
}

// Choose says who summarizes for an agent (FEATURES A8): the agent itself where
// a prompt is named for it, with its own model; then the agent dedicated to
// it; then the default one. Where there is none, ok is false: only the
// mechanical steps run, which is no error and calls no hook. One without a
// model of its own uses the agent's (K25), one without a prompt the default.
func Choose(own, dedicated, fallback Agent) (who Agent, ok bool) {
	if own.Prompt != "" {
		return own, true
	}
	who = cmp.Or(dedicated, fallback)
	if who == (Agent{}) {
		return Agent{}, false
	}
	who.Model = cmp.Or(who.Model, own.Model)
	return who, true
}
