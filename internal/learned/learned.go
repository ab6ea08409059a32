// Package learned keeps what providers say of their models: how much a model takes, and how
// many tokens it makes of a text. It holds for all sessions of a program.
package learned

import "sync"

// Windows are windows of models that were learned from refusals, in the models' own tokens.
// The smallest holds. The zero value knows none.
type Windows struct {
	mu sync.Mutex
	of map[string]int
}

// Learn takes a window over and tells heard, where that is set, of one that was not known.
func (w *Windows) Learn(model string, tokens int, heard func(string, int)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if was, known := w.of[model]; model == "" || tokens <= 0 || known && was <= tokens {
		return
	}
	if heard != nil {
		heard(model, tokens)
	}
	if w.of == nil {
		w.of = make(map[string]int)
	}
	w.of[model] = tokens
}

// Within is the smaller one of a window and the learned one; nil where neither is known.
func (w *Windows) Within(window *int, model string) *int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n, known := w.of[model]; known && (window == nil || n < *window) {
		return &n
	}
	return window
}

// What corrects an estimate, and how far it goes. A small request is mostly what the host
// does not see: the provider's own instructions, the form that tools are written in.
const (
	leastUsed            = 20_000
	minScaled, maxScaled = 0.75, 1.5
	followed             = 0.2 // the weight of a request that took less than was estimated
	leastBelieved        = 0.5
)

// Took is how many tokens of the model a request took, by what its provider reports and what was counted of it.
// Published is what holds without. Who reports less than half of that leaves something out, such as what came from a
// cache: it is not believed. Else it counts, and never for less than what corrects an estimate.
func Took(published float64, counted, reported int) (tokens int, believed bool) {
	estimate := published * float64(counted)
	if float64(reported) < leastBelieved*estimate {
		return 0, false
	}
	return max(reported, int(minScaled*estimate)), true
}

// Scales say how many tokens of a model stand for one that is counted. The zero value knows
// none.
type Scales struct {
	mu sync.Mutex
	of map[string]scale
}

type scale struct {
	factor float64
	calls  int
}

// Correct takes a request into account that took tokens of the model where so many were
// counted, where that is to be believed. One that took more counts in full: an estimate that is too
// small ends in a refusal.
func (s *Scales) Correct(model string, published float64, counted, tokens int) {
	if model == "" || counted < leastUsed || tokens <= 0 {
		return
	}
	took, believed := Took(published, counted, tokens)
	if !believed {
		return
	}
	seen := min(float64(took)/float64(counted), maxScaled*published)
	s.mu.Lock()
	defer s.mu.Unlock()
	now, known := s.of[model]
	if !known {
		now.factor = published
	}
	now = scale{max(seen, now.factor+followed*(seen-now.factor)), now.calls + 1}
	if s.of == nil {
		s.of = make(map[string]scale)
	}
	s.of[model] = now
}

// At is the scale of a model of which so much is published, and how many requests
// corrected that.
func (s *Scales) At(model string, published float64) (factor float64, calls int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known, ok := s.of[model]; ok {
		return known.factor, known.calls
	}
	return published, 0
}
