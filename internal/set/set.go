// Package set makes sets of lists: what is looked up more than once is looked up
// in [Of] a list. Guests compile this package too.
package set

// Of returns the elements of a list as a set.
func Of[T comparable](list ...T) map[T]bool {
	in := make(map[T]bool, len(list))
	for _, v := range list {
		in[v] = true
	}
	return in
}
