package ui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/store"
)

// The chart's own units; the page stretches it.
const chartWidth, chartHeight = 1000, 200

// chart is how the context of a session grew and was compacted, message by message. The
// server draws it: a picture needs no script, follows the page's colours and can be read
// out.
type chart struct {
	Area, Line   string // paths
	Upper, Lower int    // heights of the thresholds, -1 where they are off the chart
	Window       int
	Drops        []drop
	Messages     int
	Most         int // tokens at its highest
}

// drop is a compaction on the chart.
type drop struct {
	X, From, To int
	Record      *store.Record
}

// chartOf draws a session. Between two compactions tokens grow with the length of the
// messages, so that they come to what was counted.
func chartOf(lines []store.Line, records []store.Record, g *gauge) *chart {
	in := slices.DeleteFunc(slices.Clone(records), func(r store.Record) bool { return !r.InForce || r.Seq == 0 })
	points, drops := sawtooth(lines, in, g.Tokens)
	if points[len(points)-1].x == 0 {
		return nil
	}
	c := &chart{Messages: int(points[len(points)-1].x), Upper: -1, Lower: -1, Window: -1}
	for _, p := range points {
		c.Most = max(c.Most, int(p.y))
	}
	top := float64(c.Most) * 1.12
	if g.Upper > 0 && float64(g.Upper) < 3*top {
		top = max(top, float64(g.Upper)*1.08)
	}
	x := func(at float64) float64 { return at / float64(c.Messages) * chartWidth }
	y := func(tokens float64) float64 { return chartHeight - tokens/max(1, top)*chartHeight }
	for at, limit := range map[*int]int{&c.Upper: g.Upper, &c.Lower: g.Lower, &c.Window: g.Window} {
		if limit > 0 && float64(limit) <= top {
			*at = int(y(float64(limit)))
		}
	}
	var line strings.Builder
	for i, p := range thinned(points) {
		fmt.Fprintf(&line, "%c%.1f %.1f", "ML"[min(i, 1)], x(p.x), y(p.y))
	}
	c.Line = line.String()
	c.Area = fmt.Sprintf("%sL%d %dL0 %dZ", c.Line, chartWidth, chartHeight, chartHeight)
	for _, d := range drops {
		c.Drops = append(c.Drops, drop{X: int(x(d.x)), From: int(y(float64(d.record.TokensBefore))),
			To: int(y(float64(d.record.TokensAfter))), Record: d.record})
	}
	return c
}

type point struct {
	x, y float64
	keep bool // thinning leaves it
}

type fall struct {
	x      float64
	record *store.Record
}

// rolledBack is what stands for a compaction where a rollback took a message away.
const rolledBack = "rollback"

// bytesPerToken is assumed where nobody has counted.
const bytesPerToken = 4

// sawtooth are the tokens behind each message that arrived, and behind each compaction.
func sawtooth(lines []store.Line, records []store.Record, now int) (points []point, falls []fall) {
	points = []point{{keep: true}}
	level, n, i := 0.0, 0, 0
	grow := func(upTo int, scale float64) {
		for ; i < len(lines) && (upTo < 0 || lines[i].Seq < upTo); i++ {
			if lines[i].By != rolledBack {
				level, n = level+float64(lines[i].Bytes)*scale, n+1
				points = append(points, point{x: float64(n), y: level})
			}
		}
	}
	for r := range records {
		rec := &records[r]
		grow(rec.Seq, scaleOf(lines[i:], rec.Seq, level, rec.TokensBefore))
		level = float64(rec.TokensBefore)
		points = append(points, point{float64(n), level, true}, point{float64(n), float64(rec.TokensAfter), true})
		level = float64(rec.TokensAfter)
		falls = append(falls, fall{float64(n), rec})
		for i < len(lines) && lines[i].Seq == rec.Seq { // its note is counted
			i++
		}
	}
	scale := scaleOf(lines[i:], -1, level, now)
	if float64(now) <= level {
		scale = 1.0 / bytesPerToken
	}
	grow(-1, scale)
	points[len(points)-1].keep = true
	return points, falls
}

// scaleOf is how many tokens a byte is, such that the messages before an entry bring the
// level to what was counted.
func scaleOf(lines []store.Line, upTo int, level float64, counted int) float64 {
	sum := 0.0
	for _, l := range lines {
		if upTo >= 0 && l.Seq >= upTo {
			break
		}
		if l.By != rolledBack {
			sum += float64(l.Bytes)
		}
	}
	if sum == 0 || float64(counted) <= level {
		return 0
	}
	return (float64(counted) - level) / sum
}

// maxPoints is how many a line has: more would not be seen.
const maxPoints = 600

func thinned(points []point) []point {
	if len(points) <= maxPoints {
		return points
	}
	step := len(points)/maxPoints + 1
	var few []point
	for i, p := range points {
		if p.keep || i%step == 0 {
			few = append(few, p)
		}
	}
	return few
}
