// Command notes2 is the second version of notes1: it stores what it
// remembers, pins what failed, and finds nothing from earlier sessions.
package main

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
)

func init() { guest.Register(guest.Plugin{PreCompact: note}) }

func main() { guest.Main() }

func note(c *guest.Call) (*abi.Output, error) {
	_, found, err := c.KV().Get("seen")
	if err != nil {
		return nil, err
	}
	out := &abi.Output{Inject: "keep to the plan, and to the tests"}
	if found {
		out.Inject = "seen before"
	}
	for i := range c.Input.Messages {
		if m := &c.Input.Messages[i]; m.Role == abi.RoleTool && strings.Contains(m.Text(), "--- FAIL") {
			out.AlwaysKeep = append(out.AlwaysKeep, m.ID)
			break
		}
	}
	c.Log(abi.LogInfo, "pinned %d", len(out.AlwaysKeep))
	return out, c.KV().Set("seen", "yes")
}
