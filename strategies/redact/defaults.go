package redact

// secretNames are how secrets are called where they are assigned.
const secretNames = `(?:password|passwd|passphrase|pwd|secret|api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key|` +
	`(?:auth|access|refresh|session|bearer|bot)[_-]?token)`

var secretWords = []string{
	"passw", "passphrase", "pwd", "secret", "api_key", "api-key", "apikey", "access", "account", "private",
	"auth", "refresh", "session", "bearer", "bot",
}

// A bare value does not begin or go on like a variable, a call, a list or a
// mark of ours. Behind a name there may be a quote, in escaped JSON with a
// backslash before it.
//
// No try goes on beyond the next assignment, so that many in a row take no
// more time each.
const (
	notBare = "\\s&;,\"'`\\[\\](){}<>$*%=\\\\"
	bare    = "[^" + notBare + "]"
	toDigit = "[^" + notBare + ":0-9]*[0-9]" + bare + "*={0,2}"
	ends    = "(?:[\\s&;,\"'`\\\\]|$)"
	quote   = "\\\\?[\"'`]"
	assign  = "(?:" + quote + ")?\\s*(?::=|=>|[:=])\\s*"
)

// Defaults returns the patterns of a redactor that is told nothing else.
func Defaults() []Pattern { return append(keys(), assigned()...) }

// keys are secrets that can be told by their own form.
func keys() []Pattern {
	begin := []string{"-----BEGIN "}
	return []Pattern{
		{Kind: "private-key", Words: begin, Expr: `-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:[^-]|-[^-])*-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`},
		// One that was cut off: its lines are longer than words are.
		{Kind: "private-key", Words: begin, Expr: `-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{16,})*`},
		{Kind: "jwt", Begins: true, Words: []string{"eyJ"}, Expr: `eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`},
		{Kind: "aws-key", Begins: true, Words: []string{"AKIA", "ASIA", "ABIA", "ACCA"}, Expr: `(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`},
		{Kind: "github-token", Begins: true, Words: []string{"gho_", "ghp_", "ghs_", "ghu_", "ghr_", "github_pat_"}, Expr: `gh[opsur]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}`},
		{Kind: "gitlab-token", Begins: true, Words: []string{"gl"}, Expr: `gl(?:pat|ptt|dt|rt|cbt|soat|ft|imt|agent)-[A-Za-z0-9_-]{20,}`},
		{Kind: "slack-token", Begins: true, Words: []string{"xox", "xapp-", "https://hooks.slack.com/"},
			Expr: `xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,}|https://hooks\.slack\.com/services/[A-Za-z0-9_/]{20,}`},
		{Kind: "stripe-key", Begins: true, Words: []string{"sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"}, Expr: `[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9]{24,}`},
		{Kind: "anthropic-key", Begins: true, Words: []string{"sk-ant-"}, Expr: `sk-ant-[A-Za-z0-9_-]{20,}`},
		// Without a second word only letters and digits: sk-estimator-doc-link is a style sheet's.
		{Kind: "openai-key", Begins: true, Words: []string{"sk-"}, Expr: `sk-(?:(?:proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{32,})`},
		{Kind: "google-key", Begins: true, Words: []string{"AIza", "ya29.", "GOCSPX-"}, Expr: `AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}`},
		{Kind: "token", Begins: true, Words: []string{"npm_", "pypi-", "hf_", "dckr_pat_", "SG."},
			Expr: `npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}|hf_[A-Za-z0-9]{30,}|dckr_pat_[A-Za-z0-9_-]{20,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,}`},
	}
}

// assigned are secrets that can be told by what stands before them.
func assigned() []Pattern {
	return []Pattern{
		{Kind: "bearer-token", Begins: true, Words: []string{"bearer"}, Expr: `(?i)bearer\s+([a-z0-9._~+/=-]{20,})`},
		{Kind: "basic-auth", Words: []string{"authorization"}, Expr: `(?i)authorization` + assign + `["']?basic\s+([a-z0-9+/=]{8,})`},
		{Kind: "password", Words: []string{"://"}, Expr: "://[^\\s:/@\"'`\\[\\]<>]*:([^\\s/@\"'`\\[\\](){}<>$*%][^\\s/@\"'`\\[\\]<>]*)@"},
		// Quoted: any text without spaces, for one with spaces is a message.
		{Kind: "secret", Words: secretWords, Min: 4, Expr: `(?i)` + secretNames + assign + quote + `(` + bare + `+={0,2})` + quote},
		// Bare behind "=", as in settings and connection strings.
		{Kind: "secret", Words: secretWords, Min: 4, Expr: `(?i)` + secretNames + `=(` + bare + `+={0,2})(?:[\s&;"'\\]|$)`},
		// Bare in any other way: with a digit, or "password: string" would be one.
		{Kind: "secret", Words: secretWords, Min: 8, Expr: `(?i)` + secretNames + assign + `(` + toDigit + `)` + ends},
		{Kind: "secret", Words: []string{"--"}, Min: 6, Expr: `(?i)--(?:` + secretNames + `|token)\s+(` + toDigit + `)` + ends},
	}
}
