//go:build !race

package hostile_test

const raceDetector = false
