package note

import "strings"

// Rules of a message that is shown in part are told in it, where there is room for the marks around them: who reads the
// thread has what was said in order. The others stand in a list behind it.

// tellRules tells rules in the messages that they stand in, where all of a message together take no more than a list of
// them and what is left, and returns the others, and what those cost. What is said of a rule beside its words has no
// place there.
func tellRules(v *view, list []rule, left int) (others []rule, cost int) {
	at := make(map[int]int, len(v.turns)) // turns by their number
	for i := range v.turns {
		at[v.turns[i].n] = i
	}
	for from := 0; from < len(list); {
		end := from + 1
		for end < len(list) && list[end].n == list[from].n {
			end++
		}
		rules := list[from:end]
		listed := needOfRules(rules, v.count)
		n, ok := 0, false
		if i, known := at[rules[0].n]; known {
			n, ok = tellAt(v, i, rules, max(0, left)+listed)
		}
		if ok {
			cost, left = cost+n, left-max(0, n-listed)
		} else {
			others = append(others, rules...)
		}
		from = end
	}
	return others, cost
}

// tellAt tells rules in turn i, where that takes no more than so many tokens.
func tellAt(v *view, i int, rules []rule, most int) (cost int, ok bool) {
	places := placesOf(v, i, rules)
	if len(places) == 0 {
		return 0, false
	}
	before, size := v.price(i), v.size[i]
	v.inPlace[i], v.size[i] = places, min(size, len(sizes)-2)
	if cost = v.price(i) - before; cost > most {
		v.inPlace[i], v.size[i] = nil, size
		return 0, false
	}
	return cost, true
}

// placesOf are the places of rules in the words of turn i, with their headings; there are none where one of them is
// not there.
func placesOf(v *view, i int, rules []rule) (list []place) {
	words, at := v.turns[i].words, 0
	if v.turns[i].folded > 0 || v.turns[i].again > 0 {
		return nil
	}
	for _, r := range rules {
		if r.left > 0 {
			continue // the marks say so
		}
		text := r.text
		if r.heads {
			text = strings.TrimSuffix(text, ":")
		}
		from := strings.Index(words[at:], text)
		if from < 0 {
			return nil
		}
		from += at
		at = from + len(text)
		if line := strings.LastIndexByte(words[:from], '\n') + 1; from-line <= maxMark {
			from = line
		}
		list = append(list, place{from: from, to: at})
	}
	for _, s := range typedSentences(words) { // with what turns them
		for i := range list {
			if p := &list[i]; s.from <= p.from && p.to <= s.to {
				p.from, p.to = s.from, s.to
			}
		}
	}
	return list
}

// maxMark is how long the mark of an entry of a list, or of a heading, is at most, in bytes.
const maxMark = 6
