package replay

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// Continuation says whether the log's next steps after compactions need what is
// gone. The log was recorded without them, so what it does again it did for
// reasons of its own: the figures are bounds from above.
type Continuation struct {
	// Compactions whose next call was looked at.
	Compactions int `json:"compactions"`
	// Continued are those of them after which the next call neither rereads nor
	// names anything that is lost.
	Continued int `json:"continued"`
	// Reread are those after which one of the next three calls makes a tool
	// call again that is gone from the list, and gets the same answer: it asks
	// for what the list held before.
	Reread int `json:"reread"`
	// Lost are those after which the next call names a file that had been met,
	// and stands nowhere in what it was sent: neither its path nor its name
	// below the last folder.
	Lost int `json:"lost"`
}

// Percent is the share of compactions after which the task continued.
func (c Continuation) Percent() float64 { return Share{c.Compactions, c.Continued}.Percent() }

// nextCalls is how many calls after a compaction are looked at for what is read
// again.
const nextCalls = 3

// watch is a compaction whose next calls are looked at.
type watch struct {
	of    []*Compaction // made at once
	calls int           // seen so far
	again bool
}

// compacted looks at what a compaction left, and begins to watch what follows.
func (r *run) compacted(step *Step) {
	made := compactions(step)
	failed, errors := r.retention(r.log.view(step.After))
	for _, c := range made {
		c.Failed, c.Errors = failed, errors
	}
	r.stats.Failed.plus(failed)
	r.stats.Errors.plus(errors)
	r.precision(step)
	r.points = append(r.points, made...)
	r.watch = append(r.watch, watch{of: made})
}

// follow looks at the answer of a call that was sent a list.
func (r *run) follow(answer *abi.Message, step *Step) {
	if len(r.watch) == 0 {
		return
	}
	again, lost := r.needs(r.log.of(answer), r.log.view(step.After))
	open := r.watch[:0]
	for _, w := range r.watch {
		needed := again
		if w.calls++; w.calls == 1 {
			needed = slices.Concat(again, lost)
			r.stats.Continuation.first(len(again) > 0, len(lost) > 0)
			w.next(len(needed) == 0, step.Sent, r.cache.last)
		}
		w.needs(needed)
		if len(again) > 0 && !w.again {
			w.again = true
			r.stats.Continuation.Reread++
		}
		if w.calls < nextCalls {
			open = append(open, w)
		}
	}
	r.watch = open
}

// next takes in the next call: whether it goes on, and its request where one was sent.
func (w *watch) next(goesOn, sent bool, last request) {
	for _, c := range w.of {
		c.Continued = &goesOn
		if sent {
			c.CachedShare = new(ratio(last.cached, last.input))
		}
	}
}

func (w *watch) needs(list []Need) {
	for _, n := range list {
		n.After = w.calls
		for _, c := range w.of {
			c.Needed = append(c.Needed, n)
		}
	}
}

func (c *Continuation) first(again, lost bool) {
	c.Compactions++
	if lost {
		c.Lost++
	}
	if !again && !lost {
		c.Continued++
	}
}

// repeats reports whether a call was made before, with the same result, and the
// list holds it no more.
func (r *run) repeats(c *toolCall, v *view) bool {
	if c.result < 0 {
		return false
	}
	text, gone := r.Messages[c.result].Text(), false
	for _, old := range r.log.until(c.at) {
		if old.name != c.name || old.arguments != c.arguments || old.result < 0 || r.Messages[old.result].Text() != text {
			continue
		}
		if v.holds(&old) {
			return false
		}
		gone = true
	}
	return gone
}

// inCommand is what a file looks like in a command: with a folder and an
// extension.
var inCommand = regexp.MustCompile(`[\w@.~-]*(?:/[\w@.+-]+)+\.[A-Za-z]\w{0,4}\b`)

// alone is what an argument looks like that is the path of a file.
var alone = regexp.MustCompile(`^[\w@.~+/-]+\.[A-Za-z]\w{0,4}$`)

// files are the files that an argument names. Texts of several lines are
// contents, and name files as prose does.
func files(text string) []string {
	switch {
	case strings.ContainsAny(text, "\n"):
		return nil
	case alone.MatchString(text):
		return []string{text}
	case strings.Contains(text, " "):
		return inCommand.FindAllString(text, -1)
	}
	return nil
}

// belowLastFolder is the name of a file with the folder that it is in.
func belowLastFolder(name string) string {
	if dir := path.Base(path.Dir(name)); strings.Contains(name, "/") && dir != "." && dir != "/" {
		return dir + "/" + path.Base(name)
	}
	return name
}

// namesLost returns the files that a call names, that had been met and that the list does not hold.
func (r *run) namesLost(c *toolCall, v *view) (lost []string) {
	for _, text := range c.texts {
		for _, name := range files(text) {
			if !slices.Contains(lost, name) && !v.says(name, belowLastFolder(name)) && met(r.Messages[:c.at], name) {
				lost = append(lost, name)
			}
		}
	}
	return lost
}

// met reports whether messages hold a text.
func met(msgs []abi.Message, text string) bool {
	for i := range msgs {
		if contains(&msgs[i], text) {
			return true
		}
	}
	return false
}

func contains(m *abi.Message, text string) bool {
	if strings.Contains(m.Text(), text) {
		return true
	}
	for _, c := range m.ToolCalls {
		if strings.Contains(c.Arguments, text) {
			return true
		}
	}
	return false
}
