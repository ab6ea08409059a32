package redact

// secretNames are how secrets are called where they are assigned.
const secretNames = `(?:password|passwd|passphrase|pwd|secret|` +
	`api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key|(?:auth|access|refresh|session|bearer|bot)[_-]?token)`

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

const (
	begin   = "-----BEGIN "
	keyKind = `[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----`
	keyHead = begin + keyKind
	keyEnd  = `-----END ` + keyKind
)

// keyed is the pattern of secrets that begin with one of the words.
func keyed(kind, expr string, words ...string) Pattern {
	return Pattern{Kind: kind, Begins: true, Words: words, Expr: expr}
}

// keys are secrets that can be told by their own form.
func keys() []Pattern {
	return []Pattern{
		{Kind: "private-key", Words: []string{begin}, Expr: keyHead + `(?:[^-]|-[^-])*` + keyEnd},
		// One that was cut off: its lines are longer than words are.
		{Kind: "private-key", Words: []string{begin}, Expr: keyHead + `(?:(?:\s|\\[nr])*[A-Za-z0-9+/=]{16,})*`},
		keyed("jwt", `eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`, "eyJ"),
		keyed("aws-key", `(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b`, "AKIA", "ASIA", "ABIA", "ACCA"),
		keyed("github-token", `gh[opsur]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,}`,
			"gho_", "ghp_", "ghs_", "ghu_", "ghr_", "github_pat_"),
		keyed("gitlab-token", `gl(?:pat|ptt|dt|rt|cbt|soat|ft|imt|agent)-[A-Za-z0-9_-]{20,}`, "gl"),
		keyed("slack-token", `xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,}|`+
			`https://hooks\.slack\.com/services/[A-Za-z0-9_/]{20,}`,
			"xox", "xapp-", "https://hooks.slack.com/"),
		keyed("stripe-key", `[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9]{24,}`,
			"sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"),
		keyed("anthropic-key", `sk-ant-[A-Za-z0-9_-]{20,}`, "sk-ant-"),
		// Without a second word only letters and digits: sk-estimator-doc-link is a style sheet's.
		keyed("openai-key", `sk-(?:(?:proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{20,}|[A-Za-z0-9]{32,})`, "sk-"),
		keyed("google-key", `AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|GOCSPX-[A-Za-z0-9_-]{20,}`,
			"AIza", "ya29.", "GOCSPX-"),
		keyed("token", `npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}|hf_[A-Za-z0-9]{30,}|dckr_pat_[A-Za-z0-9_-]{20,}|`+
			`SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{32,}`,
			"npm_", "pypi-", "hf_", "dckr_pat_", "SG."),
	}
}

// assigned are secrets that can be told by what stands before them.
func assigned() []Pattern {
	return []Pattern{
		keyed("bearer-token", `(?i)bearer\s+([a-z0-9._~+/=-]{20,})`, "bearer"),
		{Kind: "basic-auth", Words: []string{"authorization"},
			Expr: `(?i)authorization` + assign + `["']?basic\s+([a-z0-9+/=]{8,})`},
		{Kind: "password", Words: []string{"://"},
			Expr: "://[^\\s:/@\"'`\\[\\]<>]*:([^\\s/@\"'`\\[\\](){}<>$*%][^\\s/@\"'`\\[\\]<>]*)@"},
		// Quoted: any text without spaces, for one with spaces is a message.
		{Kind: "secret", Words: secretWords, Min: 4,
			Expr: `(?i)` + secretNames + assign + quote + `(` + bare + `+={0,2})` + quote},
		// Bare behind "=", as in settings and connection strings.
		{Kind: "secret", Words: secretWords, Min: 4,
			Expr: `(?i)` + secretNames + `=(` + bare + `+={0,2})(?:[\s&;"'\\]|$)`},
		// Bare in any other way: with a digit, or "password: string" would be one.
		{Kind: "secret", Words: secretWords, Min: 8,
			Expr: `(?i)` + secretNames + assign + `(` + toDigit + `)` + ends},
		{Kind: "secret", Words: []string{"--"}, Min: 6,
			Expr: `(?i)--(?:` + secretNames + `|token)\s+(` + toDigit + `)` + ends},
	}
}
