//go:build race

package cost

// Raced says whether the race detector runs: it takes ten times as long, and its memory is counted.
const Raced = true
