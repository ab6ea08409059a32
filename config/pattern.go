package config

import (
	"fmt"
	"regexp"
	"regexp/syntax"
)

const (
	// maxPattern bounds the program of one pattern, and maxPatterns those of a file,
	// in instructions; maxPatternText is for its text, in bytes. A few bytes can ask
	// for a million instructions, and a character of a session for as many steps.
	maxPattern     = 10_000
	maxPatterns    = 50_000
	maxPatternText = 1000
)

// patternChecks are the checks of texts that are patterns.
var patternChecks = map[string]bool{"pattern": true, "redact": true}

// patternSize is about how many instructions the program of a pattern takes. It is
// worked out without making that. A text that is no pattern has none.
func patternSize(pattern string) int {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0
	}
	return programSize(re)
}

func programSize(re *syntax.Regexp) int {
	size := 1
	switch re.Op {
	case syntax.OpLiteral:
		size = len(re.Rune)
	case syntax.OpCharClass:
		size += len(re.Rune) / 16 // each character is looked for among the ranges
	}
	for _, sub := range re.Sub {
		size += programSize(sub)
	}
	if re.Op == syntax.OpRepeat {
		size *= max(re.Min, re.Max, 1)
	}
	return size
}

// patternSize is that of all patterns that stand there.
func (n *node) patternSize() int {
	size := 0
	if text, ok := n.value.(string); ok && patternChecks[n.field.Check] {
		size = patternSize(text)
	}
	for _, k := range n.kids {
		size += k.patternSize()
	}
	return size
}

// affords reports whether there is room for a pattern among those of the file.
func (r *reader) affords(n *node) bool {
	switch text, _ := n.value.(string); {
	case !patternChecks[n.field.Check]:
		return true
	case r.patterns > maxPatterns:
		return false
	case len(text) > maxPatternText:
		r.fail(n.at, "pattern: %d bytes, at most %d are allowed", len(text), maxPatternText)
		return false
	default:
		r.patterns += patternSize(text)
	}
	if r.patterns > maxPatterns {
		r.fail(n.at, "patterns: all of them together take more than %d steps a character: write fewer, or shorter ones",
			maxPatterns)
	}
	return r.patterns <= maxPatterns
}

func checkPattern(n *node) string {
	pattern := n.value.(string)
	if size := patternSize(pattern); size > maxPattern {
		return fmt.Sprintf("pattern: it takes about %d steps a character, at most %d are allowed: repeat less", size,
			maxPattern)
	}
	if _, err := regexp.Compile(pattern); err != nil {
		return "pattern: " + err.Error()
	}
	return ""
}

func checkRedact(n *node) string {
	if wrong := checkPattern(n); wrong != "" {
		return wrong
	}
	if regexp.MustCompile(n.value.(string)).MatchString("") {
		return "this pattern matches the empty text, and so everywhere: write one that needs at least a letter"
	}
	return ""
}

// patterns are those of a list redact.
func patterns(n *node) []*regexp.Regexp {
	return bindList(n, func(item *node) *regexp.Regexp { return regexp.MustCompile(item.value.(string)) })
}
