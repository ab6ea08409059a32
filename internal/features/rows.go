package features

import (
	_ "embed"
	"strings"
)

// Row is one thing that the project promises.
type Row struct {
	// ID is a letter and a number, or "complaint " and a number.
	ID string
	// Text says what it is, in a line.
	Text string
	// Planned rows are not built yet, or not all of it, and may stand without a
	// test.
	Planned bool
}

// File is where the table stands, below the project's root.
const File = "docs/features.md"

const complaint = "complaint "

//go:embed rows.tsv
var table string

// Rows are all rows, in the order of the table.
func Rows() (rows []Row) {
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		rows = append(rows, Row{ID: cells[0], Planned: cells[1] == "planned", Text: cells[2]})
	}
	return rows
}
