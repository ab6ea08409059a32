// Command my-plugin is a compactor that needs no model: its summary is the first
// line of what was asked and answered in the messages that go. The host makes the
// cut.
package main

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
)

var plugin = guest.Plugin{PreCompact: summarize}

func init() { guest.Register(plugin) }

func main() { guest.Main() }

const (
	heading  = "What was asked and answered, oldest first:"
	asked    = "- asked: "
	answered = "- answered: "
)

// bytesPerToken is a careful guess: most text has more bytes in a token.
const bytesPerToken = 3

// summarize answers pre_compact: as many lines as the budget has room for, the
// newest, in the order they were said.
func summarize(c *guest.Call) (*abi.Output, error) {
	lines := linesOf(c.Input)
	room, from := c.Input.Budget.SummaryTokens*bytesPerToken-len(heading), len(lines)
	for from > 0 && room > len(lines[from-1]) {
		from--
		room -= len(lines[from]) + 1
	}
	if from == len(lines) {
		return nil, nil // nothing to say: the host's own strategy follows
	}
	return &abi.Output{Summary: heading + "\n" + strings.Join(lines[from:], "\n")}, nil
}

// linesOf are the lines of an earlier summary, which would be lost otherwise,
// and one for each request and each answer, up to where the newest messages fit
// the target and stay.
func linesOf(in *abi.Input) (lines []string) {
	for _, l := range strings.Split(in.PreviousSummary, "\n") {
		if strings.HasPrefix(l, asked) || strings.HasPrefix(l, answered) {
			lines = append(lines, l)
		}
	}
	answers, rest := in.Config.Bool("answers", true), 0
	for _, m := range in.Messages {
		rest += m.Tokens
	}
	for i := 0; i < len(in.Messages) && rest > in.Budget.TargetTokens-in.Budget.SummaryTokens; i++ {
		m := &in.Messages[i]
		rest -= m.Tokens
		text, _, _ := strings.Cut(m.Text(), "\n")
		switch {
		case text == "", m.Pinned: // what is pinned stays
		case m.IsPerson():
			lines = append(lines, asked+text)
		case answers && m.Role == abi.RoleAssistant && len(m.ToolCalls) == 0:
			lines = append(lines, answered+text)
		}
	}
	return lines
}
