// Command odd is a plugin that does what its configuration says, badly.
package main

import (
	"errors"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
)

func init() { guest.Register(guest.Plugin{PreCompact: do}) }

func main() { guest.Main() }

func do(c *guest.Call) (*abi.Output, error) {
	switch c.Input.Config.String("do", "") {
	case "panic":
		var none []int
		_ = none[len(c.Input.Messages)]
	case "error":
		return nil, errors.New("no idea what to do")
	case "long":
		return &abi.Output{Inject: strings.Repeat("x", 1<<20)}, nil
	case "denied":
		return nil, c.KV().Set("x", "y")
	case "calls":
		return calls(c)
	}
	return nil, nil
}

// calls uses every host call that needs no capability, and the storage.
func calls(c *guest.Call) (*abi.Output, error) {
	if err := c.KV().Set("notes/π.md", "<stored>"); err != nil {
		return nil, err
	}
	value, _, err := c.KV().Get("notes/π.md")
	if err != nil {
		return nil, err
	}
	keys, err := c.KV().List("notes/")
	if err != nil {
		return nil, err
	}
	costs, err := c.CountTokens("12345678")
	if err != nil {
		return nil, err
	}
	msgs, err := c.Messages(c.Input.Messages[0].ID)
	if err != nil {
		return nil, err
	}
	c.Log(abi.LogInfo, "%d tokens", costs[0])
	return &abi.Output{Retain: append(keys, value, msgs[0].Text())}, c.KV().Delete("notes/π.md")
}
