package host

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// IO is what goes into a call and what comes out of it: the input, the answer, and
// what is to be told of it.
type IO struct {
	Input Input
	Logs  Logs

	plugin   *Plugin // whose limits and secrets hold
	output   []byte
	late     func() []byte // where set, makes the output once the guest has returned
	over     bool          // the guest wrote more than it may, and was told so
	err      string        // the error text of the guest
	warnings []string
	cause    *abi.Error // why the host stopped the guest; the first one counts
}

func newIO(p *Plugin, in Input) IO {
	return IO{Input: in, Logs: Logs{left: p.Limits.LogBytes, redact: p.redact}, plugin: p}
}

// SetCause says why the guest ends. The first reason counts.
func (o *IO) SetCause(e *abi.Error) { o.cause = cmp.Or(o.cause, e) }

// SetError keeps the error text of the guest.
func (o *IO) SetError(text []byte) { o.err = o.Clean(text) }

// Clean makes foreign text safe to show, and cuts it.
func (o *IO) Clean(text []byte) string {
	return clean(text, o.plugin.Limits.ErrorBytes, o.plugin.redact)
}

// maxWarnings is how many warnings a call has: a store that fails does so at each of
// ten thousand host calls.
const maxWarnings = 100

// Warn adds a warning for the host, the first hundred of them.
func (o *IO) Warn(text string) {
	switch n := len(o.warnings); {
	case n < maxWarnings:
		o.warnings = append(o.warnings, strings.TrimSpace(text))
	case n == maxWarnings:
		o.warnings = append(o.warnings, "there are more warnings than these")
	}
}

// SetOutput replaces the output, or refuses it where it is over the limit.
func (o *IO) SetOutput(b []byte) {
	o.output = nil
	o.write(b)
}

// write appends to the output, or refuses where that is over the limit.
func (o *IO) write(b []byte) bool {
	o.late = nil
	if len(b) > o.plugin.Limits.OutputBytes-len(o.output) {
		o.over = true
		return false
	}
	o.output = append(o.output, b...)
	return true
}

// Output is what a guest that has returned answers. It outlives the call.
func (o *IO) Output() []byte {
	if o.late != nil {
		return bytes.Clone(o.late())
	}
	return o.output
}

// reset takes everything back that crossed, but for what was logged.
func (o *IO) reset() { o.Input.Bytes, o.output, o.late, o.err = nil, nil, nil, "" }

func (o *IO) report(stats *abi.CallStats) {
	o.Logs.flush()
	stats.InputBytes, stats.ErrorBytes = len(o.Input.Bytes), len(o.err)
	stats.LogBytes, stats.Logs, stats.LogsDropped = o.plugin.Limits.LogBytes-o.Logs.left, o.Logs.lines, o.Logs.dropped
	stats.Warnings = o.warnings
}
