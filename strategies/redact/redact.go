// Package redact takes secrets out of texts that outlive the messages they
// stood in: summaries, notes, retained facts (complaint 16 of FEATURES). Each
// is replaced by "[redacted: KIND]", and all else stays as it was. Redacting
// twice changes nothing more.
//
// [Defaults] knows the keys of well-known services, private keys, bearer and
// web tokens, and passwords where they are assigned. It looks for what only
// secrets look like: hashes, ids, checksums and paths have to survive, because
// the agent goes on to use them.
package redact

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Pattern is one kind of secret.
type Pattern struct {
	// Kind is what stands in its place: lower-case letters, digits and dashes.
	Kind string
	// Expr is an RE2 expression, which matches in linear time. Where it has a
	// group, the first group is the secret, and the rest around it stays.
	Expr string
	// Words speed things up: Expr is tried only on texts that hold one of
	// them, whatever the case. None: always.
	Words []string
	// Min is the least length of a secret in bytes. Shorter ones stay.
	Min int
}

// Redactor replaces secrets. It is safe for concurrent use.
type Redactor struct {
	rules []rule
}

type rule struct {
	expr  *regexp.Regexp
	words []string
	min   int
	mark  string
}

const markOpen = "[redacted: "

var kind = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// New makes a redactor of patterns, which are applied in order. Nil is
// [Defaults], and an empty list redacts nothing.
func New(patterns []Pattern) (*Redactor, error) {
	if patterns == nil {
		patterns = Defaults()
	}
	r := new(Redactor)
	for i, p := range patterns {
		if !kind.MatchString(p.Kind) {
			return nil, fmt.Errorf("redact: pattern %d: kind %q: give lower-case letters, digits and dashes", i, p.Kind)
		}
		expr, err := regexp.Compile(p.Expr)
		if err != nil {
			return nil, fmt.Errorf("redact: pattern %d (%s): %w", i, p.Kind, err)
		}
		if expr.MatchString("") {
			return nil, fmt.Errorf("redact: pattern %d (%s): matches the empty text", i, p.Kind)
		}
		words := make([]string, len(p.Words))
		for k, w := range p.Words {
			words[k] = strings.ToLower(w)
		}
		r.rules = append(r.rules, rule{expr, words, p.Min, markOpen + p.Kind + "]"})
	}
	return r, nil
}

// Redact returns the text without its secrets, and how many there were.
func (r *Redactor) Redact(text string) (string, int) {
	n := 0
	lower := strings.ToLower(text)
	for _, rule := range r.rules {
		if !rule.may(lower) {
			continue
		}
		var found int
		if text, found = rule.apply(text); found > 0 {
			n += found
			lower = strings.ToLower(text)
		}
	}
	return text, n
}

func (r rule) may(lower string) bool {
	return len(r.words) == 0 || slices.ContainsFunc(r.words, func(w string) bool { return strings.Contains(lower, w) })
}

func (r rule) apply(text string) (string, int) {
	var b strings.Builder
	n, done := 0, 0
	for _, at := range r.expr.FindAllStringSubmatchIndex(text, -1) {
		from, to := at[0], at[1]
		if len(at) > 2 {
			from, to = at[2], at[3]
		}
		if from < 0 || to-from < max(1, r.min) || strings.Contains(text[from:to], markOpen) {
			continue
		}
		b.WriteString(text[done:from])
		b.WriteString(r.mark)
		n, done = n+1, to
	}
	if n == 0 {
		return text, 0
	}
	b.WriteString(text[done:])
	return b.String(), n
}
