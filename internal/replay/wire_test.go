package replay_test

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wirecheck"
	"github.com/kagewasm/kagewasm/transcript"
)

// providers are the formats that are request bodies, and who says what they
// would be refused for.
var providers = map[transcript.Format]func(body []byte) []string{
	"openai":           wirecheck.OpenAI,
	"openai-responses": wirecheck.Responses,
	"anthropic":        wirecheck.Anthropic,
	"gemini":           wirecheck.Gemini,
}

// wire writes the list as each provider wants it.
// Logs hold calls that were never answered, which no provider would take before
// any compaction either: their units are left out.
func (c *checker) wire(call int) {
	for format, refuses := range providers {
		body, err := c.Encode(sound(c.list), format)
		if err != nil {
			c.problem("call %d: %s: %v", call, format, err)
			continue
		}
		for _, why := range refuses(body) {
			c.problem("call %d: %s would refuse it: %s", call, format, why)
		}
	}
}

// sound are the messages whose units are complete.
func sound(msgs []abi.Message) []abi.Message {
	calls, results := abi.Orphans(msgs)
	broken := make(map[string]bool)
	for _, orphans := range []map[string]bool{calls, results} {
		for key := range orphans {
			id, _, _ := strings.Cut(key, "/")
			broken[id] = true
		}
	}
	if len(broken) == 0 {
		return msgs
	}
	units, of := abi.Units(msgs)
	out := make([]bool, len(units))
	for k, u := range units {
		out[k] = slices.ContainsFunc(u, func(i int) bool { return broken[msgs[i].ID] })
	}
	var list []abi.Message
	for i := range msgs {
		if !out[of[i]] {
			list = append(list, msgs[i])
		}
	}
	return list
}
