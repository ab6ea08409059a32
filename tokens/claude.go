package tokens

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// generation finds the line and the version in the name of a model of Anthropic, whoever
// serves it: claude-opus-5-5, anthropic.claude-fable-5-1-v1:0, claude-sonnet-5.5.
var generation = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`claude-(fable|mythos|opus|sonnet|haiku)-(\d+)(?:[-.](\d{1,2}))?(?:\D|$)`)
})

// claude is the line and the version in the name of a model of Anthropic. Names before
// version 4, which have the version before the line, are not ok.
func claude(id string) (line string, major, minor int, ok bool) {
	m := generation().FindStringSubmatch(id)
	if m == nil {
		return "", 0, 0, false
	}
	major, _ = strconv.Atoi(m[2])
	minor, _ = strconv.Atoi(m[3])
	return m[1], major, minor, true
}

// bindsThinking reports whether a model is one with preserved thinking: 5.1 and later
// of the lines Fable and Mythos, 5.5 and later of the others.
func bindsThinking(id string) bool {
	line, major, minor, _ := claude(id)
	first := 5
	if line == "fable" || line == "mythos" {
		first = 1
	}
	return major > 5 || major == 5 && minor >= first
}

// How many tokens of Claude stand for one of o200k_base, as others measured it with the
// provider's own counter. Since Opus 4.7 and Sonnet 5 there is a tokenizer that makes some
// 30% more of the same text:
// https://platform.claude.com/docs/en/build-with-claude/token-counting and
// https://github.com/sammcj/ingest/pull/65.
const (
	earlierClaude = 1.18
	newerClaude   = 1.53
)

// tokenScale is [Model.TokenScale] of a model by its name.
func tokenScale(id string) float64 {
	line, major, minor, _ := claude(id)
	switch {
	case !strings.Contains(id, "claude"):
		return 1
	case line == "fable", line == "mythos", major > 4, line == "opus" && major == 4 && minor >= 7:
		return newerClaude
	}
	return earlierClaude
}
