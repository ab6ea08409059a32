//go:build race

package runtime_test

// raceDetector: memory is several times what it is without.
const raceDetector = true
