package host

import (
	"errors"
	"fmt"
	"strings"
)

const (
	// TrapPrefix begins the text of a trap.
	TrapPrefix = "wasm error: "

	traceHead  = "\nwasm stack trace:\n"
	maxFrames  = 8
	maxFrame   = 120
	traceLines = 30 // that the engine lists
)

// trapText recognizes an error of the engine as a trap of the guest, and
// returns what it was and where: "unreachable in f, called by g". The engine's
// own type for it is internal, so this reads the text; host functions never
// panic with such a text.
func trapText(err error, code Code) (string, bool) {
	for ; err != nil; err = errors.Unwrap(err) {
		text := err.Error()
		if text == "stack overflow" { // the compiler's engine unwinds nothing here
			return text, true
		}
		if rest, ok := strings.CutPrefix(text, TrapPrefix); ok {
			what, trace, _ := strings.Cut(rest, traceHead)
			if at := frames(trace, code); at != "" {
				what += " in " + at
			}
			return what, true
		}
	}
	return "", false
}

// where says in which functions the host stopped a guest, where that is known.
func where(err error, code Code) string {
	if err == nil {
		return ""
	}
	_, trace, _ := strings.Cut(err.Error(), traceHead)
	if at := frames(trace, code); at != "" {
		return ", in " + at
	}
	return ""
}

// frames lists the functions of a stack trace, innermost first, without those
// that the host added: "f, called by g (3 times)".
func frames(trace string, code Code) string {
	var names []string
	var times []int
	for line := range strings.SplitSeq(trace, "\n") {
		name, _, ok := strings.Cut(strings.TrimSpace(line), "(")
		if name = code.FunctionName(strings.TrimPrefix(name, ".")); !ok || name == "" {
			continue
		}
		if last := len(names) - 1; last >= 0 && names[last] == name {
			times[last]++
		} else {
			names, times = append(names, name), append(times, 1)
		}
	}
	shown := make([]string, min(len(names), maxFrames))
	for i := range shown {
		shown[i] = Shorten(names[i], maxFrame)
		switch {
		case times[i] >= traceLines-2: // the engine does not list more
			shown[i] += " (again and again)"
		case times[i] > 1:
			shown[i] += fmt.Sprintf(" (%d times)", times[i])
		}
	}
	if len(names) > maxFrames {
		shown = append(shown, "...")
	}
	return strings.Join(shown, ", called by ")
}
