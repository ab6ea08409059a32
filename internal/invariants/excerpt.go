package invariants

import (
	"reflect"
	"regexp"
	"strings"
)

// leftOut is the line that stands for the middle of a text.
var leftOut = regexp.MustCompile(`(?m)^\[\.\.\. [0-9]+ characters left out here[^\n]* \.\.\.\]\n`)

// isExcerpt reports whether nothing changed in a message of a user or the agent, or in the
// output of a command that a user ran, but the middle of its texts, in a session that does
// not say of it that it stays.
func isExcerpt(was, is message) bool {
	meta, _ := was.doc["meta"].(map[string]any)
	ran := was.str("role") == "user" && was.str("kind") == "bash"
	if !was.isPerson() && !ran && was.str("role") != "assistant" || truthy(meta["always_keep"]) {
		return false
	}
	a, b := strip(was), strip(is)
	same := excerptOf(a["content"], b["content"])
	delete(a, "content")
	delete(b, "content")
	return same && reflect.DeepEqual(a, b)
}

func excerptOf(was, is any) bool {
	switch was := was.(type) {
	case string:
		is, ok := is.(string)
		return ok && (was == is || isMiddleGone(was, is))
	case []any:
		list, ok := is.([]any)
		if !ok || len(list) != len(was) {
			return false
		}
		for i := range was {
			if !excerptOf(was[i], list[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		part, ok := is.(map[string]any)
		if !ok || !excerptOf(was["text"], part["text"]) {
			return false
		}
		for _, p := range []map[string]any{was, part} {
			delete(p, "text")
		}
		return reflect.DeepEqual(was, part)
	}
	return reflect.DeepEqual(was, is)
}

func isMiddleGone(was, is string) bool {
	for _, at := range leftOut.FindAllStringIndex(is, -1) {
		tail := is[at[1]:]
		for _, head := range []string{is[:at[0]], strings.TrimSuffix(is[:at[0]], "\n")} {
			if strings.HasPrefix(was, head) && strings.HasSuffix(was, tail) && len(head)+len(tail) < len(was) {
				return true
			}
		}
	}
	return false
}
