package config_test

import (
	"reflect"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

// TestKnobsOfSettings: each parameter of a compaction is set on a page by what suits it: few words by a choice, shares
// and small numbers by a slider, models by their aliases.
func TestKnobsOfSettings(t *testing.T) {
	features.Proves(t, "K13")
	got := explain(t, load(t, "{}"), "")
	for name, s := range got {
		if s.Knob.Type == "" {
			t.Errorf("%s has no knob", name)
		}
	}
	share := abi.Knob{Type: abi.KnobRange, Min: 0.01, Max: 1, Step: 0.01}
	for name, want := range map[string]abi.Knob{
		"model":                                {Type: abi.KnobModelAlias},
		"compaction.enabled":                   {Type: abi.KnobBoolean},
		"compaction.strategy":                  {Type: abi.KnobEnum, Values: kagewasm.Strategies()},
		"compaction.note":                      {Type: abi.KnobEnum, Values: []string{"both", "plugin", "host"}},
		"compaction.upper_threshold":           share,
		"compaction.lower_threshold":           share,
		"compaction.prune.protect_percent":     {Type: abi.KnobIntRange, Max: 100, Step: 1},
		"compaction.summarize.chunks":          {Type: abi.KnobIntRange, Min: 1, Max: 64, Step: 1},
		"compaction.summarize.model":           {Type: abi.KnobModelAlias},
		"compaction.summarize.fast_model":      {Type: abi.KnobModelAlias},
		"compaction.summarize.prompt":          {Type: abi.KnobText},
		"compaction.summarize.timeout":         {Type: abi.KnobText},
		"compaction.max_tokens":                {Type: abi.KnobText},
		"compaction.observer_wait_ms":          {Type: abi.KnobText},
		"compaction.always_keep":               {Type: abi.KnobText},
		"compaction.summarize.preserve_recent": {Type: abi.KnobText},
	} {
		t.Run(name, func(t *testing.T) {
			if k := got[name].Knob; !reflect.DeepEqual(k, want) {
				t.Errorf("%+v, want %+v", k, want)
			}
		})
	}
}
