package runtime

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/meter"
)

const (
	enginePrefix = "wasm error: "
	engineStack  = "\nwasm stack trace:\n"
	maxFrames    = 8
	maxFrame     = 120
	engineFrames = 30 // that the engine lists
)

// trapText recognizes an error of the engine as a trap of the guest, and
// returns what it was and where: "unreachable in f, called by g". The engine's
// own type for it is internal, so this reads the text; host functions never
// panic with such a text.
func (c *call) trapText(err error) (string, bool) {
	for ; err != nil; err = errors.Unwrap(err) {
		text := err.Error()
		if text == "stack overflow" { // the compiler's engine unwinds nothing here
			return text, true
		}
		if rest, ok := strings.CutPrefix(text, enginePrefix); ok {
			what, trace, _ := strings.Cut(rest, engineStack)
			if at := c.frames(trace); at != "" {
				what += " in " + at
			}
			return what, true
		}
	}
	return "", false
}

// where says in which functions the host stopped a guest, where that is known.
func (c *call) where(err error) string {
	if err == nil {
		return ""
	}
	_, trace, _ := strings.Cut(err.Error(), engineStack)
	if at := c.frames(trace); at != "" {
		return ", in " + at
	}
	return ""
}

// frames lists the functions of a stack trace, innermost first, without those
// that the host added: "f, called by g".
func (c *call) frames(trace string) string {
	var names []string
	times := 1 // of the last
	done := func() {
		switch {
		case times >= engineFrames-2: // the engine does not list more
			names[len(names)-1] += " (again and again)"
		case times > 1:
			names[len(names)-1] += fmt.Sprintf(" (%d times)", times)
		}
		times = 1
	}
	last := ""
	for line := range strings.SplitSeq(trace, "\n") {
		name, _, ok := strings.Cut(strings.TrimSpace(line), "(")
		name = c.functionName(strings.TrimPrefix(name, "."))
		switch {
		case !ok || name == "":
			continue
		case name == last:
			times++
			continue
		}
		done()
		if last = name; len(names) == maxFrames {
			names = append(names, "...")
			break
		}
		names = append(names, shorten(name, maxFrame))
	}
	done()
	return strings.Join(names, ", called by ")
}

// functionName is what to call a function that the engine names so, nothing for
// what the meter added. The engine numbers functions without a name, as they
// are after rewriting where there was any.
func (c *call) functionName(name string) string {
	if strings.HasPrefix(name, meter.Prefix) || strings.HasPrefix(name, meter.Module) {
		return ""
	}
	if redirected, ok := strings.CutPrefix(name, outwardModule); ok {
		return abi.ExtismModule + redirected
	}
	digits, nameless := strings.CutPrefix(name, "$")
	index, err := strconv.Atoi(digits)
	if !nameless || err != nil {
		return name
	}
	if c.plugin.name != EngineExtism {
		index-- // the meter's import
	}
	imported := c.plugin.module.ImportedFuncs()
	if index < imported || index >= imported+len(c.plugin.module.Funcs) {
		return ""
	}
	return fmt.Sprintf("function %d", index)
}
