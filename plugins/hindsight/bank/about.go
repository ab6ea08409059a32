package bank

import (
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/strategies/rank"
)

// maxDated is how much of a text is looked through for dates.
const maxDated = 4 << 10

// indexed is what of a memory is searched. The time of the one before it is in said.
func (m *Memory) indexed(said *when) rank.Text {
	return rank.Text{Body: m.Text, About: m.about(said), Author: m.Author, Group: m.Session}
}

// about are words that are searched with the text: who says it, when, and of
// which days it speaks.
func (m *Memory) about(said *when) string {
	if said.time != m.Time || said.words == "" {
		*said = whenOf(m.Time)
	}
	return m.Author + " " + said.words + " " + days(m.Text[:min(len(m.Text), maxDated)], said.day)
}

// when is a time, the day that it names, if it does, and words for it. Many memories in a
// row have the same.
type when struct {
	time  string
	day   time.Time
	words string
}

func whenOf(s string) when {
	day := moment(s)
	if day.IsZero() {
		return when{s, day, s + " " + days(s, day)}
	}
	return when{s, day, day.Format("2006-01-02 2 January 2006 Monday ") +
		dayWords(day.Year(), int(day.Month()), day.Day())}
}

// moment is a time in RFC 3339 or a date, the zero time where it is neither.
func moment(s string) time.Time {
	day, _, _ := strings.Cut(s, "T")
	t, _ := time.Parse(time.DateOnly, day) // the zero time otherwise
	return t
}
