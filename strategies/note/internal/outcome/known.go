package outcome

import (
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/toolcall"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
)

// Known remembers what calls do and how they ended: plans that differ a little read nearly the same ones. The zero
// value is ready. It belongs to one goroutine.
type Known struct {
	action.Known
	ended  map[ending]Outcome
	values map[string]string
	quotes map[quote]string
	// reasons are by the output that they are of.
	reasons map[string]string
	tasks   map[[2]string][]action.Check // of commands of tasks, by their lines and folders
	// wrapped are results out of the documents that they came in.
	wrapped map[string]wrapped
}

// Value is what read makes of a text.
func (k *Known) Value(text string, read func(string) string) string {
	if k == nil {
		return read(text)
	}
	if v, ok := k.values[text]; ok {
		return v
	}
	v := read(text)
	if k.values == nil {
		k.values = make(map[string]string)
	}
	k.values[text] = v
	return v
}

// quote is all that a quote of what failed is made of.
type quote struct {
	text, lines string // its output, and the lines in it that say what went wrong
	failed, ran bool
}

// Quote is what made made of the output of a call that failed: as its source says, or of a command that ran.
func (k *Known) Quote(text string, failed, ran bool, o Outcome, made func() string) string {
	if k == nil {
		return made()
	}
	key := quote{text, strings.Join(o.Lines, "\n"), failed, ran}
	if q, ok := k.quotes[key]; ok {
		return q
	}
	if k.quotes == nil {
		k.quotes = make(map[quote]string)
	}
	q := made()
	k.quotes[key] = q
	return q
}

// Reason is what [Reason] says of an output.
func (k *Known) Reason(text string) string {
	if k == nil {
		return Reason(text)
	}
	if why, ok := k.reasons[text]; ok {
		return why
	}
	if k.reasons == nil {
		k.reasons = make(map[string]string)
	}
	why := Reason(text)
	k.reasons[text] = why
	return why
}

// ending is all that an outcome is read off.
type ending struct {
	text, script          string
	shell                 bool // the script is one of a shell
	isError, marks, flags bool
}

// remembered is an outcome that was read before, or else the one that read gives. What is read after it was to stop is
// not remembered.
func (h Harness) remembered(m *abi.Message, a *action.Action, read func() Outcome) Outcome {
	if h.Known == nil {
		return read()
	}
	key := ending{m.Text(), a.Script, len(a.Commands) > 0, m.IsError, h.Marks, h.Flags}
	if o, ok := h.Known.ended[key]; ok {
		return o
	}
	o := read()
	if h.GoOn() {
		if h.Known.ended == nil {
			h.Known.ended = make(map[ending]Outcome)
		}
		h.Known.ended[key] = o
	}
	return o
}

// Does is what a call does, for one to change who asks.
func (h Harness) Does(c *abi.ToolCall) *action.Action {
	if h.Known == nil {
		return action.Of(c)
	}
	return h.Known.Of(c)
}

// Arguments are those of a call, see [toolcall.Strings]. They are not to be changed.
func (h Harness) Arguments(c *abi.ToolCall) []toolcall.Pair {
	if h.Known == nil {
		return toolcall.Strings(c.Arguments)
	}
	return h.Known.Arguments(c)
}
