package codec

// Some logs are chains: every entry names the one before it as its parent, and
// the program follows the chain from the newest entry back.

// Earlier returns the record of an id, -1 where it does not stand before record
// i: chains lead backwards, so that following one ends.
func Earlier(records map[string]int, id string, i int) int {
	if at, ok := records[id]; ok && id != "" && at < i {
		return at
	}
	return -1
}

// Nearest returns of each record the record itself where it stays, or else its
// nearest ancestor that does, -1 where there is none. up are the parents of all
// records, -1 for none.
func (w *Rewrite) Nearest(up []int) []int {
	stay := make([]int, len(up))
	for i, parent := range up {
		switch {
		case w.Keep[i]:
			stay[i] = i
		case parent < 0:
			stay[i] = -1
		default:
			stay[i] = stay[parent]
		}
	}
	return stay
}
