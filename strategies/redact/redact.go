// Package redact takes secrets out of texts that outlive the messages they
// stood in: summaries, notes, retained facts. Each secret is replaced by
// "[redacted: KIND]", and all else stays as it was. Redacting twice changes
// nothing more.
//
// Begin with [New], or [Spoken] for what people tell each other, and
// [Redactor.Redact]. [Defaults] knows the keys of well-known services, private
// keys, bearer and web tokens, and passwords where they are assigned. It looks
// for what only secrets look like: hashes, ids, checksums and paths must
// survive, because the agent goes on to use them.
package redact

import (
	"context"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Pattern is one kind of secret.
type Pattern struct {
	// Kind is what stands in its place: lower-case letters, digits and dashes.
	Kind string
	// Expr is an RE2 expression, which matches in linear time. Where it has a
	// group, the first group is the secret, and the rest around it stays.
	Expr string
	// Words make it fast: Expr is only tried where one of them stands, in any
	// case, and must match from there. None: it is looked for everywhere.
	// A failed try should not have to look far ahead, or many words in a row
	// take time with the square of their number.
	Words []string
	// Begins: no letter, digit, "_" or "-" stands before the word.
	Begins bool
	// Min is the least length of a secret in bytes. Shorter ones stay.
	Min int
}

// Redactor replaces secrets. It is safe for concurrent use.
type Redactor struct {
	rules []rule
	scan  *scanner
}

type rule struct {
	expr   func() *regexp.Regexp // compiled when first needed: most texts need none
	words  []string
	begins bool
	min    int
	mark   string
}

var kind = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`) })

// New makes a redactor of patterns, which are applied in order. Nil is
// [Defaults], and an empty list redacts nothing.
func New(patterns []Pattern) (*Redactor, error) {
	if patterns == nil {
		return compiled(Defaults()), nil
	}
	for i, p := range patterns {
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("redact: pattern %d: %w", i, err)
		}
	}
	return compiled(patterns), nil
}

// compiled makes a redactor of patterns that were checked, by New or by tests.
func compiled(patterns []Pattern) *Redactor {
	r := new(Redactor)
	for _, p := range patterns {
		rule := rule{begins: p.Begins, min: max(1, p.Min), mark: markOpen + p.Kind + markClose}
		for _, w := range p.Words {
			rule.words = append(rule.words, lower(w))
		}
		expr := p.Expr
		if len(p.Words) > 0 {
			expr = `\A(?:` + expr + `)`
		}
		rule.expr = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
		r.rules = append(r.rules, rule)
	}
	r.scan = newScanner(r.rules)
	return r
}

func (p *Pattern) check() error {
	if !kind().MatchString(p.Kind) {
		return fmt.Errorf("kind %q: give lower-case letters, digits and dashes", p.Kind)
	}
	expr, err := regexp.Compile(p.Expr)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Kind, err)
	}
	if expr.MatchString("") {
		return fmt.Errorf("%s: matches the empty text", p.Kind)
	}
	if slices.Contains(p.Words, "") {
		return fmt.Errorf("%s: an empty word", p.Kind)
	}
	return nil
}

// Redact returns the text without its secrets, and how many there were.
func (r *Redactor) Redact(text string) (string, int) {
	text, n, _ := r.RedactContext(context.Background(), text)
	return text, n
}

// RedactContext is [Redactor.Redact] for texts as long as somebody else likes. The
// only error is the context's own, and then there is no text.
func (r *Redactor) RedactContext(ctx context.Context, text string) (string, int, error) {
	n, places := 0, r.scan.places(ctx, text)
	for i, rule := range r.rules {
		if len(rule.words) > 0 && len(places[i]) == 0 {
			continue
		}
		without, found := rule.apply(ctx, text, places[i])
		if err := ctx.Err(); err != nil {
			return "", 0, err
		}
		if found > 0 {
			n, text, places = n+found, without, r.scan.places(ctx, without)
		}
	}
	if err := ctx.Err(); err != nil { // and places may be missing
		return "", 0, err
	}
	return text, n, nil
}

// apply replaces what the rule matches where one of its words stands.
func (r rule) apply(ctx context.Context, text string, places []int) (string, int) {
	var b strings.Builder
	n, done := 0, 0
	for at := range r.matches(ctx, text, places) {
		from, to := at[0], at[1]
		if len(at) > 2 {
			from, to = at[2], at[3]
		}
		if from < 0 || to-from < r.min || strings.Contains(text[from:to], markOpen) {
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

// tries is how often a rule is tried between two looks at the context.
const tries = 256

// matches are the submatch indices of a rule in a text, one after the other, until
// the context is done.
func (r rule) matches(ctx context.Context, text string, places []int) iter.Seq[[]int] {
	expr := r.expr()
	if len(r.words) == 0 {
		return slices.Values(expr.FindAllStringSubmatchIndex(text, -1))
	}
	return func(yield func([]int) bool) {
		after := 0 // the last match
		for k, pos := range places {
			if k%tries == 0 && ctx.Err() != nil {
				return
			}
			if pos < after || r.begins && pos > 0 && isWord(text[pos-1]) {
				continue
			}
			at := expr.FindStringSubmatchIndex(text[pos:])
			if at == nil {
				continue
			}
			for i := range at {
				if at[i] >= 0 {
					at[i] += pos
				}
			}
			if after = at[1]; !yield(at) {
				return
			}
		}
	}
}

func isWord(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
