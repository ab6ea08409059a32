package tokens

import (
	"regexp"
	"strconv"
	"sync"
)

// claude finds the line and the version in the name of a model of Anthropic, whoever
// serves it: claude-opus-5-5, anthropic.claude-fable-5-1-v1:0, claude-sonnet-5.5.
var claude = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`claude-(fable|mythos|opus|sonnet|haiku)-(\d+)(?:[-.](\d{1,2}))?(?:\D|$)`)
})

// bindsThinking reports whether a model is one with preserved thinking: 5.1 and later
// of the lines Fable and Mythos, 5.5 and later of the others.
func bindsThinking(id string) bool {
	m := claude().FindStringSubmatch(id)
	if m == nil {
		return false
	}
	major, _ := strconv.Atoi(m[2])
	minor, _ := strconv.Atoi(m[3])
	first := 5
	if m[1] == "fable" || m[1] == "mythos" {
		first = 1
	}
	return major > 5 || major == 5 && minor >= first
}
