package catalog

import (
	"regexp"
	"slices"
	"strings"
)

// Rule says which lower-case names mean a model: any that it matches in one of
// the ways it lists. One with Not lists no other, and matches what Not does
// not. A nil rule matches nothing.
type Rule struct {
	Equal    []string `json:"eq,omitempty"`
	Prefix   []string `json:"pre,omitempty"`
	Suffix   []string `json:"suf,omitempty"`
	Contains []string `json:"has,omitempty"`
	Regexp   []string `json:"re,omitempty"`
	All      []*Rule  `json:"all,omitempty"` // all of them
	Any      []*Rule  `json:"any,omitempty"`
	Not      *Rule    `json:"not,omitempty"`

	exprs []*regexp.Regexp
}

// Empty reports whether the rule lists nothing.
func (r *Rule) Empty() bool {
	texts := len(r.Equal) + len(r.Prefix) + len(r.Suffix) + len(r.Contains) + len(r.Regexp)
	return texts+len(r.All)+len(r.Any) == 0 && r.Not == nil
}

func (r *Rule) compile() error {
	if r == nil {
		return nil
	}
	r.exprs = nil
	for _, s := range r.Regexp {
		re, err := regexp.Compile(s)
		if err != nil {
			return err
		}
		r.exprs = append(r.exprs, re)
	}
	for _, sub := range slices.Concat(r.All, r.Any) {
		if err := sub.compile(); err != nil {
			return err
		}
	}
	return r.Not.compile()
}

// Matches reports whether s, in lower case, is a name by this rule.
func (r *Rule) Matches(s string) bool {
	switch {
	case r == nil:
		return false
	case r.Not != nil:
		return !r.Not.Matches(s)
	case slices.Contains(r.Equal, s),
		slices.ContainsFunc(r.Prefix, func(p string) bool { return strings.HasPrefix(s, p) }),
		slices.ContainsFunc(r.Suffix, func(p string) bool { return strings.HasSuffix(s, p) }),
		slices.ContainsFunc(r.Contains, func(p string) bool { return strings.Contains(s, p) }),
		slices.ContainsFunc(r.exprs, func(re *regexp.Regexp) bool { return re.MatchString(s) }),
		slices.ContainsFunc(r.Any, func(sub *Rule) bool { return sub.Matches(s) }):
		return true
	}
	return len(r.All) > 0 && !slices.ContainsFunc(r.All, func(sub *Rule) bool { return !sub.Matches(s) })
}
