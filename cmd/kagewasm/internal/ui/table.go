package ui

import (
	"strings"
	"unicode/utf8"
)

// table is rows of cells in columns: the first to the left, those between to
// the right, the last as it is.
type table struct {
	rows [][]safe
	dim  map[int]bool // rows, by index
}

func (t *table) row(cells ...any) {
	row := make([]safe, len(cells))
	for i, c := range cells {
		row[i] = safef("%v", c)
	}
	t.rows = append(t.rows, row)
}

// head is a row that stands back.
func (t *table) head(cells ...any) {
	if t.dim == nil {
		t.dim = make(map[int]bool)
	}
	t.dim[len(t.rows)] = true
	t.row(cells...)
}

func (t *table) print(p Printer) {
	var widths []int
	for _, cells := range t.rows {
		for i, c := range cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(string(c)))
		}
	}
	for n, cells := range t.rows {
		var b strings.Builder
		for i, c := range cells {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(string(c)))
			switch i {
			case 0:
				b.WriteString(string(c) + pad)
			case len(cells) - 1:
				b.WriteString("  " + string(c))
			default:
				b.WriteString("  " + pad + string(c))
			}
		}
		line := safe(strings.TrimRight(b.String(), " "))
		if t.dim[n] {
			line = p.paint(dim, line)
		}
		p.Linef("  %s", line)
	}
}
