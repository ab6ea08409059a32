package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/kagewasm/kagewasm/internal/atomicfile"
)

// Growth is how the processor time of a compaction grows with its session.
type Growth struct {
	// Load is that of the machine at the end.
	Load string `json:"load"`
	// Start is what a session of one message takes, in ms.
	Start  float64 `json:"start"`
	Points []Point `json:"points"`
	// Exponent is that of the power of the number of messages by which the time grows, beside Start.
	Exponent float64 `json:"exponent"`
}

// Point is one session: its messages, its size in MB, and the processor time in ms.
type Point struct {
	Messages int     `json:"messages"`
	MB       float64 `json:"mb"`
	MS       float64 `json:"ms"`
}

// maxExponent is what is aimed at.
const maxExponent = 1.05

// sizes are the sessions of the measurement, in messages.
var sizes = []int{1_000, 3_162, 10_000, 31_623, 100_000, 316_228, 1_000_000}

// growth compacts sessions of real lines, of which no two are alike: what is remembered of a text does not make a long
// one cheaper.
func growth(ctx context.Context, p *peers) (*Growth, error) {
	lines, err := linesOf(p.root)
	if err != nil {
		return nil, err
	}
	took := func(n int) (Point, error) {
		path := filepath.Join(p.dir, "growth.jsonl")
		if err := writeSession(path, lines, n); err != nil {
			return Point{}, err
		}
		defer os.Remove(path)
		info, err := os.Stat(path)
		if err != nil {
			return Point{}, err
		}
		rounds := runs
		if n > 10_000 {
			rounds = 1
		}
		ms, err := process(ctx, rounds, p.command, "compact", path, "--window", fmt.Sprint(window), "--force", "--no-record",
			"-q", "--out", path+".out")
		return Point{n, float64(info.Size()) / 1e6, ms}, err
	}
	start, err := took(1)
	if err != nil {
		return nil, err
	}
	g := &Growth{Start: start.MS}
	for _, n := range sizes {
		at, err := took(n)
		if err != nil {
			return nil, err
		}
		fmt.Printf("%-10s %9d messages %8.1f MB %10.1f ms\n", "growth", at.Messages, at.MB, at.MS)
		g.Points = append(g.Points, at)
	}
	g.Load, g.Exponent = load(), g.slope()
	fmt.Printf("%-10s exponent %.3f\n", "growth", g.Exponent)
	return g, nil
}

// slope is that of the line through the logarithms with the least squares.
func (g *Growth) slope() float64 {
	var n, x, y, xx, xy float64
	for _, p := range g.Points {
		a, b := math.Log(float64(p.Messages)), math.Log(max(1, p.MS-g.Start))
		n, x, y, xx, xy = n+1, x+a, y+b, xx+a*a, xy+a*b
	}
	return (n*xy - x*y) / (n*xx - x*x)
}

// linesOf are lines of text of the sessions that are compared.
func linesOf(root string) (lines []string, err error) {
	paths, err := sessions(root)
	if err != nil {
		return nil, err
	}
	all, err := contents(paths)
	if err != nil {
		return nil, err
	}
	for record := range bytes.Lines(all) {
		var m struct{ Content any }
		if json.Unmarshal(record, &m) != nil {
			continue
		}
		text, _ := m.Content.(string)
		for line := range bytes.Lines([]byte(text)) {
			if line = bytes.TrimSpace(line); len(line) > 20 {
				lines = append(lines, string(line[:min(len(line), 300)]))
			}
		}
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("the sessions have no text")
	}
	return lines, nil
}

// writeSession writes so many messages: calls and their results, and a person's every twentieth time.
func writeSession(path string, lines []string, n int) error {
	var session bytes.Buffer
	for i := range n {
		id := fmt.Sprintf("m%07d", i)
		text := fmt.Sprintf("%s %d", lines[i%len(lines)], i)
		message := map[string]any{"id": id, "role": "user", "content": text}
		switch at := i % 20; {
		case at == 0:
		case at%2 == 1:
			arguments, _ := json.Marshal(map[string]string{"command": "grep -n step internal/part" + fmt.Sprint(i%997) + ".go"})
			message = map[string]any{"id": id, "role": "assistant", "content": text, "tool_calls": []any{
				map[string]any{"id": "c" + id, "name": "shell", "arguments": string(arguments)}}}
		default:
			message["role"], message["tool_call_id"] = "tool", fmt.Sprintf("cm%07d", i-1)
		}
		record, err := json.Marshal(message)
		if err != nil {
			return err
		}
		session.Write(append(record, '\n'))
	}
	return atomicfile.WriteFile(path, session.Bytes(), 0o644)
}

// growthTitle stands above its table and its chart.
const growthTitle = "Growth of a compaction, from 1,000 to 1,000,000 messages"

// table is the growth as a table of markdown.
func (g *Growth) table() string {
	var b bytes.Buffer
	mark := ""
	if g.Exponent > maxExponent {
		mark = " ✗"
	}
	fmt.Fprintf(&b, "\n### %s\n\nAt a load of %s. A session of one message takes %s ms. What there is beside it "+
		"grows with the number of messages\nto the power of **%.2f**%s (wanted: %.2f at most).\n\n"+
		"| messages | MB | ms | µs a message beside the start |\n"+
		"|---|---|---|---|\n", growthTitle, g.Load, figure(g.Start), g.Exponent, mark, maxExponent)
	for _, p := range g.Points {
		fmt.Fprintf(&b, "| %d | %s | %s | %s |\n", p.Messages, figure(p.MB), figure(p.MS),
			figure(1e3*(p.MS-g.Start)/float64(p.Messages)))
	}
	return b.String()
}

// chart draws the times over the messages, both by their logarithms, and the line of the exponent 1 through the first.
func (g *Growth) chart() []byte {
	const height, bottom = 320, 40
	var b bytes.Buffer
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range g.Points {
		low, high = min(low, math.Log10(p.MS-g.Start)), max(high, math.Log10(p.MS-g.Start))
	}
	first, last := g.Points[0], g.Points[len(g.Points)-1]
	x := func(n float64) float64 {
		from, to := math.Log10(float64(first.Messages)), math.Log10(float64(last.Messages))
		return 70 + (width-140)*(math.Log10(n)-from)/(to-from)
	}
	y := func(ms float64) float64 {
		return height - bottom - (height-bottom-top-10)*(math.Log10(ms)-low)/(high-low)
	}
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" `+
		`font-size="11">`+"\n", width, height)
	fmt.Fprintf(&b, `<title>%s</title><rect width="%d" height="%d" fill="#fff"/><text x="8" y="20" font-size="13">%s: `+
		"exponent %.2f</text>\n", growthTitle, width, height, growthTitle, g.Exponent)
	linear := (first.MS - g.Start) * float64(last.Messages) / float64(first.Messages)
	fmt.Fprintf(&b, `<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#888" stroke-dasharray="3"/>`+"\n",
		x(float64(first.Messages)), y(first.MS-g.Start), x(float64(last.Messages)), y(linear))
	for _, p := range g.Points {
		at, of := x(float64(p.Messages)), y(p.MS-g.Start)
		fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="4" fill="#2f6f4f"/><text x="%.1f" y="%.1f">%s ms</text>`+
			`<text x="%.1f" y="%d" text-anchor="middle">%d</text>`+"\n", at, of, at+7, of+12, figure(p.MS), at,
			height-bottom/2, p.Messages)
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}
