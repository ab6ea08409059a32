//go:build race

package hostile_test

// raceDetector: memory is several times what it is without.
const raceDetector = true
