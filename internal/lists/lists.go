// Package lists makes lists of lists: [Map] changes each element, [Filter] leaves
// some out. Of nothing they make nil. Guests compile this package too.
package lists

import "slices"

// Map returns what f makes of each element.
func Map[S, T any](list []S, f func(S) T) (out []T) {
	if len(list) > 0 {
		out = make([]T, 0, len(list))
	}
	for _, v := range list {
		out = append(out, f(v))
	}
	return out
}

// Filter returns the elements that are to be kept. The list stays as it is.
func Filter[T any](list []T, keep func(T) bool) (out []T) {
	for _, v := range list {
		if keep(v) {
			out = append(out, v)
		}
	}
	return out
}

// Strings returns names of a type of their own as plain strings.
func Strings[T ~string](list []T) []string {
	return Map(list, func(v T) string { return string(v) })
}

// SortStable sorts a list as [slices.SortStableFunc] does, by the places of its elements: that one is compiled anew for
// each type, 20 KB of a program each.
func SortStable[T any](list []T, compare func(x, y T) int) {
	places := make([]int, len(list))
	for i := range places {
		places[i] = i
	}
	slices.SortStableFunc(places, func(x, y int) int { return compare(list[x], list[y]) })
	sorted := make([]T, len(list))
	for i, place := range places {
		sorted[i] = list[place]
	}
	copy(list, sorted)
}
