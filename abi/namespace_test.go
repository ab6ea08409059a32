package abi_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
)

const someDigest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestValidNamespace(t *testing.T) {
	for s, why := range map[string]string{
		"markdown": "a plugin", "_lineage": "the host's own", "a+0123456789ab": "another module",
		"a@main-reviewer-0123456789ab":  "an agent",
		"a+0123456789ab@b-0123456789ab": "both", strings.Repeat("a", 64) + "+0123456789ab@" +
			strings.Repeat("b", 40): "the longest",
	} {
		t.Run(s, func(t *testing.T) {
			if !abi.ValidNamespace(s) {
				t.Errorf("%q is refused: %s", s, why)
			}
		})
	}
	for s, why := range map[string]string{
		"": "empty", "..": "a way out", "a/b": "two", "A": "a capital, the same folder on some systems",
		"a+0123": "half a digest", "a@": "no agent",
		"a b": "a space", "-a": "an option", "a@b+0123456789ab": "the wrong way round", "a\n": "a line end",
		strings.Repeat("a", 65): "too long",
	} {
		t.Run(s, func(t *testing.T) {
			if abi.ValidNamespace(s) {
				t.Errorf("%q is accepted: %s", s, why)
			}
		})
	}
}

// TestNamespacesAreApart: for any plugins, modules and agents, the namespaces
// are valid, and different where anything is.
func TestNamespacesAreApart(t *testing.T) {
	name := rapid.StringMatching(`[a-z0-9][a-z0-9_-]{0,63}`)
	place := func(t *rapid.T, label string) (string, [3]string) {
		who := [3]string{name.Draw(t, label), "", rapid.OneOf(rapid.SampledFrom([]string{"", "a/b", "a-b", "A/B"}),
			rapid.String()).Draw(t, label)}
		line := who[0]
		if rapid.Bool().Draw(t, label) {
			who[1] = someDigest
			line = abi.NamespaceOf(who[0], someDigest)
		}
		return abi.AgentNamespace(line, who[2]), who
	}
	rapid.Check(t, func(t *rapid.T) {
		a, whoA := place(t, "a")
		b, whoB := place(t, "b")
		if !abi.ValidNamespace(a) {
			t.Fatalf("%q of %q is not valid", a, whoA)
		}
		if (a == b) != (whoA == whoB) {
			t.Fatalf("%q of %q and %q of %q", a, whoA, b, whoB)
		}
	})
}
