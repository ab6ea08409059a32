package toolcall

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestOnOneLine: a script that needs no work is told from others by its bytes, and is the same as with it.
func TestOnOneLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		script := rapid.StringOf(rapid.SampledFrom([]rune(" ab;\\\n\t\u00a0\u0085é"))).Draw(t, "script")
		want := strings.Join(strings.Fields(lineEnds.Replace(script)), " ")
		if got := onOneLine(script); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}
