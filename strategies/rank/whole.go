package rank

// The common constants, for whole texts: where a page stands beside a line, it
// must hold more.
const (
	wholeK1 = 1.2
	wholeB  = 0.75
)

// whole scores texts by their own words as a whole: plain BM25, without parts and surroundings. In long
// texts that say themselves what they are about it is as good a guide as the best part, and misled by
// other things.
type whole struct {
	texts   []text
	share   float64 // of a score
	average float64 // length of a text
	scores  []float64

	// Of one term:
	holders []int32
	counts  []float64
}

func newWhole(ix *Index, share float64) (w whole) {
	if share <= 0 || len(ix.texts) == 0 {
		return w
	}
	w.texts, w.scores = ix.texts, make([]float64, len(ix.texts))
	for _, t := range ix.texts {
		w.average += float64(t.length)
	}
	w.average = max(1, w.average/float64(len(ix.texts)))
	long := w.average / (w.average + ownTerms)
	w.share = share * long * long
	return w
}

// count notes how often the term stands in a text.
func (w *whole) count(text int32, count float64) {
	if w.share > 0 {
		w.holders, w.counts = append(w.holders, text), append(w.counts, count)
	}
}

// add adds what the term that was counted gives.
func (w *whole) add(weight float64) {
	for k, i := range w.holders {
		f, norm := w.counts[k], 1-wholeB+wholeB*float64(w.texts[i].length)/w.average
		w.scores[i] += weight * f * (wholeK1 + 1) / (f + wholeK1*norm)
	}
	w.holders, w.counts = w.holders[:0], w.counts[:0]
}

// mix makes these scores their share of all.
func (w *whole) mix(scores []float64) {
	for i := range w.scores {
		scores[i] += w.share * (w.scores[i] - scores[i])
	}
}
