// Command hindsight is a memory: it retains what a session says before it
// goes, recalls what bears on the work at hand, and makes the cut itself. The
// logic is in package memory.
package main

import (
	"github.com/kagewasm/kagewasm/abi/guest"
	"github.com/kagewasm/kagewasm/plugins/hindsight/memory"
)

func init() { guest.Register(memory.Plugin) }

func main() { guest.Main() }
