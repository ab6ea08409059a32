package abi_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
)

func TestCheckKey(t *testing.T) {
	for _, c := range []struct {
		key, why string
		ok       bool
	}{
		{"facts/x.md", "an ordinary key", true},
		{"π/ключ 1", "any language, spaces included", true},
		{"a/.hidden/..x", "dots are only special alone", true},
		{strings.Repeat("k", abi.MaxKeyBytes), "the longest", true},
		{strings.Repeat("a/", abi.MaxKeySegments-1) + "a", "the deepest", true},
		{"", "empty", false},
		{"/a", "empty first segment", false},
		{"a//b", "empty segment", false},
		{"a/", "empty last segment", false},
		{"../a", "traversal", false},
		{"a/./b", "two names for one key", false},
		{"a\x00b", "control character", false},
		{"a\u0085b", "control character beyond ASCII", false},
		{"a\xffb", "invalid UTF-8", false},
		{strings.Repeat("k", abi.MaxKeyBytes+1), "too long", false},
		{strings.Repeat("a/", abi.MaxKeySegments) + "a", "too deep", false},
	} {
		t.Run(c.why, func(t *testing.T) {
			if err := abi.CheckKey(c.key); (err == nil) != c.ok {
				t.Errorf("CheckKey(%q) = %v", c.key, err)
			}
		})
	}
}
