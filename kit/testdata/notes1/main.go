// Command notes1 is the first version of a plugin: it remembers what the
// session is about.
package main

import (
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
)

func init() { guest.Register(guest.Plugin{PreCompact: note}) }

func main() { guest.Main() }

func note(c *guest.Call) (*abi.Output, error) {
	out := &abi.Output{Inject: "keep to the plan"}
	for i := range c.Input.Messages {
		if m := &c.Input.Messages[i]; m.IsPerson() {
			out.Retain = append(out.Retain, m.Text())
			break
		}
	}
	return out, nil
}
