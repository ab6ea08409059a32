package features

import (
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lists"
)

const header = `# What works, and what shows it

Made by ` + "`make features`" + ` from the tests, which say themselves what they prove; not to be edited. A row says
*pass* when its tests passed: a table with a failed test, or with a row whose tests were all skipped, is not written.
Where a row is not built yet it is *planned*, or *in part* where tests of a part of it passed. A test of the project
holds this file to the sources, and fails where it is older than they are.

K, I, T, O and A are what five earlier systems do, N is what none of them has, and the complaints are what
users of such systems say goes wrong. Names of tests stand behind the folder of their package.
`

var groups = []struct{ prefix, title string }{
	{"K", "The frame"},
	{"I", "Layout, budgets and quality"},
	{"T", "Turns and summaries"},
	{"O", "Plugins that take part"},
	{"A", "Modes, retries and recovery"},
	{"N", "New here"},
	{complaint, "Complaints"},
}

// Table is docs/features.md. It depends on the rows and the tests' names alone.
func Table(rows []Row, proofs Proofs) string {
	var b strings.Builder
	b.WriteString(header)
	for _, g := range groups {
		fmt.Fprintf(&b, "\n## %s\n\n| row | what | tests | result |\n|---|---|---|---|\n", g.title)
		for _, r := range rows {
			if strings.HasPrefix(r.ID, g.prefix) {
				id, tests := strings.TrimPrefix(r.ID, complaint), proofs[r.ID]
				fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", id, r.Text, list(tests), result(r, tests))
			}
		}
	}
	return b.String()
}

func list(tests []Test) string {
	return strings.Join(lists.Map(tests, func(t Test) string { return "`" + t.String() + "`" }), "<br>")
}

func result(r Row, tests []Test) string {
	switch {
	case len(tests) == 0:
		return "planned"
	case r.Planned:
		return "in part"
	}
	return "pass"
}

// Unproved are the rows that are not planned any more and have no test.
func Unproved(rows []Row, proofs Proofs) []string {
	open := lists.Filter(rows, func(r Row) bool { return !r.Planned && len(proofs[r.ID]) == 0 })
	return lists.Map(open, func(r Row) string { return r.ID })
}
