package strategies

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

// written is a summary that was written. With an error it has what was spent and tried.
type written struct {
	// Summary is the text, without a frame.
	Summary string
	// Usage is that of all calls, failed and refused ones too.
	Usage abi.ModelUsage
	// Model is the name of the model that answered, or else the alias asked for.
	Model string
	// Attempts are the calls in order: for each try those for the history, then those for the turn's
	// first part.
	Attempts []attempt
	// SplitTurn: the turn in which the cut falls has a part of its own.
	SplitTurn bool
	// Chunks is the number of parts in which the history was read.
	Chunks int
	// Window is the window that the provider named for the model, in tokens; 0 for none.
	Window int
	// ToolResultChars is how many characters of a tool result were shown in the last try.
	ToolResultChars int
	// Refused says why the last answer for a part of a split turn was refused. Summary lacks that part.
	Refused []*abi.Error
}

// attempt is one model call.
type attempt struct {
	// What was asked: "history 1/3, 200 characters of a result".
	What string
	// Code is empty where the answer was used.
	Code abi.Code
}

// write asks the model for the summary of what was prepared, and returns it.
//
// A request that was too long, an answer that is no good and a model that fails are tried again with less
// of the tool results, the whole sequence each time, until that cannot help or is not worth the wait. What
// the provider says that it takes bounds the requests of the tries that follow. The error is an
// *abi.Error: bad_summary, context_length, canceled, deadline, or what the model said.
func (p *preparation) write(ctx context.Context, m abi.Model, cfg summary) (written, error) {
	s := &summaryRun{model: careful{m}, ready: p, cfg: cfg, count: p.view.Count.Text, input: cfg.input(),
		good: make(map[string]*part), refused: make(map[string]string), asked: make(map[string]int)}
	w := written{Model: cfg.Model, SplitTurn: p.SplitTurn}
	var err error
	for levels := cfg.levels(); len(levels) > 0; levels = s.shorter(levels, err) {
		w.ToolResultChars = levels[0]
		if w.Summary, err = s.try(ctx, levels[0], &w); err == nil || !s.goesOn(ctx, err) {
			break
		}
	}
	if half := s.half(); err != nil && worthAnother(err) && half != "" {
		e := abi.AsError(err)
		e.Hint = "the summary is of the other part; the host's note tells what can be read off this one"
		w.Summary, w.Refused, err = half, []*abi.Error{e}, nil
	}
	return w, err
}

// careful returns an error where the model panics: the model is the host's code, and runs in goroutines
// where the host could not recover.
type careful struct{ abi.Model }

func (c careful) Complete(ctx context.Context, r abi.ModelRequest) (_ abi.ModelResponse, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &abi.Error{Code: abi.CodeModel, Op: summarizeName, Message: fmt.Sprintf("the model panicked: %v", v),
				Hint: "a fault of the host's model"}
		}
	}()
	return c.Model.Complete(ctx, r)
}

// summaryRun is one summary that is being written.
type summaryRun struct {
	model    abi.Model
	ready    *preparation
	cfg      summary
	count    func(string) int
	input    int  // the bound of a request
	window   int  // tokens that the provider said the model takes, where it did
	last     bool // the last level is tried once more
	overflow int  // tokens of the shortest transcript that was too long all the same
	room     int  // tokens for thinking, once the model was seen to need them
	// good are parts whose answer was taken, refused is why the last answer of
	// others was not; by name.
	good    map[string]*part
	refused map[string]string
	asked   map[string]int // requests of each part in the last try
	// failed is why the model failed in the last try, which showed so many bytes of the session; lost is how long the
	// calls took in which it failed.
	failed error
	shown  int
	lost   time.Duration
}

// goesOn reports whether the summary is tried again with less of the tool results.
func (s *summaryRun) goesOn(ctx context.Context, err error) bool {
	return ctx.Err() == nil && worthAnother(err) && s.lost < patience
}

// shorter returns the levels to try after the first of them failed: where the provider said what it takes from the
// one on that fits it in as many requests as before. Where none does more requests are made of what is next, or once of
// the last one again, and room for the answer is left in each.
func (s *summaryRun) shorter(levels []int, err error) []int {
	left := levels[1:]
	if s.window == 0 {
		return left
	}
	for i, chars := range left {
		if s.fits(chars) {
			return left[i:]
		}
	}
	s.input = min(s.input, s.cfg.input())
	if len(left) == 0 && isTooLong(err) && !s.last {
		s.last = true
		return levels
	}
	return left
}

// fits reports whether the parts take no more requests than before, with so many characters of each tool result.
func (s *summaryRun) fits(chars int) bool {
	return !slices.ContainsFunc(s.parts(chars), func(p *part) bool {
		if s.good[p.name] == p {
			return false
		}
		list, err := p.divide()
		return err != nil || len(list) > s.asked[p.name]
	})
}

// bound takes over what the provider said that the model takes, as it refused a part. Where it said that of the request
// alone, no room is left for the answer: it may have a limit of its own.
func (s *summaryRun) bound(p *part) {
	if p.stated == 0 {
		return
	}
	if s.window == 0 || p.stated < s.window {
		s.window = p.stated
		s.cfg.bound(s.window)
	}
	if s.input = min(s.input, s.window); p.whole {
		s.input = max(1, min(s.input, s.window-s.cfg.limit()))
	}
}

// again reports whether the parts show what the last try showed too. A model that failed is not asked the
// same again: that was done where it is called.
func (s *summaryRun) again(parts []*part) bool {
	shown := 0
	for _, p := range parts {
		shown += p.shown
	}
	same := s.failed != nil && shown == s.shown
	s.shown = shown
	return same
}

// try makes the summary once, with so many characters of each tool result.
func (s *summaryRun) try(ctx context.Context, chars int, w *written) (string, error) {
	parts := s.parts(chars)
	if s.again(parts) {
		return "", s.failed
	}
	err := s.readAll(ctx, parts)
	if s.failed = nil; passes(err) {
		s.failed = err
	}
	var texts []string
	var lost time.Duration
	for _, p := range parts {
		if s.good[p.name] != p {
			w.add(p)
		}
		s.judged(p)
		s.room, lost = max(s.room, p.room), max(lost, p.lost)
		texts = append(texts, p.text)
		s.bound(p)
		if n := p.refusedAt; n > 0 && (s.overflow == 0 || n < s.overflow) {
			s.overflow = n
		}
	}
	w.Window = s.window
	if s.lost += lost; err != nil {
		return "", err
	}
	w.Chunks = parts[0].asked
	body := strings.Join(texts, turnHeading)
	if s.ready.Alone {
		body = turnContext + body
	}
	j := rules{cap: s.cfg.limit(), replaced: s.ready.Replaced, count: s.count}
	if n := s.count(body); n > j.cap || n >= j.replaced {
		clear(s.good) // each by itself was no good for the whole
		return "", j.refuse("its parts together had %d tokens, for %d at most", n, min(j.cap, j.replaced-1))
	}
	return body, nil
}

// half returns the summary of one part of a split turn where the other's was refused: the history's, or
// the turn's below what the summary before said. It is empty where neither was accepted.
func (s *summaryRun) half() string {
	if p := s.good[historyPart]; p != nil {
		return p.text
	}
	p := s.good[prefixPart]
	if p == nil {
		return ""
	}
	turn := turnHeading + p.text
	return strings.TrimSpace(within(s.ready.Previous, max(0, s.cfg.limit()-s.count(turn)), s.count) + turn)
}

// judged records whether a part's summary is good, so that it is not asked for again where the other
// part has to be.
func (s *summaryRun) judged(p *part) {
	delete(s.refused, p.name)
	s.asked[p.name] = p.asked
	if p.err == nil && p.text != "" {
		s.good[p.name] = p
	} else if why := errors.Unwrap(p.err); why != nil && abi.CodeOf(p.err) == abi.CodeBadSummary {
		s.refused[p.name] = why.Error()
	}
}

// readAll reads the parts side by side, or one after the other. A failure that
// ends it all ends the other part too, and is the error.
func (s *summaryRun) readAll(ctx context.Context, parts []*part) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	read := func(p *part) {
		if s.good[p.name] == p {
			return
		}
		defer func() { // the counter is the host's code, and nobody else recovers in a goroutine
			if v := recover(); v != nil {
				p.err = &abi.Error{Code: abi.CodeInternal, Op: summarizeName, Message: fmt.Sprintf("the request panicked: %v", v),
					Hint: "a fault of the host or of its token counter"}
				cancel(p.err)
			}
		}()
		if p.text, p.err = p.read(ctx); p.err != nil && !worthAnother(p.err) {
			cancel(p.err)
		}
	}
	if s.cfg.Serial {
		for _, p := range parts {
			read(p)
		}
	} else {
		var wg sync.WaitGroup
		for _, p := range parts {
			wg.Go(func() { read(p) })
		}
		wg.Wait()
	}
	if fatal, ok := errors.AsType[*abi.Error](context.Cause(ctx)); ok {
		return fatal
	}
	for _, p := range parts {
		if p.err != nil {
			return p.err
		}
	}
	return nil
}

func (w *written) add(p *part) {
	w.Usage.Calls += p.usage.Calls
	w.Usage.InputTokens += p.usage.InputTokens
	w.Usage.OutputTokens += p.usage.OutputTokens
	w.Usage.Cost += p.usage.Cost
	w.Attempts = append(w.Attempts, p.attempts...)
	w.Model = cmp.Or(p.answered, w.Model)
}
