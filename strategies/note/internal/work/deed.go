package work

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
)

// deed is something that was done and must not be done again.
type deed struct {
	text  string   // as it is told
	run   string   // the command, where it is one
	alike []string // by what the ones before differ that are told with it
}

// maxAlike is how many commands are told with one that is like them.
const maxAlike = 12

// runs notes that commands ran, where, and what else there is to say of the last of them. Those of which all that is
// told is the same but for one word are told with the one before.
func (w *Work) runs(a *action.Action, acts []action.Step, where, more string) {
	if len(acts) == 0 {
		return
	}
	run := quote(a, acts)
	if n := len(acts) - 1; n > 0 && len(run) > maxCommand { // those behind the cut would be told nowhere
		w.runs(a, acts[:n], where, "")
		w.runs(a, acts[n:], where, more)
		return
	}
	d := deed{text: Ran + quoted(run) + where + more, run: run}
	w.did = slices.DeleteFunc(w.did, func(o deed) bool { return o.text == d.text })
	if n := len(w.did); n > 0 {
		if last := w.did[n-1]; len(last.alike) < maxAlike {
			part, here := difference(last.run, run)
			if part != "" && quoted(strings.ReplaceAll(last.run, part, here)) == quoted(run) {
				d.alike = append(last.alike, part)
				w.did = w.did[:n-1]
			}
		}
	}
	w.did = append(w.did, d)
}

// difference is the part of a word by which a command differs from another one that is
// like it, and what stands there in the other, empty where more differs. Texts that they are
// given are not looked at.
func difference(one, other string) (part, there string) {
	a, b := strings.Fields(one), strings.Fields(other)
	for i := range max(len(a), len(b)) {
		switch {
		case i >= len(a) || i >= len(b):
			return "", ""
		case strings.ContainsAny(a[i]+b[i], "\"'"):
			return part, there
		case a[i] == b[i]:
		case part != "":
			return "", ""
		default:
			if part, there = piece(a[i], b[i]); part == "" {
				return "", ""
			}
		}
	}
	return part, there
}

// piece is the part of a path or an address by which it differs from another one, and what
// stands there in the other, empty where they do not begin alike.
func piece(one, other string) (part, there string) {
	a, b := strings.Split(one, "/"), strings.Split(other, "/")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] && i > 0 && slices.Equal(a[i+1:], b[i+1:]) {
			return a[i], b[i]
		}
		if a[i] != b[i] {
			return "", ""
		}
	}
	return "", ""
}

// String is the deed as it is told.
func (d *deed) String() string {
	if len(d.alike) == 0 {
		return d.text
	}
	return d.text + ", before it with " + strings.Join(d.alike, ", ")
}
