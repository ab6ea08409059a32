package memory

import "github.com/kagewasm/kagewasm/strategies/redact"

// secrets is made when the module starts, which hosts do once for many calls.
var secrets = redact.Known()

func withoutSecrets(s string) string {
	s, _ = secrets.Redact(s)
	return s
}
