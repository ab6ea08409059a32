package memory

import (
	"regexp"
	"strings"
	"sync"
)

const redacted = "[redacted]"

// secretREs match strings that have the shape of a key. The last group of each
// is what is cut. A guest is a new instance in every call, and most texts need
// none of them: they are compiled when first used.
var secretREs = sync.OnceValue(func() (res []*regexp.Regexp) {
	for _, expr := range []string{
		`(-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*)`,
		`\b((?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abprs]-[\w-]{10,}|A[KS]IA[0-9A-Z]{16}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|npm_[A-Za-z0-9]{30,}|hf_[A-Za-z0-9]{20,}|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]+)?)`,
		`(?i)\b(?:bearer|basic)\s+([A-Za-z0-9._~+/=-]{12,})`,
		`(?i)(?:password|passwd|passphrase|pwd|secret|token|api[_ -]?key|access[_ -]?key|private[_ -]?key|credentials?)["']?\s*(?:[:=]|\bis\b)\s*["'` + "`" + `]?([^\s"'` + "`" + `]{4,})`,
		`://[^\s/:@]+:([^\s/@]+)@`,
	} {
		res = append(res, regexp.MustCompile(expr))
	}
	return res
})

// longRE matches unbroken runs; those that mix cases and digits are keys.
var longRE = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[A-Za-z0-9+_-]{32,}={0,2}`) })

// redact cuts what has the shape of a key.
func redact(s string) string {
	if !mayHoldSecret(s) {
		return s
	}
	for _, re := range secretREs() {
		s = re.ReplaceAllStringFunc(s, func(m string) string {
			g := re.FindStringSubmatchIndex(m)
			return m[:g[2]] + redacted + m[g[3]:]
		})
	}
	return longRE().ReplaceAllStringFunc(s, func(m string) string {
		if strings.ContainsAny(m, "0123456789") && strings.ToLower(m) != m && strings.ToUpper(m) != m {
			return redacted
		}
		return m
	})
}

// mayHoldSecret spares most texts the expressions: keys are long runs, or
// follow a separator.
func mayHoldSecret(s string) bool {
	run := 0
	for i := 0; i < len(s); i++ {
		if s[i] <= ' ' {
			run = 0
		} else if run++; run >= 12 {
			return true
		}
	}
	return strings.ContainsAny(s, ":=@") || strings.Contains(s, " is ")
}
