package strategies

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

// part is one of the two summaries of a split turn, or the only one: a
// sequence of requests, each answer feeding the next.
type part struct {
	*summaryRun
	name     string
	rules    rules
	question question // what all its requests have in common
	chunks   int
	entries  []entry
	lead     []string // messages that stay, shown with the first entry
	what     string   // how the tool results are shown

	text      string
	err       error
	asked     int // requests of the sequence
	usage     abi.ModelUsage
	answered  string // the name of the model
	attempts  []attempt
	refusedAt int           // tokens of a transcript that was too long
	stated    int           // tokens that the provider said the model takes
	whole     bool          // those of the answer are among them
	room      int           // tokens of an answer for thinking, beside the summary
	shown     int           // bytes of the session
	lost      time.Duration // with calls in which the model failed
}

// The names of parts.
const (
	historyPart = "history"
	prefixPart  = "turn prefix"
)

// parts returns the parts to be written: the history and, of a split turn, its first part.
func (s *summaryRun) parts(chars int) []*part {
	t := transcript{messages: s.ready.view.Messages, chars: chars}
	limit := s.cfg.limit()
	if s.ready.Alone {
		prefix := s.part(prefixPart, limit-s.count(turnContext)-between, chars)
		prefix.chunks = s.cfg.chunks()
		prefix.question.todo = s.ready.Todo
		prefix.question.previous = strings.TrimPrefix(s.ready.Previous, turnContext)
		prefix.show(t, s.ready.task)
		prefix.show(t, s.ready.request)
		prefix.units(t, s.ready.TurnPrefix)
		return []*part{prefix}
	}
	prefixLimit := 0
	if s.ready.SplitTurn {
		prefixLimit = limit / 3
		limit -= prefixLimit + s.count(turnHeading) + between
	}
	history := s.part(historyPart, limit, chars)
	history.chunks = s.cfg.chunks()
	history.question.previous, history.question.todo = s.ready.Previous, s.ready.Todo
	history.show(t, s.ready.task)
	if !s.ready.SplitTurn {
		history.show(t, s.ready.request)
	}
	history.units(t, s.ready.History)
	if !s.ready.SplitTurn {
		return []*part{history}
	}
	prefix := s.part(prefixPart, prefixLimit, chars)
	prefix.show(t, s.ready.request)
	prefix.units(t, s.ready.TurnPrefix)
	return []*part{s.orGood(history), s.orGood(prefix)}
}

// part returns a part, of limit tokens at most, that reads nothing yet.
func (s *summaryRun) part(name string, limit, chars int) *part {
	system, o := s.cfg.system()
	if name == prefixPart {
		system, o = s.cfg.turnSystem(s.ready.Alone)
	}
	limit = max(1, limit)
	return &part{summaryRun: s, name: name, room: s.room, chunks: 1,
		what:  fmt.Sprintf("%d characters of a result", chars),
		rules: rules{outline: o, cap: limit, replaced: s.ready.Replaced, count: s.count},
		question: question{
			system: system, focus: headTail(s.cfg.focus, maxFocus), words: wordsIn(limit), kept: s.cfg.tellsKept(),
			refused: s.refused[name],
		},
	}
}

// orGood returns the part that an earlier try wrote and that was accepted, or else p.
func (s *summaryRun) orGood(p *part) *part {
	if taken := s.good[p.name]; taken != nil {
		return taken
	}
	return p
}

// show has the model read a message that stays.
func (p *part) show(t transcript, i int) {
	if i >= 0 {
		p.lead = append(p.lead, t.kept(i))
	}
}

func (p *part) units(t transcript, units []abi.Unit) {
	for _, u := range units {
		if text := t.unit(u); text != "" {
			p.entries = append(p.entries, entry{text: strings.Join(append(p.lead, text), "\n\n")})
			p.shown += len(text)
			p.lead = nil
		}
	}
}

// divide returns the texts of the requests of the sequence.
func (p *part) divide() ([]string, error) {
	budget, err := p.fit()
	if err != nil {
		return nil, err
	}
	list := chunks(p.entries, max(p.chunks, (p.size()+budget-1)/budget), budget)
	if p.asked = len(list); p.asked > p.requests() {
		why := ""
		if p.overflow > 0 {
			why = fmt.Sprintf(": the model refused one of %d", p.overflow)
		}
		return nil, tooLong(nil, "%s: it takes %d requests of at most %d tokens of the session each, and at most %d are "+
			"made%s", p.name, p.asked, budget, p.requests(), why)
	}
	return list, nil
}

// read returns the summary of the part, asked for chunk by chunk.
func (p *part) read(ctx context.Context) (string, error) {
	list, err := p.divide()
	if err != nil {
		return "", err
	}
	q := p.question
	q.todo = ""
	q.parts = len(list)
	var answer string
	for i, c := range list {
		q.part, q.conversation = i+1, c
		if q.part == q.parts {
			q.todo = p.question.todo
		}
		if answer, err = p.ask(ctx, q); err != nil {
			return "", err
		}
		q.previous = within(answer, p.previousBudget(), p.count)
	}
	return answer, nil
}

// maxRequests is the most requests of a sequence, unless more steps are configured: a history of so many windows is
// better cut than read for an hour.
const maxRequests = 32

// requests is the most requests of the sequence.
func (p *part) requests() int { return max(maxRequests, p.chunks) }

// minBudget is the least number of tokens that is worth a request.
const minBudget = 64

// previousBudget returns how many tokens of a request the summary so far may take.
func (p *part) previousBudget() int { return p.input / 4 }

// fit shortens what does not fit a request, and returns how many tokens of the transcript fit.
func (p *part) fit() (budget int, err error) {
	q := &p.question
	q.todo, q.focus = within(q.todo, p.input/8, p.count), within(q.focus, p.input/8, p.count)
	q.previous = within(q.previous, p.previousBudget(), p.count)
	for i := range p.entries {
		p.entries[i].tokens = p.count(p.entries[i].text)
	}
	budget = p.budget(*q)
	if p.chunks == 1 && p.size() <= min(budget, p.bound()) {
		return budget, nil
	}
	// There will be several requests, and from the second on a summary.
	next := *q
	next.parts, next.part = p.requests(), p.requests()
	next.previous = cmp.Or(next.previous, "x")
	budget = p.budget(next) - max(0, min(p.rules.cap, p.previousBudget())-p.count(next.previous))
	if budget < minBudget {
		return budget, tooLong(errNoBudget, "a request of %d tokens leaves %d for the transcript", p.input, max(0, budget))
	}
	budget = max(minBudget, min(budget, p.bound()))
	for i := range p.entries {
		if e := &p.entries[i]; e.tokens > budget-between {
			e.text = within(e.text, budget-between, p.count)
			e.tokens = p.count(e.text)
		}
	}
	return budget, nil
}

// size returns the tokens of the transcript.
func (p *part) size() int {
	n := 0
	for _, e := range p.entries {
		n += e.tokens + between
	}
	return n
}

// bound returns the most tokens of a transcript to send at once after one was too long: half of that
// one, where shorter tool results do not make much of a difference. Where that would take more requests
// than are made it is more than half, so that the number of requests is enough: that is worth trying
// before the session is not read at all.
func (p *part) bound() int {
	less := p.overflow * 9 / 10
	if p.overflow == 0 || p.size()/p.chunks <= less {
		return math.MaxInt
	}
	if n := p.size() * 10 / (9 * p.requests()); n <= less { // no request is quite full
		return max(p.overflow/2, n)
	}
	return p.overflow / 2
}

// budget returns how many tokens a question leaves for the transcript, with some to spare: the counts
// of parts do not quite add up to that of the whole.
func (p *part) budget(q question) int {
	q.conversation = "x"
	return (p.input - q.tokens(p.count)) * 19 / 20
}

// ask makes one request, and checks the answer.
func (p *part) ask(ctx context.Context, q question) (string, error) {
	a := attempt{What: p.name}
	if q.parts > 1 {
		a.What = fmt.Sprintf("%s %d/%d", p.name, q.part, q.parts)
	}
	a.What += ", " + p.what
	text, err := p.call(ctx, q)
	a.Code = abi.CodeOf(err)
	p.attempts = append(p.attempts, a)
	return text, err
}

func (p *part) call(ctx context.Context, q question) (string, error) {
	if ctx.Err() != nil {
		return "", failure(ctx, ctx.Err())
	}
	if size := q.tokens(p.count); size > p.input {
		return "", tooLong(nil, "a request of %d tokens, %d allowed", size, p.input)
	}
	start := time.Now()
	resp, err := p.complete(ctx, q)
	if err == nil && p.room == 0 && onlyThought(resp) {
		p.room = thinkingRoom
		resp, err = p.complete(ctx, q)
	}
	p.answered = cmp.Or(resp.Model, p.answered) // a failed call may say it too
	if err == nil {
		return p.rules.accept(resp, q.conversation)
	}
	e := failure(ctx, err)
	if passes(e) {
		p.lost += time.Since(start)
	}
	if isTooLong(e) {
		p.refusedAt = p.count(q.conversation)
		p.stated, p.whole = stated(err, q.tokens(p.count), p.answer(q))
	}
	return "", e
}

// thinkingRoom is how many tokens a model that thinks gets beside the summary, once it has shown that
// it does: providers count what it thinks as part of its answer.
const thinkingRoom = 16 << 10

// onlyThought reports whether an answer was cut off before it began.
func onlyThought(resp abi.ModelResponse) bool {
	text := unwrap(resp.Text)
	return resp.StopReason == abi.StopLength && (text == "" || strings.HasPrefix(text, "<think"))
}

// answer returns the most tokens of an answer, those for thinking included.
func (p *part) answer(q question) int {
	return p.rules.cap + max(0, min(p.room, p.input-q.tokens(p.count)))
}

// complete asks the model once.
func (p *part) complete(ctx context.Context, q question) (abi.ModelResponse, error) {
	p.usage.Calls++
	resp, err := p.model.Complete(ctx, abi.ModelRequest{
		Model: p.cfg.Model, System: q.system, Prompt: q.prompt(),
		MaxTokens: p.answer(q),
	})
	p.usage.InputTokens += resp.InputTokens
	p.usage.OutputTokens += resp.OutputTokens
	p.usage.Cost += resp.Cost
	return resp, err
}
