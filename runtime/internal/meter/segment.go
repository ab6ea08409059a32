package meter

// registers estimates how many values want to be in registers at once. Beside
// those of locals and operands, these are values that the engine keeps by
// itself between calls and joins: where the memory is and how long it is,
// globals, and addresses that were checked. A segment is the code between two
// such borders.
type registers struct {
	segment int32
	bases   []int32 // by local, the last segment in which it was an address
	gets    []int32 // by global, the last in which it was read
	memory  bool    // is accessed in the segment
	ahead   int     // what the engine keeps for what is ahead in it
	cached  int     // all that it kept in it
	high    bool    // there were more values than registers
	most    int     // that there were in the function
}

const (
	// enough are the registers that there are: amd64 has 14, two of which always
	// hold the same. An instruction needs up to scratch of them for itself.
	enough  = 12
	scratch = 4
	// saved is from how many values on the registers that a function has to save
	// are used.
	saved = 8
	// hidden are the values about the memory.
	hidden = 2
)

// access is an access to memory at an address out of a local, or another where
// x is negative.
func (l *liveness) access(x int32) {
	if !l.memory {
		l.memory = true
		l.cached += hidden
		l.ahead += hidden
	}
	if x >= 0 && l.bases[x] != l.segment {
		l.bases[x] = l.segment
		l.cached++
		l.ahead++
	}
}

// global is a use of a global, which may be an address.
func (l *liveness) global(index uint32) {
	if l.gets[index] != l.segment {
		l.gets[index] = l.segment
		l.ahead += 2
	}
	l.cached += 2
}

// based is an assignment to a local, whose value before may have been an address
// as well.
func (l *liveness) based(x int32) {
	if l.bases[x] == l.segment {
		l.cached++
	}
}

// pressure holds what is in registers at an instruction against their number.
func (l *liveness) pressure(i int32) {
	n := l.n + int(l.height[i]) + l.ahead + scratch
	l.most = max(l.most, n)
	if n > enough {
		l.high = true
		l.all()
	}
}

// border is where the engine begins anew to keep values by itself.
func (l *liveness) border() {
	if l.high {
		l.keep(l.cached)
	}
	l.segment++
	l.cached, l.ahead, l.memory, l.high = 0, 0, false, false
}
