package memory

import (
	"slices"
	"strings"
	"unicode"
)

const maxTags = 4

// tags are the kind of a fact and the names in it.
func tags(k kind, text string) []string {
	list := []string{string(k)}
	for w := range names(text) {
		if len(list) <= maxTags && !slices.Contains(list, w) {
			list = append(list, w)
		}
	}
	return list
}

// names calls yield for each name of something in a text: a path, an
// identifier, a flag, a version.
func names(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for w := range strings.FieldsSeq(text) {
			w = strings.Trim(w, "`'\"“”(),.;:!?*[]")
			if len(w) > 2 && len(w) <= 40 && isName(w) && !yield(w) {
				return
			}
		}
	}
}

func isName(w string) bool {
	inner := w[1:]
	switch {
	case strings.IndexFunc(inner, unicode.IsLetter) < 0 || strings.Contains(w, "..."):
		return false
	case strings.ContainsAny(inner, "./_"), strings.HasPrefix(w, "--"):
		return true
	}
	return strings.IndexFunc(inner, unicode.IsUpper) >= 0 && strings.IndexFunc(w, unicode.IsLower) >= 0
}
