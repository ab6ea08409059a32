package memory

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// maxCall is how much of a tool call is retained, and maxResult of what came of
// it, in bytes.
const (
	maxCall   = 200
	maxResult = 400
)

// calls gathers tool calls: a line for each, with the beginning of what came of
// it.
type calls struct {
	on   bool
	at   map[int]int    // the message that makes the calls, by unit
	list map[int][]line // by unit
}

type line struct{ id, call, result string }

// wants reports whether a message tells of a tool call.
func (c *calls) wants(m *abi.Message) bool {
	return c.on && (m.Role == abi.RoleTool || len(m.ToolCalls) > 0)
}

func (c *calls) add(m *abi.InputMessage, i int) {
	if !c.wants(&m.Message) {
		return
	}
	for _, call := range m.ToolCalls {
		c.at[m.Unit] = i
		what := call.Name + ": " + brief(toolcall.Subject(call.Arguments), maxCall)
		c.list[m.Unit] = append(c.list[m.Unit], line{id: call.ID, call: what})
	}
	if m.Role == abi.RoleTool {
		for k := range c.list[m.Unit] {
			if l := &c.list[m.Unit][k]; l.id == m.ToolCallID && l.result == "" {
				l.result = brief(m.Text(), maxResult)
				break
			}
		}
	}
}

// lines are the calls of each message that made some.
func (c *calls) lines() map[int]string {
	of := make(map[int]string)
	for unit, list := range c.list {
		var b strings.Builder
		for _, l := range list {
			b.WriteString("[" + l.call + "]")
			if l.result != "" {
				b.WriteString(" → " + l.result)
			}
			b.WriteString("\n")
		}
		of[c.at[unit]] = strings.TrimSpace(b.String())
	}
	return of
}
