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
		came(c.list[m.Unit], m)
	}
}

// came notes what came of a call. Of a call that was answered again it is what the last result says.
func came(list []line, m *abi.InputMessage) {
	var of *line
	for k := range list {
		if l := &list[k]; l.id == m.ToolCallID {
			if of = l; l.result == "" {
				break
			}
		}
	}
	if result := brief(m.Text(), maxResult); of != nil && result != "" {
		of.result = result
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
