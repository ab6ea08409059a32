// Command keeper is a compactor: it keeps errors and decisions, and leaves a
// line of reference for the rest. The logic is in package keep.
package main

import (
	"github.com/kagewasm/kagewasm/abi/guest"
	"github.com/kagewasm/kagewasm/plugins/keeper/keep"
)

func init() { guest.Register(keep.Plugin) }

func main() { guest.Main() }
