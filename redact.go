package kagewasm

import (
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

// withoutSecrets is text that a compaction inserts, without secrets (complaint
// 16): what stood in a message is read once, what stands in a note is read at
// every call and outlives the message.
func (p *pass) withoutSecrets(text string) string {
	text, n := p.secrets.Redact(text)
	p.report.Metrics.Redacted += n
	return text
}

func (p *pass) setRedactor() error {
	r, err := p.policy.redactor()
	if err != nil {
		return &abi.Error{Code: abi.CodeUsage, Op: "compact", Message: err.Error(), Err: err, Hint: "mend the pattern"}
	}
	p.secrets = r
	return nil
}
