package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/internal/yamldoc"
)

// Problem is one thing that is wrong with a configuration.
type Problem struct {
	// File is empty for a problem of what was set on top of one.
	File string `json:"file"`
	// Line and Column count from 1; 0 is where there is no place to point to.
	Line   int `json:"line,omitempty"`
	Column int `json:"column,omitempty"`
	// Message is what is wrong and what to do about it, in one line.
	Message string `json:"message"`
	// Excerpt is the line with the one before it and a mark below the column.
	// Values of what looks like a secret are masked.
	Excerpt string `json:"excerpt,omitempty"`
}

// String returns "file:line:column: message", without the excerpt.
func (p Problem) String() string {
	switch {
	case p.File == "":
		return p.Message
	case p.Line == 0:
		return p.File + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// Problems is everything that is wrong, in the order of the file. It is the
// cause of the *abi.Error that loading returns.
type Problems []Problem

// Error returns all problems with their excerpts, one below the other.
func (ps Problems) Error() string {
	var lines []string
	for _, p := range ps {
		lines = append(lines, p.String())
		if p.Excerpt != "" {
			lines = append(lines, p.Excerpt)
		}
	}
	return strings.Join(lines, "\n")
}

// At most this many problems are listed: what follows from one mistake should not
// bury it.
const maxProblems = 20

// asError is nil where there is no problem.
func (ps Problems) asError() error {
	if len(ps) == 0 {
		return nil
	}
	ps = ps[:min(len(ps), maxProblems)]
	return &abi.Error{Code: abi.CodeBadInput, Op: "config", Message: ps.Error(), Err: ps}
}

// source is the text of a file, to point into.
type source struct {
	name  string
	lines []string
}

func (s source) problem(at yamldoc.Pos, format string, args ...any) Problem {
	message := clip.CutChars(masked(fmt.Sprintf(format, args...)), maxMessage, "…")
	return Problem{File: s.name, Line: at.Line, Column: at.Column, Message: message, Excerpt: s.excerpt(at)}
}

// At most this many characters of a line are shown, and of a message. What is looked
// through for secrets is longer, so that none is cut in half and then unknown.
const (
	maxExcerpt = 160
	maxMessage = 1_000
	maxMasked  = 2 << 10
)

// masked is a text without secrets, cut where it is far too long.
func masked(text string) string {
	return secretRE().ReplaceAllString(text[:min(len(text), maxMasked)], "***")
}

func (s source) excerpt(at yamldoc.Pos) string {
	if at.Line < 1 || at.Line > len(s.lines) {
		return ""
	}
	width := len(fmt.Sprint(at.Line))
	var b strings.Builder
	if at.Line > 1 {
		fmt.Fprintf(&b, "  %*d | %s\n", width, at.Line-1, s.shown(at.Line-1))
	}
	fmt.Fprintf(&b, "> %*d | %s", width, at.Line, s.shown(at.Line))
	if at.Column <= maxExcerpt {
		fmt.Fprintf(&b, "\n  %*s | %s^", width, "", strings.Repeat(" ", max(at.Column-1, 0)))
	}
	return b.String()
}

// shown is a line without tabs, which would move the mark, and without
// secrets: people paste keys where they do not belong, and errors end up in
// logs.
func (s source) shown(line int) string {
	t := s.lines[line-1]
	t = strings.ReplaceAll(strings.TrimRight(t[:min(len(t), maxMasked)], "\r"), "\t", " ")
	if m := secretPairRE().FindStringSubmatchIndex(t); m != nil && !harmlessRE().MatchString(t[m[3]:]) {
		t = t[:m[3]] + "***"
	}
	return clip.CutChars(masked(t), maxExcerpt, "…")
}

var (
	secretPairRE = lazy.Regexp(`(?i)((?:keys?|secrets?|token|passw(?:or)?ds?|authorization|cookies?|credentials?)` +
		`(?:_env)?["']?\s*[:=]\s*)[^\s#]`)
	// harmlessRE is what such a name may be followed by: a number (of tokens),
	// the name of a variable, nothing.
	harmlessRE = lazy.Regexp(`^(?:[0-9_]*|off|~|null|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[{\[|>])[ ,}]*(?:#.*)?$`)
	secretRE   = lazy.Regexp(`(?i)\b(?:sk|pk|rk|gh[a-z]|github_pat|xox[a-z]|glpat|aiza|akia)[-_]?[a-z0-9_-]{12,}|` +
		`\bbearer\s+\S+|://[^/\s@]+@`)
)

// ProblemsOf returns the problems that an error of this package holds. An error that is not about the
// text of a configuration, such as a file that is not there, is the only problem; no error has none.
func ProblemsOf(err error) Problems {
	if err == nil {
		return Problems{}
	}
	if ps, ok := errors.AsType[Problems](err); ok {
		return ps
	}
	return Problems{{Message: abi.AsError(err).Message}}
}
