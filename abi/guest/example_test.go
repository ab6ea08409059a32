package guest_test

import (
	"context"
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
	"github.com/kagewasm/kagewasm/abi/guest/guesttest"
)

// A plugin that remembers how long sessions were before they were compacted,
// called as a host would call it.
func Example() {
	remember := func(c *guest.Call) (*abi.Output, error) {
		n := fmt.Sprint(len(c.Input.Messages))
		if err := c.KV().Set("lengths/"+c.Input.Session.ID, n); err != nil {
			return nil, err
		}
		return &abi.Output{Retain: []string{"it had " + n + " messages"}}, nil
	}
	p := &guesttest.Plugin{Plugin: guest.Plugin{PreCompact: remember}, Host: new(guesttest.Host)}
	out, _, err := p.Call(context.Background(), &abi.Input{
		Hook: abi.HookPreCompact, Session: abi.Session{ID: "s1"}, Messages: make([]abi.InputMessage, 3),
	})
	fmt.Println(out.Retain, err)
	fmt.Println(p.Host.KV)
	// Output:
	// [it had 3 messages] <nil>
	// map[lengths/s1:3]
}
