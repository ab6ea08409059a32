package sealed_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/sealed"
)

// TestSealed: what was written is read, and nothing that is near it.
func TestSealed(t *testing.T) {
	for _, value := range []string{"", "a", "two\nlines\n", strings.Repeat("long ", 10_000)} {
		text := sealed.Write(7, value)
		got, generation, err := sealed.Read(text)
		if got != value || generation != 7 || err != nil || !sealed.Is(text) {
			t.Errorf("%.20q of generation %d: %v", got, generation, err)
		}
		for i := range min(len(text), 60) {
			for name, near := range map[string]string{
				"cut": text[:i], "without a byte": text[:i] + text[i+1:], "one byte more": text[:i] + "1" + text[i:],
				"another byte": text[:i] + "~" + text[i+1:],
			} {
				if got, _, err := sealed.Read(near); err == nil && near != text {
					t.Errorf("%s at %d: %.20q", name, i, got)
				}
			}
		}
	}
	if key, ok := sealed.Original(sealed.Copy("banks/x/root")); key != "banks/x/root" || !ok {
		t.Errorf("%q, %v", key, ok)
	}
	if _, ok := sealed.Original("banks/x/root"); ok {
		t.Error("no copy")
	}
}
