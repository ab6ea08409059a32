package note

import (
	"strings"

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
	said := make(map[int][]string) // by the place of the first result, the last one first
	failed := make(map[int]bool)
	for i := len(msgs) - 1; i >= 0; i-- {
		at, text := first[i], msgs[i].Text()
		if at < 0 {
			continue
		}
		if _, later := failed[at]; !later {
			failed[at] = msgs[i].IsError
		}
		if list := said[at]; text != "" && text != msgs[at].Text() && (len(list) == 0 || list[len(list)-1] != text) {
			said[at] = append(list, text)
		}
	}
	out, left := make([]abi.Message, 0, len(msgs)), make([]bool, 0, len(marks))
	for i := range msgs {
		if first[i] >= 0 {
			continue
		}
		m := msgs[i]
		if isError, more := failed[i]; more {
			m.IsError = isError
			if list := said[i]; len(list) > 0 {
				m.Content = abi.Text(strings.Join(append(list, m.Text()), "\n"))
			}
		}
		if out = append(out, m); marks != nil {
			left = append(left, marks[i])
		}
	}
	return out, left
}
