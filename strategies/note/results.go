package note

import (
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/results"
)

// oneResultEach returns the session with one result of each call, as the rest of the package reads them: a harness may
// say in one that a command began, and in the next how it ended.
func (s Session) oneResultEach() Session {
	s.Messages, s.Gone = oneEach(s.Messages, s.Gone)
	s.Pruned, _ = oneEach(s.Pruned, nil)
	return s
}

// oneEach returns messages with one result of each call, and the marks of those that are left. The first stands for
// all. What the last one says stands in front, where the way in which a call ended is looked for.
func oneEach(msgs []abi.Message, marks []bool) ([]abi.Message, []bool) {
	first := results.Further(msgs)
	if first == nil {
		return msgs, marks
	}
	several := results.Several(msgs, first)
	out, left := make([]abi.Message, 0, len(msgs)), make([]bool, 0, len(marks))
	for i := range msgs {
		if first[i] >= 0 {
			continue
		}
		m := msgs[i]
		if of := several[i]; of != nil {
			m = results.Joined(of, true)
		}
		if out = append(out, m); marks != nil {
			left = append(left, marks[i])
		}
	}
	return out, left
}
