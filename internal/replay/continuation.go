package replay

import (
	"path"
	"regexp"
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
	calls int // seen so far
	again bool
}

// compacted looks at what a compaction left, and begins to watch what follows.
func (r *run) compacted(step *Step) {
	r.retention(r.log.view(step.After))
	r.precision(step)
	r.watch = append(r.watch, watch{})
}

// follow looks at the answer of a call that was sent a list.
func (r *run) follow(answer *abi.Message, sent []abi.Message) {
	if len(r.watch) == 0 {
		return
	}
	v := r.log.view(sent)
	again, lost := false, false
	for _, c := range r.log.of(answer) {
		again = again || r.repeats(&c, v)
		lost = lost || r.namesLost(&c, v)
	}
	open := r.watch[:0]
	for _, w := range r.watch {
		if w.calls++; w.calls == 1 {
			r.stats.Continuation.first(again, lost)
		}
		if again && !w.again {
			w.again = true
			r.stats.Continuation.Reread++
		}
		if w.calls < nextCalls {
			open = append(open, w)
		}
	}
	r.watch = open
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
		if old.key != c.key || old.result < 0 || r.Messages[old.result].Text() != text {
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

// namesLost reports whether a call names a file that had been met and that the
// list does not hold.
func (r *run) namesLost(c *toolCall, v *view) bool {
	for _, text := range c.texts {
		for _, name := range files(text) {
			if !v.says(name, belowLastFolder(name)) && met(r.Messages[:c.at], name) {
				return true
			}
		}
	}
	return false
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
