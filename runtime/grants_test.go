package runtime_test

import (
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/runtime"
)

// TestGrantsEveryCapability: each capability can be granted, is then allowed
// and nothing else is, and can be taken away, so that one added later is not
// forgotten.
func TestGrantsEveryCapability(t *testing.T) {
	for _, c := range abi.Capabilities {
		var origins []string
		if c == abi.CapHTTP {
			origins = []string{"api.example.com"}
		}
		var g runtime.Grants
		if err := g.Grant(c, origins...); err != nil {
			t.Fatal(err)
		}
		all := plugintest.GrantAll(&abi.Manifest{Capabilities: map[abi.Capability]abi.Request{c: {Hosts: origins}}})
		for _, other := range abi.Capabilities {
			if g.Allows(other) != (other == c) || all.Allows(other) != (other == c) {
				t.Errorf("%s granted: %s allowed: %v, %v", c, other, g.Allows(other), all.Allows(other))
			}
		}
		if err := g.Deny(c); err != nil || g.Allows(c) {
			t.Errorf("%s denied: %v, allowed: %v", c, err, g.Allows(c))
		}
	}
}

func TestGrantRefuses(t *testing.T) {
	for _, tc := range []struct {
		c       abi.Capability
		origins []string
		why     string
	}{
		{"teleport", nil, "no capability"},
		{abi.CapKV, []string{"x"}, "kv takes no value"},
		{abi.CapHTTP, nil, "http takes one"},
		{abi.CapHTTP, []string{"*.example.com"}, "and that is an origin"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			var g runtime.Grants
			if err := g.Grant(tc.c, tc.origins...); abi.CodeOf(err) != abi.CodeUsage ||
				slices.ContainsFunc(abi.Capabilities, g.Allows) {
				t.Errorf("%s %v: %v, granted %+v: %s", tc.c, tc.origins, err, g, tc.why)
			}
		})
	}
	var g runtime.Grants
	if err := g.Deny("teleport"); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("deny: %v", err)
	}
}
