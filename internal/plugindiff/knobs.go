package plugindiff

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

func (u *Update) knobs(old, new map[string]abi.Knob) {
	all := make(map[string]abi.Knob)
	maps.Copy(all, old)
	maps.Copy(all, new)
	describe := func(knobs map[string]abi.Knob, name string) string {
		if k, ok := knobs[name]; ok {
			return knob(k)
		}
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		u.change("knob "+name, describe(old, name), describe(new, name))
	}
}

// knob describes the values a knob can have, and its default. Labels for people
// make no difference.
func knob(k abi.Knob) string {
	parts := []string{string(k.Type)}
	switch k.Type {
	case abi.KnobRange, abi.KnobIntRange:
		parts = append(parts, fmt.Sprintf("%v to %v", k.Min, k.Max))
		if k.Step > 0 {
			parts = append(parts, fmt.Sprintf("in steps of %v", k.Step))
		}
	case abi.KnobEnum:
		parts = append(parts, strings.Join(k.Values, "|"))
	}
	if k.MaxLength > 0 {
		parts = append(parts, fmt.Sprintf("up to %d characters", k.MaxLength))
	}
	if k.Default != nil {
		parts = append(parts, "default "+string(k.Default))
	}
	return strings.Join(parts, ", ")
}
