package bench

import (
	"math"
	"slices"
)

// Times are the wall clock of some calls, in milliseconds.
type Times struct {
	P50 float64 `json:"p50_ms"`
	P90 float64 `json:"p90_ms"`
	P99 float64 `json:"p99_ms"`
	Max float64 `json:"max_ms"`
	// Spread is the distance between the first and the third quartile.
	Spread float64 `json:"spread_ms"`
}

// TimesOf are those of calls, each in milliseconds: the pth percentile is the
// least that p percent of them do not exceed. Of no calls all are 0.
func TimesOf(ms []float64) Times {
	if len(ms) == 0 {
		return Times{}
	}
	sorted := slices.Sorted(slices.Values(ms))
	at := func(share float64) float64 {
		return sorted[max(0, int(math.Ceil(share*float64(len(sorted))))-1)]
	}
	return Times{P50: at(0.5), P90: at(0.9), P99: at(0.99), Max: at(1), Spread: at(0.75) - at(0.25)}
}

// leastNoise is the share of a time that is noise however close the calls lie:
// the machine, its clock, its heat.
const leastNoise = 0.1

// noise is the difference of medians up to which two series are the same.
func noise(a, b Times) float64 {
	return max(a.Spread, b.Spread, leastNoise*min(a.P50, b.P50))
}
