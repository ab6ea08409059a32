package note

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/strategies/note/internal/work"
)

// lengthen tells lines of one kind that were told in short in a longer form where there is room, the newest first:
// calls with more of what they were called with, and more of what answers speak of. It returns what it costs.
func (v *view) lengthen(budget int, kind func(line string) bool) int {
	left := budget
	for i := len(v.turns) - 1; i >= 0; i-- {
		for k, line := range v.turns[i].came {
			short := v.came[i][k]
			if short == "" || short == line || !kind(line) {
				continue
			}
			forms := append([]string{line}, shorterCalls(line)...)
			if isAnswered(line) {
				forms = v.turns[i].listed(k)
			}
			left += v.count(short) + 2
			v.takeLine(i, k, &left, forms...)
		}
	}
	return budget - left
}

// tellsCall reports whether a line tells a call.
func tellsCall(line string) bool { return strings.HasPrefix(line, work.Called) }

// shorterCalls are the forms in which the line of a call is told where there is no room for all of it, longest first:
// without what it was called with, but for what tells one thing from others, and sums and what they are paid with; for
// sums and the first id, which says what it was about; for the id alone; then of what came back its id and state alone.
// Of a call without an id nothing is told of what it was called with. Of another line it is the line.
func shorterCalls(line string) []string {
	before, rest, ok := strings.Cut(line, " (")
	args, found, ended := strings.Cut(rest, ")"+work.Result)
	if !ok || !ended || !strings.HasPrefix(line, work.Called) {
		return []string{line}
	}
	all := strings.Split(args, ", ")
	key := func(arg string) string { key, _, _ := strings.Cut(arg, " "); return key }
	about := slices.IndexFunc(all, func(arg string) bool { return work.IsID(key(arg)) })
	var whatAndHowMuch, withSums, withID []string
	for i, arg := range all {
		if i == about || work.Worth(key(arg)) > 0 {
			whatAndHowMuch = append(whatAndHowMuch, arg)
		}
		if i == about {
			withID = append(withID, arg)
		}
		if i == about || work.Weighs(key(arg)) {
			withSums = append(withSums, arg)
		}
	}
	form := func(kept []string, found string) string {
		if len(kept) < len(all) {
			kept = append(kept, work.More)
		}
		return before + " (" + strings.Join(kept, ", ") + ")" + work.Result + found
	}
	forms := []string{form(whatAndHowMuch, found), form(withSums, found), form(withID, found)}
	if withID != nil { // what it was about says more than all that came back
		return append(forms, form(withID, foundInShort(found)))
	}
	return append(forms, form(nil, found))
}

// foundInShort are the ids and states of a result, and in what it is not what was asked for, or else its first value.
func foundInShort(found string) string {
	all := strings.Split(found, ", ")
	kept := lists.Filter(all, func(part string) bool {
		key, _, _ := strings.Cut(part, " ")
		return work.IsID(key) && key != "user_id" || strings.Contains(key, "status") ||
			strings.HasSuffix(part, "was asked for)")
	})
	if len(kept) == 0 {
		kept = all[:1]
	}
	if len(kept) < len(all) && kept[len(kept)-1] != work.More {
		kept = append(kept, work.More)
	}
	return strings.Join(kept, ", ")
}

// bySums are the forms of a call from the one with its sums on: the first tells more.
func bySums(forms []string) []string { return forms[min(1, len(forms)-1):] }
