package pluginyaml

import (
	"fmt"
	"math"

	"github.com/kagewasm/kagewasm/abi"
)

// checkLimits refuses limits that would have no effect: a manifest lowers those of its host,
// and one of 0 says nothing.
func checkLimits(path string, m *abi.Manifest) error {
	def := abi.DefaultLimits()
	if m.Has(abi.RoleCompactor) || asks(m, abi.CapModel) || asks(m, abi.CapCompactionSummary) {
		def.TimeoutMS = int(abi.PlanTime.Milliseconds())
	}
	most := make(map[string]int64)
	for name, v := range def.All() {
		most[name] = int64(v)
	}
	for name, v := range m.Limits.All() {
		if err := checkLimit(path, m, name, int64(v), most[name]); err != nil {
			return err
		}
	}
	return checkLimit(path, m, "fuel", m.Limits.Fuel, math.MaxInt64)
}

func asks(m *abi.Manifest, c abi.Capability) bool {
	_, ok := m.Capabilities[c]
	return ok
}

// checkLimit refuses a limit that the file has and that is out of its range.
func checkLimit(path string, m *abi.Manifest, name string, v, most int64) error {
	place := FieldPlace(path, "limits", name)
	if place == "" || v >= 1 && v <= most {
		return nil
	}
	e := &abi.Error{Code: abi.CodeBadInput, Op: "manifest", Plugin: m.Name, Phase: abi.PhaseLoad,
		Message: fmt.Sprintf("%s:%s: limits: %s: %d is not from 1 to %d", path, place, name, v, most)}
	if v > most {
		e.Hint = fmt.Sprintf("a manifest lowers limits; who runs the plugin raises them: --limit %s=%d", name, v)
	}
	return e
}
