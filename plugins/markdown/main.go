// Command markdown is an observer that keeps what is worth keeping of a
// session as markdown notes. The logic is in package memory.
package main

import (
	"github.com/kagewasm/kagewasm/abi/guest"
	"github.com/kagewasm/kagewasm/plugins/markdown/memory"
)

func init() { guest.Register(memory.Plugin) }

func main() { guest.Main() }
