//go:build race

package cost

// raced: the race detector takes ten times as long, and its memory is counted.
const raced = true
