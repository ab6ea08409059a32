package cassette

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// differences says in which fields two documents differ, by their paths.
func differences(path string, recorded, asked any) []string {
	a, isObject := recorded.(map[string]any)
	b, areObjects := asked.(map[string]any)
	if isObject && areObjects {
		both := maps.Clone(a)
		maps.Copy(both, b)
		var list []string
		for _, name := range slices.Sorted(maps.Keys(both)) {
			list = append(list, differences(strings.TrimPrefix(path+"."+name, "."), a[name], b[name])...)
		}
		return list
	}
	x, isList := recorded.([]any)
	y, areLists := asked.([]any)
	if isList && areLists && len(x) == len(y) {
		var list []string
		for i := range x {
			list = append(list, differences(fmt.Sprintf("%s[%d]", path, i), x[i], y[i])...)
		}
		return list
	}
	before, after := text(recorded), text(asked)
	if before == after {
		return nil
	}
	from := common(before, after)
	return []string{fmt.Sprintf("%s is recorded as %s, asked was %s", path, excerpt(before, from), excerpt(after, from))}
}

func text(v any) string {
	if v == nil {
		return "nothing"
	}
	doc, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(doc)
}

// common counts the characters that two texts begin with alike.
func common(a, b string) int {
	x, y := []rune(a), []rune(b)
	n := 0
	for n < min(len(x), len(y)) && x[n] == y[n] {
		n++
	}
	return n
}

// excerpt is the part of a text around its character at.
func excerpt(s string, at int) string {
	const around = 30
	r := []rune(s)
	if len(r) <= 2*around {
		return s
	}
	from, to := max(0, at-around), min(len(r), at+around)
	out := string(r[from:to])
	if from > 0 {
		out = "…" + out
	}
	if to < len(r) {
		out += "…"
	}
	return out
}
