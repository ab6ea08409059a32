// Command searcher is an observer that keeps what a search of superseded messages finds.
package main

import (
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
)

func init() { guest.Register(guest.Plugin{PreCompact: search}) }

func main() { guest.Main() }

// search looks for what the knob query says, as often as the knob times says.
func search(c *guest.Call) (*abi.Output, error) {
	out := &abi.Output{}
	for range int(c.Input.Config.Int("times", 1)) {
		found, err := c.Search(c.Input.Config.String("query", ""), int(c.Input.Config.Int("limit", 0)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", abi.CodeOf(err), err)
		}
		for _, unit := range found {
			for _, e := range unit.Pieces {
				out.Retain = append(out.Retain, fmt.Sprintf("%s by %s: %s", e.Message, e.Compaction, e.Text))
			}
		}
	}
	return out, nil
}
