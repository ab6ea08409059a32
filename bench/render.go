package main

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/atomicfile"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// The tables stand between these lines of the file that is rewritten.
const begin, end = "<!-- made by bench: do not edit -->", "<!-- end of what bench made -->"

// write writes the tables and charts of the results; an empty name leaves them out.
func (r *Results) write(tables, charts string) error {
	if charts != "" {
		if err := os.MkdirAll(charts, 0o755); err != nil {
			return err
		}
		for _, s := range suites {
			if err := atomicfile.WriteFile(filepath.Join(charts, s.name+".svg"), r.chart(s.name, s.title), 0o644); err != nil {
				return err
			}
		}
		if err := atomicfile.WriteFile(filepath.Join(charts, "growth.svg"), r.Growth.chart(), 0o644); err != nil {
			return err
		}
	}
	if tables == "" {
		return nil
	}
	doc, err := os.ReadFile(tables)
	if err != nil {
		return err
	}
	before, rest, ok := bytes.Cut(doc, []byte(begin))
	_, after, ended := bytes.Cut(rest, []byte(end))
	if !ok || !ended {
		return fmt.Errorf("%s: the lines %q and %q, between which the tables stand, are not there", tables, begin, end)
	}
	doc = slices.Concat(before, []byte(begin+"\n"), r.tables(tables, charts), []byte(end), after)
	return atomicfile.WriteFile(tables, doc, 0o644)
}

func (r *Results) rows(suite string) []Row {
	return lists.Filter(r.Rows, func(row Row) bool { return row.Suite == suite })
}

func (r *Results) tables(file, charts string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s, %s, load %s.\n", r.Date, r.Machine, r.Load)
	for _, s := range suites {
		fmt.Fprintf(&b, "\n### %s\n\n| | peer | kagewasm | peer's | times | wanted |\n|---|---|---|---|---|---|\n", s.title)
		for _, row := range r.rows(s.name) {
			want, mark := "", ""
			if row.Want > 0 {
				want = fmt.Sprintf("%g", row.Want)
			}
			if row.Ratio < row.Want || row.Ratio < 1 {
				mark = " ✗"
			}
			fmt.Fprintf(&b, "| %s | %s | %s %s | %s %s | **%.1f**%s | %s |\n", row.Case, row.Peer, figure(row.Ours), row.Unit,
				figure(row.Peers), row.Unit, row.Ratio, mark, want)
		}
		chartOf(&b, file, charts, s.name, s.title)
	}
	b.WriteString(r.Growth.table())
	chartOf(&b, file, charts, "growth", growthTitle)
	return b.Bytes()
}

// chartOf shows a chart in a file.
func chartOf(b *bytes.Buffer, file, charts, name, title string) {
	if rel, err := filepath.Rel(filepath.Dir(file), filepath.Join(charts, name+".svg")); err == nil && charts != "" {
		fmt.Fprintf(b, "\n![%s](%s)\n", title, filepath.ToSlash(rel))
	}
}

// figure prints three digits.
func figure(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// The measures of a chart, in pixels.
const (
	left, right, barHeight, gap, top = 250, 60, 14, 5, 34
	width                            = 760
)

// chart draws a bar for each ratio, with a line where both are equal.
func (r *Results) chart(suite, title string) []byte {
	rows, most := r.rows(suite), 1.0
	for _, row := range rows {
		most = max(most, row.Ratio)
	}
	scale := (width - left - right) / most
	height := top + len(rows)*(barHeight+gap) + gap
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+
		"\n",
		width, height)
	fmt.Fprintf(&b, `<title>%s: how many times the peer's cost is of ours</title>`+"\n", html.EscapeString(title))
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/><text x="8" y="20" font-size="13">%s</text>`+"\n", width,
		height,
		html.EscapeString(title))
	for i, row := range rows {
		y := top + i*(barHeight+gap)
		colour := "#2f6f4f"
		if row.Ratio < max(1, row.Want) {
			colour = "#b4532a"
		}
		label := strings.TrimSpace(row.Case + " · " + row.Peer)
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`+
			`<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>`+
			`<text x="%.1f" y="%d">%.1fx</text>`+"\n",
			left-6, y+11, html.EscapeString(label),
			left, y, row.Ratio*scale, barHeight, colour,
			left+row.Ratio*scale+5, y+11, row.Ratio)
	}
	fmt.Fprintf(&b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#888" stroke-dasharray="3"/>`+"\n</svg>\n",
		left+scale, top-4,
		left+scale, height-gap)
	return b.Bytes()
}
