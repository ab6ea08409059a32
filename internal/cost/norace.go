//go:build !race

package cost

// Raced says whether the race detector runs.
const Raced = false
