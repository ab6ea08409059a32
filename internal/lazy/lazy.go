// Package lazy puts off until it is needed what a program would make at its start, and most runs of it need not.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp compiles an expression, which has to be valid, when it is first asked for. Inlined it would stand in the
// program once for each of them.
//
//go:noinline
func Regexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
