package rank

// What tests look at by name.
const (
	K1 = k1
	B  = b
)

var Stem = stem
