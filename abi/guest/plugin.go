package guest

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// Handler answers one call of a hook. A nil output says nothing; an error, or
// a panic, is a failure of the plugin: the host notes it and goes on without.
type Handler func(c *Call) (*abi.Output, error)

// Plugin is what a plugin does: a handler for each hook it takes part in. A
// hook without a handler answers nothing.
type Plugin struct {
	// PreCompact is called before a compaction: read, retain, inject, or, as
	// the compactor, return the new message list.
	PreCompact Handler
	// PostCompact is called after it, on success and on failure; Input.Record
	// says what was done.
	PostCompact Handler
	// TurnEnd is called when a turn of the agent has completed.
	TurnEnd Handler
}

// Handler returns the handler of a hook, nil where there is none.
func (p Plugin) Handler(h abi.Hook) Handler {
	switch h {
	case abi.HookPreCompact:
		return p.PreCompact
	case abi.HookPostCompact:
		return p.PostCompact
	case abi.HookTurnEnd:
		return p.TurnEnd
	}
	return nil
}

// Call runs the handler of c's hook. A panic in it comes back as an error with
// the panic's message and a short stack.
func (p Plugin) Call(c *Call) (out *abi.Output, err error) {
	handle := p.Handler(c.Input.Hook)
	if handle == nil {
		return nil, nil
	}
	defer func() {
		if v := recover(); v != nil {
			out, err = nil, fmt.Errorf("panic: %v\n%s", v, shortStack(debug.Stack()))
		}
	}()
	return handle(c)
}

// stackLines bounds the stack in an error text: two lines a frame.
const stackLines = 16

// shortStack returns the frames of the panic itself, without those of the
// recovery above it.
func shortStack(stack []byte) string {
	lines := strings.Split(strings.TrimSpace(string(stack)), "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "panic(") && i+2 < len(lines) {
			lines = lines[i+2:]
			break
		}
	}
	return strings.Join(lines[:min(len(lines), stackLines)], "\n")
}

// registered is the plugin of this program. A module's exports take no
// arguments, so there is one place to find it; Register writes it once.
var registered struct {
	plugin Plugin
	done   bool
}

// Register makes p the plugin of this program. Call it from an init function:
// a module's main never runs. A second call panics.
func Register(p Plugin) {
	if registered.done {
		panic("guest: Register: called twice; a module is one plugin")
	}
	registered.plugin, registered.done = p, true
}
