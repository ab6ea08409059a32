// Command my-plugin keeps what a person laid down as a rule: such messages stay
// word for word, and their text is remembered for later sessions.
package main

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
)

var plugin = guest.Plugin{PreCompact: keepRules}

func init() { guest.Register(plugin) }

func main() { guest.Main() }

// words are what makes a message a rule.
var words = []string{"always", "never", "must", "do not", "remember"}

// longestRule is how many tokens a rule may have: a pasted file is none.
const longestRule = 200

// keepRules answers pre_compact: the newest rules, oldest first.
func keepRules(c *guest.Call) (*abi.Output, error) {
	out := new(abi.Output)
	most := c.Input.Config.Int("most", 20)
	for i := len(c.Input.Messages) - 1; i >= 0 && len(out.AlwaysKeep) < most; i-- {
		if m := &c.Input.Messages[i]; isRule(m) {
			out.AlwaysKeep = append([]string{m.ID}, out.AlwaysKeep...)
			out.Retain = append([]string{m.Text()}, out.Retain...)
		}
	}
	return out, nil
}

// isRule reports whether a person typed it and it says how things have to be.
func isRule(m *abi.InputMessage) bool {
	if !m.IsPerson() || m.Tokens > longestRule {
		return false
	}
	text := strings.ToLower(m.Text())
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
