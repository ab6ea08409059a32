package action

import (
	"slices"
	"sync"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// Known remembers what calls say and do: plans that differ a little read nearly the same calls, and each of them is
// read for what it names and for what was done. The zero value is ready. It belongs to one goroutine.
type Known struct{ calls map[asked]*known }

// asked is a call without its id.
type asked struct{ tool, arguments string }

type known struct {
	arguments []toolcall.Pair
	action    *Action // nil where nobody asked yet
}

func (k *Known) call(c *abi.ToolCall) *known {
	key := asked{c.Name, c.Arguments}
	if before := k.calls[key]; before != nil {
		return before
	}
	if k.calls == nil {
		k.calls = make(map[asked]*known)
	}
	now := &known{arguments: toolcall.Strings(c.Arguments)}
	k.calls[key] = now
	return now
}

// Arguments are the arguments of a call, see [toolcall.Strings]. They are not to be changed.
func (k *Known) Arguments(c *abi.ToolCall) []toolcall.Pair { return k.call(c).arguments }

// Of is what a call does, for one to change who asks.
func (k *Known) Of(c *abi.ToolCall) *Action {
	known := k.call(c)
	if known.action == nil {
		known.action = of(c.Name, known.arguments)
		script := known.action.Script
		known.action.normal = sync.OnceValue(func() string { return toolcall.Normal(script) })
	}
	a := *known.action
	a.Files = slices.Clone(a.Files)
	return &a
}
