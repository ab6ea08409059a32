// Command faulty is a plugin with one fault: that of its knob, or the one it is
// built with (-ldflags=-X=main.fault=NAME), which it has without knobs too.
package main

import (
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
)

var fault string

func init() { guest.Register(guest.Plugin{PreCompact: do}) }

func main() { guest.Main() }

func do(c *guest.Call) (*abi.Output, error) {
	msgs := c.Input.Messages
	switch c.Input.Config.String("fault", fault) {
	case "asks": // its answers are those of a server that counts
		r, err := c.HTTP(abi.HTTPRequest{URL: c.Input.Config.String("server", "")})
		if err != nil {
			return nil, err
		}
		return retain(r.Body)
	case "stores": // a dry run leaves something behind
		return nil, c.KV().Set("seen", "yes")
	case "empty": // there is always a message, it thinks
		return retain(msgs[0].Text())
	case "poses": // an observer that makes the cut
		return &abi.Output{Messages: []abi.OutputMessage{}}, nil
	case "square": // compares every message with every other
		n := 0
		for i := range msgs {
			for j := range msgs {
				if msgs[i].Text() == msgs[j].Text() {
					n++
				}
			}
		}
		return retain(fmt.Sprint(n))
	case "leaks": // keeps more for each message than for the one before
		var kept [][]byte
		for i := range msgs {
			kept = append(kept, make([]byte, 6*i))
		}
		return retain(fmt.Sprint(len(kept)))
	case "hoards": // stores without end, and reads it all back
		if c.Input.Trigger.DryRun {
			return nil, nil
		}
		all, _, err := c.KV().Get("all")
		if err != nil {
			return nil, err
		}
		return nil, c.KV().Set("all", all+strings.Repeat("more of it ", 2000))
	case "demands": // cannot do without what it asked for
		if _, _, err := c.KV().Get("x"); err != nil {
			panic(err)
		}
	}
	return nil, nil
}

func retain(text string) (*abi.Output, error) {
	return &abi.Output{Retain: []string{"noted: " + strings.ToValidUTF8(text[:min(len(text), 40)], "")}}, nil
}
