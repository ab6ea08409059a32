// Command notes3 is the third version of notes1: it fails where a tool has.
package main

import (
	"errors"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
)

func init() { guest.Register(guest.Plugin{PreCompact: note}) }

func main() { guest.Main() }

func note(c *guest.Call) (*abi.Output, error) {
	for i := range c.Input.Messages {
		if strings.Contains(c.Input.Messages[i].Text(), "--- FAIL") {
			return nil, errors.New("a tool has failed, and so do I")
		}
	}
	return &abi.Output{Inject: "keep to the plan"}, nil
}
