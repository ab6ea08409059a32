package names

import (
	"strings"

	"github.com/kagewasm/kagewasm/internal/lazy"
)

// elapsed is a time that a test or a command took: "(0.61s)".
var elapsed = lazy.Regexp(`\d+\.\d+s\b`)

// known is what a failure is known by: the same command that failed in the same way, but
// for the time it took, is one failure, and its last text stands.
func (f *Failure) known() string {
	if f.normal == "" {
		return f.Text
	}
	_, said, _ := strings.Cut(strings.TrimPrefix(f.Text, scriptMark), "\n")
	return f.normal + "\n" + elapsed().ReplaceAllString(said, "")
}
