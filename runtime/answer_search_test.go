package runtime_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/internal/cost"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/runtime"
)

// What reading an answer may cost its host, for each byte of it.
const (
	maxAnswerTime  = 2 * time.Microsecond
	maxAnswerBytes = 40
)

// TestAnswersCostTheirLength looks for answers that cost their host more than their
// length allows: documents that repeat pieces of answers, at any place in them.
func TestAnswersCostTheirLength(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	deadline := time.Now().Add(time.Duration(soak.Count(1, 10, 1_200)) * 500 * time.Millisecond)
	var worst [2]struct {
		cost float64
		doc  string
	}
	tried := 0
	for ; tried < soak.Count(40, 1_000, 1_000_000) && time.Now().Before(deadline); tried++ {
		doc := drawAnswer(rng, 32<<10<<rng.IntN(soak.Count(2, 4, 7)))
		costs := readingCosts(doc)
		for range 2 { // the machine does other things too
			if costs[0] <= worst[0].cost && costs[1] <= worst[1].cost {
				break
			}
			again := readingCosts(doc)
			costs = [2]float64{min(costs[0], again[0]), min(costs[1], again[1])}
		}
		for i := range worst {
			if costs[i] > worst[i].cost {
				worst[i].cost, worst[i].doc = costs[i], doc
			}
		}
	}
	t.Logf("%d answers", tried)
	for i, most := range []float64{float64(maxAnswerTime), maxAnswerBytes} {
		w := worst[i]
		report := t.Logf
		if w.cost > most {
			report = t.Errorf
		}
		report("%.1f %s a byte, %v allowed: %d bytes of %.200s", w.cost, []string{"ns", "bytes"}[i], most, len(w.doc), w.doc)
	}
}

// readingCosts is the processor time and the memory that it takes to read an answer,
// for each byte of it.
func readingCosts(doc string) [2]float64 {
	data := []byte(doc)
	took, allocated := cost.Of(func() { _, _, _ = runtime.DecodeOutput(data) })
	n := float64(len(doc))
	return [2]float64{float64(took) / n, float64(allocated) / n}
}

// answerPlaces are where pieces may be repeated in an answer, and what may stand there.
var answerPlaces = []struct{ begin, end string }{
	{`{"messages":[`, `{"ref":"m"}]}`}, {`{"retain":[`, `""]}`}, {`{"always_keep":[`, `""]}`}, {`{"x":[`, `1]}`},
	{`{`, `"x":1}`},
	{`{"messages":[{"ref":"m","content":[`, `""]}]}`}, {`{"messages":[{"ref":"m","tool_calls":[`, `{}]}]}`},
	{`{"messages":[{"ref":"m","tool_calls":[{"arguments":[`, `1]}]}]}`}, {`{"messages":[{"ref":"m","meta":{`, `"x":1}}]}`},
	{`{"messages":[{"ref":"m","raw":[`, `1]}]}`}, {`{"summary":"`, `"}`}, {`{"messages":[{"ref":"m","content":"`, `"}]}`},
}

var answerPieces = []string{
	`{},`, `[],`, `"",`, `1,`, `null,`, `{"ref":""},`, `{"id":"a"},`, `{"role":"user","content":[""]},`,
	`{"ref":"a","meta":{"a":1}},`, `{"ref":"a","tool_calls":[{}]},`,
	`{"ref":"a","content":["",{"type":"text","text":"\n"}]},`,
	`{"id":"a","arguments":{}},`, `{"arguments":[[]]},`, `{"type":"text","text":"a"},`, `{"text":"\u00e4","text":"b"},`,
	`"\n",`, `"%d":1,`, `"\u0061%d":[],`, `"A%d":{},`, `\n`, `\ud83d\ude00`, `ä`, ` `, `{"a":{"b":[1e10,true]}},`,
}

// drawAnswer draws an answer of about n bytes.
func drawAnswer(rng *rand.Rand, n int) string {
	place := answerPlaces[rng.IntN(len(answerPlaces))]
	var unit []string
	for range 1 + rng.IntN(3) {
		unit = append(unit, answerPieces[rng.IntN(len(answerPieces))])
	}
	var b strings.Builder
	b.WriteString(place.begin)
	for i := 0; b.Len() < n; i++ {
		piece := unit[i%len(unit)]
		if strings.Contains(piece, "%d") {
			piece = fmt.Sprintf(piece, i)
		}
		b.WriteString(piece)
	}
	return b.String() + place.end
}
