package kagewasm

import (
	"slices"
	"sync"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies/redact"
)

// knownSecrets takes out the secrets that are known by their form.
var knownSecrets = sync.OnceValues(func() (*redact.Redactor, error) { return redact.New(nil) })

// redactor is the policy's.
func (p *Policy) redactor() (*redact.Redactor, error) {
	switch {
	case p.NoRedact:
		return redact.New([]redact.Pattern{})
	case len(p.Redact) == 0:
		return knownSecrets()
	}
	patterns := redact.Defaults()
	for _, expr := range p.Redact {
		patterns = append(patterns, redact.Pattern{Kind: "custom", Expr: expr.String()})
	}
	return redact.New(patterns)
}

// setRedactor readies what takes secrets out of what the compaction inserts
// (complaint 16): what stood in a message is read once, what stands in a note is
// read at every call and outlives the message.
func (p *pass) setRedactor() error {
	r, err := p.policy.redactor()
	if err != nil {
		return &abi.Error{Code: abi.CodeUsage, Op: "compact", Message: err.Error(), Err: err, Hint: "mend the pattern"}
	}
	p.secrets = r
	return nil
}

// bare are messages without the secrets in them, to be read for names: a secret
// is known by what stands around it, and a list of names has nothing around.
func (p *pass) bare(msgs []abi.Message) []abi.Message {
	out := slices.Clone(msgs)
	for i := range out {
		m := &out[i]
		if text, n := p.secrets.Redact(m.Text()); n > 0 {
			m.Content = abi.Text(text)
		}
		cloned := false
		for k := range m.ToolCalls {
			arguments, n := p.secrets.Redact(m.ToolCalls[k].Arguments)
			if n == 0 {
				continue
			}
			if !cloned {
				m.ToolCalls, cloned = slices.Clone(m.ToolCalls), true
			}
			m.ToolCalls[k].Arguments = arguments
		}
	}
	return out
}
