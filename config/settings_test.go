package config_test

import (
	"fmt"
	"slices"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/config"
	"github.com/kagewasm/kagewasm/strategies/note"
	"github.com/kagewasm/kagewasm/tokens"
)

// TestSettingsSayWhatTheCodeDoes: settings.json names what the code knows, and its
// defaults.
func TestSettingsSayWhatTheCodeDoes(t *testing.T) {
	profiles := []string{kagewasm.ProfileAuto}
	for _, p := range kagewasm.Profiles() {
		profiles = append(profiles, p.Name)
	}
	var outlines, capabilities, limits []string
	for _, o := range note.Outlines() {
		outlines = append(outlines, o.Name)
	}
	for _, c := range abi.Capabilities {
		capabilities = append(capabilities, string(c))
	}
	for name, def := range abi.DefaultLimits().All() {
		limits = append(limits, name)
		t.Run("limits."+name, func(t *testing.T) {
			if got := config.Default("limits", name); fmt.Sprint(got) != fmt.Sprint(def) {
				t.Errorf("default %v, want %v", got, def)
			}
		})
	}
	for _, tc := range []struct {
		name      string
		got, want []string
	}{
		{"strategies", config.Choices("compaction", "strategy"), kagewasm.Strategies()},
		{"profiles", config.Choices("compaction", "profile"), profiles},
		{"outlines", config.Choices("summarize", "outline"), outlines},
		{"encodings", config.Choices("metadata", "encoding"), []string{string(tokens.O200k), string(tokens.CL100k)}},
		{"capabilities", config.Names("grants"), capabilities},
		{"limits", config.Names("limits"), append(limits, "fuel")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if !slices.Equal(tc.got, tc.want) {
				t.Errorf("settings.json has %q, the code %q", tc.got, tc.want)
			}
		})
	}
	for _, tc := range []struct {
		list, field string
		want        any
	}{
		{"compaction", "strategy", kagewasm.StrategyDrop},
		{"compaction", "profile", kagewasm.Profiles()[0].Name},
		{"compaction", "upper_threshold", kagewasm.DefaultUpper},
		{"compaction", "lower_threshold", kagewasm.DefaultLower},
		{"summarize", "prompt", config.DefaultPrompt},
	} {
		t.Run(tc.field, func(t *testing.T) {
			if got := config.Default(tc.list, tc.field); got != tc.want {
				t.Errorf("default %v, want %v", got, tc.want)
			}
		})
	}
}
