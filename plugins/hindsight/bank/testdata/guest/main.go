// Command guest is a plugin with a bank and nothing else, for tests in the
// sandbox: pre_compact retains all messages, a session being a day, and
// turn_end recalls by the first message and injects the ids and scores of the
// hits. Without messages either does nothing.
package main

import (
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
	"github.com/kagewasm/kagewasm/plugins/hindsight/bank"
)

func init() { guest.Register(guest.Plugin{PreCompact: retain, TurnEnd: recall}) }

func main() { guest.Main() }

func retain(c *guest.Call) (*abi.Output, error) {
	if len(c.Input.Messages) == 0 {
		return nil, nil
	}
	list := make([]bank.Memory, len(c.Input.Messages))
	for i := range list {
		m := &c.Input.Messages[i]
		day, _, _ := strings.Cut(m.Timestamp, "T")
		list[i] = bank.Memory{ID: m.ID, Session: day, Author: m.Name, Time: m.Timestamp, Text: m.Text()}
	}
	b, err := bank.Open(c.KV(), "banks/main/")
	if err != nil {
		return nil, err
	}
	added, err := b.Retain(list)
	return &abi.Output{Inject: fmt.Sprint(added)}, err
}

func recall(c *guest.Call) (*abi.Output, error) {
	if len(c.Input.Messages) == 0 {
		return nil, nil
	}
	b, err := bank.Open(c.KV(), "banks/main/")
	if err != nil {
		return nil, err
	}
	hits, err := b.Recall(bank.Query{Text: c.Input.Messages[0].Text()})
	var out strings.Builder
	for _, h := range hits {
		fmt.Fprintln(&out, h.ID, h.Score)
	}
	return &abi.Output{Inject: out.String()}, err
}
