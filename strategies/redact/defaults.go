package redact

// secretNames are how secrets are called where they are assigned.
const secretNames = `(?:password|passwd|passphrase|pwd|secret|api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key|` +
	`(?:auth|access|refresh|session|bearer|bot)[_-]?token)`

var secretWords = []string{"pass", "pwd", "secret", "key", "token"}

// A bare value does not begin or go on like a variable, a call, a list or a
// mark of ours. Behind a name there may be a quote, in escaped JSON with a
// backslash before it.
const (
	notBare = "\\s&;,\"'`\\[\\](){}<>$*%\\\\"
	first   = "[^" + notBare + "=]"
	bare    = "[^" + notBare + "]*"
	toDigit = "[^" + notBare + "=0-9]*[0-9]"
	ends    = "(?:[\\s&;,\"'`\\\\]|$)"
	quote   = "\\\\?[\"'`]"
	assign  = "(?:" + quote + ")?\\s*(?::=|=>|[:=])\\s*"
)

// Defaults are the patterns of a redactor that is told nothing else.
func Defaults() []Pattern {
	return []Pattern{
		{Kind: "private-key", Expr: `(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`, Words: []string{"private key"}},
		// One that was cut off: its lines are longer than words are.
		{Kind: "private-key", Expr: `-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{16,})*`, Words: []string{"private key"}},
		{Kind: "jwt", Expr: `\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`, Words: []string{"eyJ"}},
		{Kind: "aws-key", Expr: `\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`, Words: []string{"AKIA", "ASIA", "ABIA", "ACCA"}},
		{Kind: "github-token", Expr: `\b(?:gh[opsur]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})`, Words: []string{"gh", "github_pat_"}},
		{Kind: "gitlab-token", Expr: `\bgl(?:pat|ptt|dt|rt|cbt|soat|ft|imt|agent)-[A-Za-z0-9_-]{20,}`, Words: []string{"gl"}},
		{Kind: "slack-token", Expr: `\bxox[abeoprs]-[A-Za-z0-9-]{10,}|\bxapp-[0-9]-[A-Za-z0-9-]{10,}|https://hooks\.slack\.com/services/[A-Za-z0-9_/]{20,}`, Words: []string{"xox", "xapp-", "hooks.slack"}},
		{Kind: "stripe-key", Expr: `\b(?:[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9]{24,})`, Words: []string{"k_live_", "k_test_", "whsec_"}},
		{Kind: "anthropic-key", Expr: `\bsk-ant-[A-Za-z0-9_-]{20,}`, Words: []string{"sk-ant-"}},
		// Without a second word only letters and digits: sk-estimator-doc-link is a style sheet's.
		{Kind: "openai-key", Expr: `\bsk-(?:(?:proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{32,})`, Words: []string{"sk-"}},
		{Kind: "google-key", Expr: `\bAIza[A-Za-z0-9_-]{35}|\bya29\.[A-Za-z0-9_-]{20,}|\bGOCSPX-[A-Za-z0-9_-]{20,}`, Words: []string{"AIza", "ya29.", "GOCSPX-"}},
		{Kind: "token", Expr: `\b(?:npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}|hf_[A-Za-z0-9]{30,}|dckr_pat_[A-Za-z0-9_-]{20,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,})`,
			Words: []string{"npm_", "pypi-", "hf_", "dckr_pat_", "SG."}},
		{Kind: "bearer-token", Expr: `(?i)\bbearer\s+([a-z0-9._~+/=-]{20,})`, Words: []string{"bearer"}},
		{Kind: "basic-auth", Expr: `(?i)\bauthorization["']?\s*[:=]\s*["']?basic\s+([a-z0-9+/=]{8,})`, Words: []string{"basic"}},
		{Kind: "password", Expr: "\\b[A-Za-z][A-Za-z0-9+.-]*://[^\\s:/@\"'`\\[\\]<>]*:([^\\s/@\"'`\\[\\](){}<>$*%][^\\s/@\"'`\\[\\]<>]*)@", Words: []string{"://"}},
		// Quoted: any text without spaces, for one with spaces is a message.
		{Kind: "secret", Expr: `(?i)` + secretNames + assign + quote + `([^` + notBare + `]+)` + quote, Words: secretWords, Min: 4},
		// Bare behind "=", as in settings and connection strings.
		{Kind: "secret", Expr: `(?i)` + secretNames + `=(` + first + bare + `)(?:[\s&;"'\\]|$)`, Words: secretWords, Min: 4},
		// Bare in any other way: with a digit, or "password: string" would be one.
		{Kind: "secret", Expr: `(?i)` + secretNames + assign + `(` + toDigit + bare + `)` + ends, Words: secretWords, Min: 8},
		{Kind: "secret", Expr: `(?i)--(?:` + secretNames + `|token)\s+(` + toDigit + bare + `)` + ends, Words: secretWords, Min: 6},
	}
}
