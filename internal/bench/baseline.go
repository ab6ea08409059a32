package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// Measures are the names of the figures that are compared: fuel, bytes of memory
// and output, and the medians of warm and cold calls.
var Measures = []string{"fuel", "memory", "output", "warm", "cold"}

// Change is one figure, before and now.
type Change struct {
	Input   string  `json:"input"`
	Measure string  `json:"measure"` // one of [Measures]
	Before  float64 `json:"before"`
	Now     float64 `json:"now"`
	// Ratio is Now by Before; over 1 is worse.
	Ratio float64 `json:"ratio"`
	// Noise says why a difference of times is not the plugin's. Empty where it is.
	Noise string `json:"noise,omitempty"`
}

// Comparison is a report beside its baseline.
type Comparison struct {
	Changes []Change `json:"changes"`
	// Missing are the inputs of the baseline that were not measured again.
	Missing []string `json:"missing,omitempty"`
	// Notes say what could not be compared, and why.
	Notes []string `json:"notes,omitempty"`
}

// Compare compares what both reports measured on the same inputs: those of the
// same name and document. Fuel, memory (in bytes) and output are compared
// exactly, times (in milliseconds) by their medians.
func Compare(before, now *Figures) Comparison {
	c := Comparison{Changes: []Change{}}
	if before.Hook != now.Hook || before.Engine != now.Engine {
		c.Notes = append(c.Notes, fmt.Sprintf("the baseline is of %s on the engine %s: nothing to compare with",
			before.Hook, before.Engine))
		c.Missing = before.without(&Figures{})
		return c
	}
	if before.Plugin != now.Plugin {
		c.Notes = append(c.Notes, fmt.Sprintf("the baseline is of another plugin, %s", before.Plugin))
	}
	for _, m := range now.Inputs {
		i := before.find(m)
		switch {
		case i >= 0:
			c.compare(before.Inputs[i], m)
		case slices.ContainsFunc(before.Inputs, func(b Measurement) bool { return b.Input == m.Input }):
			c.Notes = append(c.Notes, m.Input+": the input is another than it was: measure the baseline again")
		default:
			c.Notes = append(c.Notes, m.Input+": not in the baseline")
		}
	}
	if c.Missing = before.without(now); len(c.Missing) > 0 {
		c.Notes = append(c.Notes, "measured in the baseline and not now: "+strings.Join(c.Missing, ", "))
	}
	return c
}

// find returns the index of the input of a measurement, -1 where it is missing.
func (r *Figures) find(m Measurement) int {
	return slices.IndexFunc(r.Inputs, func(o Measurement) bool { return o.Input == m.Input && o.Digest == m.Digest })
}

// without are the inputs of a report that another has not.
func (r *Figures) without(other *Figures) []string {
	missing := lists.Filter(r.Inputs, func(m Measurement) bool { return other.find(m) < 0 })
	return lists.Map(missing, func(m Measurement) string { return m.Input })
}

func (c *Comparison) compare(before, now Measurement) {
	exact := func(measure string, a, b int64) {
		if a > 0 || b > 0 {
			c.Changes = append(c.Changes, Change{Input: now.Input, Measure: measure, Before: float64(a), Now: float64(b),
				Ratio: ratio(float64(a), float64(b))})
		}
	}
	exact("fuel", before.Fuel, now.Fuel)
	exact("memory", before.PeakMemoryBytes, now.PeakMemoryBytes)
	exact("output", int64(before.OutputBytes), int64(now.OutputBytes))
	if before.Varies || now.Varies {
		c.Notes = append(c.Notes, now.Input+": the fuel varies from call to call, so its difference says little; "+
			"answers of servers and models can be replayed")
	}
	for _, t := range []struct {
		measure string
		a, b    Times
	}{{"warm", before.Warm, now.Warm}, {"cold", before.Cold, now.Cold}} {
		c.Changes = append(c.Changes, Change{
			Input: now.Input, Measure: t.measure, Before: t.a.P50, Now: t.b.P50, Ratio: ratio(t.a.P50, t.b.P50),
			Noise: noiseOf(before, now, t.a, t.b),
		})
	}
}

// noiseOf returns why a difference of times says nothing about the plugin.
func noiseOf(before, now Measurement, a, b Times) string {
	switch {
	case math.Abs(b.P50-a.P50) <= noise(a, b):
		return "within the spread of the calls"
	case now.Fuel > 0 && before.Fuel == now.Fuel && before.HostCallBytes == now.HostCallBytes:
		return "the same work, so the machine was busier or less busy"
	}
	return ""
}

// ratio is 1 where both are nothing.
func ratio(before, now float64) float64 {
	switch {
	case before == now:
		return 1
	case before == 0:
		return math.MaxFloat32 // JSON has no infinity
	}
	return now / before
}

// Over are the changes for the worse: those whose ratio is over that of their
// measure. Measures without one are left out, as is noise.
func (c Comparison) Over(most map[string]float64) []Change {
	return lists.Filter(c.Changes, func(change Change) bool {
		limit, ok := most[change.Measure]
		return ok && change.Ratio > limit && change.Noise == ""
	})
}

// Encode is the report as a file to keep.
func (r *Figures) Encode() ([]byte, error) {
	doc, err := json.MarshalIndent(r, "", "  ")
	return append(doc, '\n'), err
}

// ReadFigures reads a report that was kept. Errors are of code bad_input.
func ReadFigures(path string) (*Figures, error) {
	data, err := os.ReadFile(path)
	r := new(Figures)
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		err = dec.Decode(r)
	}
	if err == nil && len(r.Inputs) == 0 {
		err = fmt.Errorf("nothing was measured")
	}
	if err != nil {
		return nil, &abi.Error{Code: abi.CodeBadInput, Op: "read baseline", Message: fmt.Sprintf("%s: %v", path, err),
			Hint: "make one with --save", Err: err}
	}
	return r, nil
}
