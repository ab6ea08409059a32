// Command guest is the compactor of the benchmarks, written with abi/guest. It
// supersedes the older half of what is not pinned. Its twin in ../pdk does the
// same with what a plugin author has without this project.
package main

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
)

func init() { guest.Register(guest.Plugin{PreCompact: compact}) }

func main() { guest.Main() }

func compact(c *guest.Call) (*abi.Output, error) {
	out := &abi.Output{Messages: []abi.OutputMessage{}}
	var asked []string // ids of what people said
	half := len(c.Input.Messages) / 2
	for i := range c.Input.Messages {
		m := &c.Input.Messages[i]
		if m.Pinned || i >= half {
			out.Messages = append(out.Messages, abi.OutputMessage{Ref: m.ID})
			continue
		}
		out.Superseded = append(out.Superseded, m.ID)
		if m.Role == abi.RoleUser {
			asked = append(asked, m.ID)
		}
	}
	var summary strings.Builder
	summary.WriteString("Superseded:")
	for m, err := range c.Bodies(asked...) {
		if err != nil {
			return nil, err
		}
		line, _, _ := strings.Cut(m.Text(), "\n")
		summary.WriteString("\n- " + line[:min(len(line), 80)])
	}
	out.Summary = summary.String()
	return out, nil
}
