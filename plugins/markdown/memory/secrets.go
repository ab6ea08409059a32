package memory

import (
	"strings"

	"github.com/kagewasm/kagewasm/strategies/redact"
)

// said are secrets as people tell them: "the password is hunter22", "use the
// key 7Hx…". Elsewhere they are assigned, which the defaults know.
var said = []redact.Pattern{
	{Kind: "secret", Begins: true, Min: 4, Words: []string{"pass", "pwd", "secret", "token", "key"},
		Expr: "(?i)(?:password|passphrase|passwd|pwd|secret|token|key)\\s+(?:is|ist|est|es|è)\\s+[\"'`]?([^\\s\"'`0-9]*[0-9][^\\s\"'`,;]*)"},
	{Kind: "secret", Begins: true, Min: 20, Words: []string{"key", "token", "secret"},
		Expr: "(?i)(?:key|token|secret)\\s+[\"'`]?([a-z_-]*[0-9][a-z0-9_-]*)"},
}

// secrets is made when the module starts, which hosts do once for many calls.
var secrets = func() *redact.Redactor {
	r, err := redact.New(append(redact.Defaults(), said...))
	if err != nil {
		panic(err) // the patterns are above
	}
	return r
}()

func withoutSecrets(s string) string {
	s, _ = secrets.Redact(s)
	return s
}

// plain is a text without the marks that stand for secrets.
func plain(s string) string {
	if redact.Marks(s) == 0 {
		return s
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "[redacted: ")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, s, _ = strings.Cut(rest, "]")
	}
}
