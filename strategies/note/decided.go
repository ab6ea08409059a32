package note

// addDecided adds what the agent decided or tried in vain, on the way or at the end of a turn, the newest first: no
// call tells it. It returns what it costs.
func addDecided(v *view, budget int) int {
	left := budget
	said := left
	for i := len(v.turns) - 1; i >= 0; i-- {
		if v.folded(i) {
			continue
		}
		for k, line := range v.turns[i].came {
			if v.came[i][k] == "" && isFound(line) && isWeighty(line) {
				v.takeLine(i, k, &left, line)
			}
		}
		v.agent(&left, &said, func(at int) bool { return at == i && isWeighty(v.turns[at].said) })
	}
	return max(0, budget) - max(0, left)
}

// addFound adds what the agent gave reasons for, and what it said that went wrong, in any words, the newest first,
// where it is wanted. It returns what it costs.
func addFound(v *view, budget int, wanted func(sentence string) bool) int {
	left := budget
	for i := len(v.turns) - 1; i >= 0; i-- {
		lines, says := foundOn(v, i, wanted)
		for _, k := range lines {
			if v.came[i][k] == "" && !v.folded(i) {
				v.takeLine(i, k, &left, v.turns[i].came[k])
			}
		}
		said := left
		v.agent(&left, &said, func(at int) bool { return at == i && says })
	}
	return budget - max(0, left)
}
