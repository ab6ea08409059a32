package bank

import (
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/strategies/rank"
)

// indexed is what of a memory is searched.
func (m *Memory) indexed() rank.Text {
	return rank.Text{Body: m.Text, About: date(m.Time) + " " + m.Author, Author: m.Author, Group: m.Session}
}

// date is a time as people write dates.
func date(s string) string {
	day, _, _ := strings.Cut(s, "T")
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return s
	}
	return t.Format("2006-01-02 2 January 2006 Monday")
}
