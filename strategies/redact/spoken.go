package redact

// Spoken returns a redactor for what people tell each other: beside [Defaults]
// it knows "the password is hunter22" and "use the key 7Hx…".
func Spoken() *Redactor { return compiled(append(Defaults(), spoken()...)) }

// spoken are secrets that are told, not assigned.
func spoken() []Pattern {
	return []Pattern{
		{Kind: "secret", Begins: true, Min: 4, Words: []string{"pass", "pwd", "secret", "token", "key"},
			Expr: "(?i)(?:password|passphrase|passwd|pwd|secret|token|key)\\s+(?:is|ist|est|es|è)\\s+" +
				"[\"'`]?([^\\s\"'`0-9]*[0-9][^\\s\"'`,;]*)"},
		{Kind: "secret", Begins: true, Min: 20, Words: []string{"key", "token", "secret"},
			Expr: "(?i)(?:key|token|secret)\\s+[\"'`]?([a-z_-]*[0-9][a-z0-9_-]*)"},
	}
}
