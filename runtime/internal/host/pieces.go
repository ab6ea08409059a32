package host

import goruntime "runtime"

// inPieces calls f for all of n bytes, a piece at a time, which f clears or
// copies: nothing can stop that, the collector waits.
func inPieces(n int, f func(from, to int)) {
	for from := 0; from < n; from += maxPiece {
		f(from, min(n, from+maxPiece))
		goruntime.Gosched()
	}
}

const maxPiece = 1 << 20

// move is copy for what may be long.
func move(to, from []byte) int {
	n := min(len(to), len(from))
	inPieces(n, func(i, end int) { copy(to[i:end], from[i:end]) })
	return n
}
