// Package redact takes secrets out of texts that outlive the messages they stood in: summaries, notes,
// reports, retained facts. [Known] is the ready redactor, and [New] makes one of your own patterns;
// call [Redactor.Redact]. Each secret is replaced by "[redacted: KIND]", and all else stays as it was.
// Redacting twice changes nothing more.
//
// [Defaults], the patterns of Known, find the keys of well-known services, and secrets by what stands
// around them: settings, links, headers, the arguments of commands, and what people tell each other.
// They look for what only secrets look like: hashes, ids, checksums and paths must survive, because the
// agent goes on to use them.
package redact

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// Pattern is one kind of secret.
type Pattern struct {
	// Kind is what stands in its place: lower-case letters, digits and dashes.
	Kind string
	// Expr is an RE2 expression, which matches in linear time. Where it has
	// groups, the first one that matches something is the secret, and the rest
	// around it stays.
	Expr string
	// Words make it fast: Expr is only tried where one of them stands, in any
	// case, and must match from there. None: it is looked for everywhere.
	// A failed try should not have to look far ahead, or many words in a row
	// take time with the square of their number.
	Words []string
	// Begins: the word counts only where no letter, digit, "_" or "-" stands before it.
	Begins bool
	// Min is the least length of a secret in bytes. Shorter ones stay.
	Min int

	capital bool                      // the words count with a capital alone
	run     int                       // how many letters, digits, "_" and "-" stand there at least, the word's too
	find    finder                    // in the place of Expr
	may     func(string, int) bool    // whether Expr can match at a place: most places are told by the next few bytes
	accept  func(string, []span) bool // of what Expr matched: whether it is a secret
}

// span is a part of a text, from a byte to another.
type span struct{ from, to int }

func (s span) of(text string) string { return text[s.from:s.to] }

// finder returns the secrets at a place of a text where a word of its pattern stands, and where to go
// on, if that is not right after the place.
type finder func(text string, at int) (secrets []span, next int)

// Redactor replaces secrets. It is safe for concurrent use.
type Redactor struct {
	rules []rule
	scan  *scanner
}

type rule struct {
	words           []string
	begins, capital bool
	run             int
	min             int
	mark            string
	find            finder
	all             func() *regexp.Regexp // of a rule without words
}

// finding is a secret and the rule that found it.
type finding struct {
	span
	rule int
}

var kind = lazy.Regexp(`^[a-z0-9]+(-[a-z0-9]+)*$`)

var known = sync.OnceValue(func() *Redactor { return compiled(Defaults()) })

// New returns a redactor of patterns. Where two find the same text, the first one says what kind of
// secret it is. Nil is [Defaults], and an empty list redacts nothing. The error names the pattern that
// cannot be used: its kind has other characters, a word is empty, or Expr is no RE2 expression or
// matches the empty text.
func New(patterns []Pattern) (*Redactor, error) {
	if patterns == nil {
		return Known(), nil
	}
	for i, p := range patterns {
		if err := p.check(); err != nil {
			return nil, fmt.Errorf("redact: pattern %d: %w", i, err)
		}
	}
	return compiled(patterns), nil
}

// Known returns the redactor of [Defaults]. It is made once.
func Known() *Redactor { return known() }

// compiled returns a redactor of patterns that New or a test has checked.
func compiled(patterns []Pattern) *Redactor {
	r := new(Redactor)
	for _, p := range patterns {
		rule := rule{
			begins: p.Begins, capital: p.capital, run: p.run,
			min: max(1, p.Min), mark: markOpen + p.Kind + markClose, find: p.find,
		}
		for _, w := range p.Words {
			rule.words = append(rule.words, lower(w))
		}
		switch {
		case p.find != nil:
		case len(p.Words) == 0:
			rule.all = lazy.Regexp(p.Expr)
		default:
			rule.find = p.matcher()
		}
		r.rules = append(r.rules, rule)
	}
	r.scan = newScanner(r.rules)
	return r
}

// maxTried is how much of a text is looked at before it is clear that there is a
// secret, in bytes: then all of it goes.
const maxTried = 192

// matcher finds what Expr matches. A match that may not be accepted is tried on the
// beginning of the text first, so that failed tries take no more time each.
func (p *Pattern) matcher() finder {
	expr, may, accept := lazy.Regexp(`\A(?:`+p.Expr+`)`), p.may, p.accept
	try := func(text string, at int) []span {
		groups := groupsOf(expr().FindStringSubmatchIndex(text[at:]), at)
		if groups == nil || accept != nil && !accept(text, groups) {
			return nil
		}
		return append(secretOf(groups), groups[0])
	}
	return func(text string, at int) ([]span, int) {
		if may != nil && !may(text, at) {
			return nil, 0
		}
		end := len(text)
		if accept != nil {
			end = min(end, at+maxTried)
		}
		found := try(text[:end], at)
		if found != nil && end < len(text) && found[len(found)-1].to == end {
			found = try(text, at)
		}
		if found == nil {
			return nil, 0
		}
		last := len(found) - 1
		return found[:last], found[last].to
	}
}

// groupsOf returns the groups of a match that begins at a place of a text. Those that took no part are
// empty.
func groupsOf(match []int, at int) (groups []span) {
	for i := 0; i < len(match); i += 2 {
		if match[i] < 0 {
			groups = append(groups, span{})
			continue
		}
		groups = append(groups, span{at + match[i], at + match[i+1]})
	}
	return groups
}

// secretOf returns the first group that matched something, or the whole match where there are no
// groups.
func secretOf(groups []span) []span {
	if len(groups) == 1 {
		return groups
	}
	for _, g := range groups[1:] {
		if g.to > g.from {
			return []span{g}
		}
	}
	return nil
}

func (p *Pattern) check() error {
	if !kind().MatchString(p.Kind) {
		return fmt.Errorf("kind %q: give lower-case letters, digits and dashes", p.Kind)
	}
	if slices.Contains(p.Words, "") {
		return fmt.Errorf("%s: an empty word", p.Kind)
	}
	if p.find != nil {
		return nil
	}
	expr, err := regexp.Compile(p.Expr)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Kind, err)
	}
	if expr.MatchString("") {
		return fmt.Errorf("%s: matches the empty text", p.Kind)
	}
	return nil
}

// Redact returns the text without its secrets, and how many there were.
func (r *Redactor) Redact(text string) (string, int) {
	text, n, _ := r.RedactContext(context.Background(), text)
	return text, n
}

// passes is how often a text is looked through: what stands beside a secret that was
// taken out can be one in its turn.
const passes = 4

// RedactContext is [Redactor.Redact] for texts of any length that others decide. The only error is the
// context's own, and then there is no text.
func (r *Redactor) RedactContext(ctx context.Context, text string) (string, int, error) {
	all := 0
	for range passes {
		found := r.find(ctx, text)
		if err := ctx.Err(); err != nil { // and some may be missing
			return "", 0, err
		}
		if len(found) == 0 {
			break
		}
		n := 0
		text, n = r.without(text, found)
		all += n
	}
	return text, all, nil
}

// find returns what the rules find in a text until the context is done.
func (r *Redactor) find(ctx context.Context, text string) (found []finding) {
	given := r.scan.places(ctx, text)
	defer r.scan.used.Put(given)
	places := *given
	for i := range r.rules {
		if r.rules[i].all == nil && len(places[i]) == 0 {
			continue
		}
		r.rules[i].each(ctx, text, places[i], func(s span) { found = append(found, finding{s, i}) })
		if ctx.Err() != nil {
			return nil
		}
	}
	return found
}

// without returns a text with marks in the place of what was found, and how many. Secrets that overlap
// become one.
func (r *Redactor) without(text string, found []finding) (string, int) {
	lists.SortStable(found, func(a, b finding) int { return cmp.Or(a.from-b.from, a.rule-b.rule) })
	var b strings.Builder
	n, done := 0, 0
	for i := 0; i < len(found); n++ {
		one := found[i]
		for i++; i < len(found) && found[i].from < one.to; i++ {
			one.to, one.rule = max(one.to, found[i].to), min(one.rule, found[i].rule)
		}
		b.WriteString(text[done:one.from])
		b.WriteString(r.rules[one.rule].mark)
		done = one.to
	}
	b.WriteString(text[done:])
	return b.String(), n
}

// tries is how often a rule is tried between two looks at the context.
const tries = 256

// each gives what the rule finds in a text to yield, until the context is done.
func (r *rule) each(ctx context.Context, text string, places []int, yield func(span)) {
	secret := func(s span) {
		if s.to-s.from >= r.min && !strings.Contains(s.of(text), markOpen) {
			yield(s)
		}
	}
	if r.all != nil {
		for _, match := range r.all().FindAllStringSubmatchIndex(text, -1) {
			for _, s := range secretOf(groupsOf(match, 0)) {
				secret(s)
			}
		}
		return
	}
	after := 0 // where the last try ended
	for k, at := range places {
		if k%tries == 0 && ctx.Err() != nil {
			return
		}
		if at < after {
			continue
		}
		secrets, next := r.find(text, at)
		for _, s := range secrets {
			secret(s)
		}
		after = next
	}
}

func isWord(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
