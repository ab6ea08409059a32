// Package sum makes SHA-256 of texts: [Of] is all of it. In a guest it is code of its own.
// That takes half the time of the standard library's there, which has no machine code for
// WebAssembly and loops where a jump costs as much as a round, and a guest is spared what the
// library brings along to be certified. Everywhere else it is the standard library's.
package sum

// Size is the length of a sum in bytes.
const Size = 32

// Of returns the SHA-256 of the parts, one behind the other.
func Of(parts ...string) [Size]byte { return of(parts) }
