package bank

import (
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/strategies/rank"
)

// maxDated is how much of a text is looked through for dates.
const maxDated = 4 << 10

// indexed is what of a memory is searched.
func (m *Memory) indexed() rank.Text {
	return rank.Text{Body: m.Text, About: m.about(), Author: m.Author, Group: m.Session}
}

// about are words that are searched with the text: who says it, when, and of
// which days it speaks.
func (m *Memory) about() string {
	when, said := m.Time, moment(m.Time)
	if said.IsZero() {
		when += " " + days(when, said)
	} else {
		when = said.Format("2006-01-02 2 January 2006 Monday ") + dayWords(said.Year(), int(said.Month()), said.Day())
	}
	return m.Author + " " + when + " " + days(m.Text[:min(len(m.Text), maxDated)], said)
}

// moment is a time in RFC 3339 or a date, the zero time where it is neither.
func moment(s string) time.Time {
	day, _, _ := strings.Cut(s, "T")
	t, _ := time.Parse(time.DateOnly, day) // the zero time otherwise
	return t
}
