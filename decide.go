package kagewasm

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/internal/learned"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/strategies"
)

// limits holds the figures by which a compaction is decided.
type limits struct {
	strategies.Limits
	// upperShare and lowerShare are the thresholds as fractions of the window.
	upperShare, lowerShare float64
	// quiet is the largest session that starts no compaction.
	quiet    int
	targetOf strategies.TargetOf
}

// maxTokens is the most that a caller can claim, so that sums do not overflow.
const maxTokens = 1 << 40

// roundingError is how much a product of fractions may be off.
const roundingError = 1e-9

// limits returns the figures for a session of so many counted tokens, so many of them in notes of earlier compactions.
// Windows and reserves are in the model's own tokens: scale brings them into counted ones.
func (p *Policy) limits(req *Request, tokens, inNotes int, scale Scale) (limits, error) {
	when := &p.When
	l := limits{upperShare: when.Upper, lowerShare: when.Lower}
	var err error
	if l.Window, err = windowOf(&req.Session, when); err != nil {
		return l, err
	}
	if req.Overhead < 0 || req.Overhead > maxTokens {
		return l, usage("overhead %d: give 0 to %d tokens", req.Overhead, maxTokens)
	}
	if req.OutputReserve < 0 || req.OutputReserve > maxTokens {
		return l, usage("output reserve %d: give 0 to %d tokens", req.OutputReserve, maxTokens)
	}
	reserve := when.OutputReserve + req.OutputReserve
	if reserve >= l.Window || when.ReserveTokens >= l.Window-reserve {
		return l, usage("a reserve of %d and %d tokens leaves nothing of a window of %d",
			reserve, when.ReserveTokens, l.Window)
	}
	l.Window = max(1, scale.counted(l.Window-reserve))
	l.thresholds(when, scale)
	if fits, ok := req.Exceeded.Window(tokens); ok && fits < l.Window {
		l.Window = fits
		l.Upper = min(l.Upper, int(l.upperShare*float64(fits)))
		l.Target = min(l.Target, int(l.lowerShare*float64(fits)))
	}
	l.Lower, l.quiet = int(l.lowerShare*float64(l.Window)), l.Upper
	if share := l.upperShare * float64(l.Window); !when.absolute() && float64(l.Upper) > share-roundingError {
		l.quiet-- // a fraction starts it at the very token
	}
	switch {
	case req.Target == nil:
		if (req.Force || req.Reason == abi.TriggerOverflow) && !req.Overrides.keepsLast() {
			// A note is short already: with a share of it each compaction by hand would let people's words fade.
			if share := inNotes + int(when.Lower*float64(tokens-inNotes)); share < l.Target {
				l.Target, l.targetOf = share, strategies.TargetOfSession
			}
		}
	case *req.Target < 0 || *req.Target > l.Upper:
		return l, usage("target %d: give 0 to %d tokens, the threshold at which the next compaction starts",
			*req.Target, l.Upper)
	default:
		l.Target, l.Asked, l.All = *req.Target, true, *req.Target == 0
		l.targetOf = strategies.TargetNamed
		l.Newest = req.Reason == abi.TriggerOverflow
	}
	return l, nil
}

// windowOf returns the context window of a session, in tokens of its model.
func windowOf(s *abi.Session, when *When) (int, error) {
	switch w := s.ContextWindow; {
	case w == nil && when.StrictWindow && when.MaxTokens == 0:
		e := usage("the context window of model %q is not known", s.Model)
		e.Hint = "say how large it is, or set a number of tokens to start at (max_tokens), or leave strict_window off: " +
			"then 128,000 are used"
		return 0, e
	case w == nil:
		return when.Window(nil), nil
	case *w <= 0:
		return 0, usage("context window %d: it has to be positive", *w)
	case *w > maxTokens:
		return 0, usage("context window %d: give %d tokens at most", *w, maxTokens)
	default:
		return *w, nil
	}
}

// counted brings tokens of the model into counted ones.
func (s Scale) counted(tokens int) int {
	if s.Factor == 1 { // to the token
		return tokens
	}
	return int(float64(tokens) / s.Factor)
}

// Limits returns the window of a session and its thresholds, as the next look at it would have them, in
// counted tokens. The error is one of the policy, or says that the window is not known where it has to
// be.
func (c *Compactor) Limits(s abi.Session) (strategies.Limits, error) {
	policy, err := c.Policy(s)
	if err != nil {
		return strategies.Limits{}, err
	}
	s.ContextWindow = c.window(&s)
	l, err := policy.limits(&Request{Session: s}, 0, 0, scaleOf(&c.opts, &c.scales, s.Model))
	return l.Limits, err
}

// window returns the window of a session, or where nobody knows it the one that a provider named for
// its model.
func (c *Compactor) window(s *abi.Session) *int {
	if s.ContextWindow != nil {
		return s.ContextWindow
	}
	return c.windows.Within(nil, s.Model)
}

// scaleOf returns the scale of a model. One whose counts are exact needs none, and no provider corrects
// it.
func scaleOf(opts *Options, scales *learned.Scales, model string) Scale {
	m := opts.Lookup(model)
	if m.ExactCounts {
		return Scale{Factor: 1}
	}
	factor, calls := scales.At(model, cmp.Or(m.TokenScale, 1))
	return Scale{factor, calls}
}

func (l *look) scale(model string) Scale { return scaleOf(l.opts, l.scales, model) }

// learnScale compares what the provider counted of the last request with what is counted here, and
// corrects the model's scale.
func (l *look) learnScale() error {
	u := l.req.Used
	switch {
	case u == nil:
		return nil
	case u.Messages < 0 || u.Messages > len(l.memo.tokens) || u.Tokens < 0 || u.Tokens > maxTokens:
		return usage("used: %d tokens of %d messages, and there are %d", u.Tokens, u.Messages, len(l.memo.tokens))
	}
	model := l.req.Session.Model
	m := l.opts.Lookup(model)
	if m.ExactCounts {
		return nil
	}
	counted := l.req.Overhead
	for _, n := range l.memo.tokens[:u.Messages] {
		counted += n
	}
	l.scales.Correct(model, cmp.Or(m.TokenScale, 1), counted, u.Tokens)
	return nil
}

// learnWindow keeps the window that a provider named for a model. It is given in counted tokens, and
// kept in tokens of the model.
func (l *look) learnWindow(model string, counted int) {
	l.windows.Learn(model, l.scale(model).reported().Tokens(counted), l.opts.Learned)
}

// thresholds sets the thresholds by the policy's mode: an absolute number of tokens, a number of tokens
// kept free, or fractions of the window.
func (l *limits) thresholds(when *When, scale Scale) {
	l.Upper = int(when.Upper * float64(l.Window))
	l.Target, l.targetOf = int(when.Lower*float64(l.Window)), strategies.TargetOfWindow
	switch share := func() int { return int(float64(l.Upper) * when.Lower / when.Upper) }; {
	case when.MaxTokens > 0:
		l.Upper = min(scale.counted(when.MaxTokens), l.Window)
		l.Target, l.targetOf = share(), strategies.TargetOfThreshold
	case when.ReserveTokens > 0:
		l.Upper = l.Window - scale.counted(when.ReserveTokens)
		if least := share(); least < l.Target {
			l.Target, l.targetOf = least, strategies.TargetOfThreshold
		}
	}
	if when.absolute() { // plugins and reports get fractions in any mode
		l.upperShare = float64(l.Upper) / float64(l.Window)
		l.lowerShare = float64(l.Target) / float64(l.Window)
	}
	l.UpperBytes = when.MaxBytes
	l.TargetBytes = int(float64(when.MaxBytes) * when.Lower / when.Upper)
}

// noted returns the tokens of the notes of earlier compactions.
func noted(list strategies.List) (tokens int) {
	for i := range list.Messages {
		if list.Messages[i].Kind == abi.KindSummary {
			tokens += list.Tokens[i]
		}
	}
	return tokens
}

// due reports whether a compaction is to run: the session is over a threshold, or one was asked for. A
// compaction goes down to the lower threshold, so the next one is not due at once.
func due(l *look, now strategies.List) bool {
	switch {
	case l.req.Force:
		return true
	case l.policy.Disabled, rejected(l):
		return false
	case l.req.Reason != abi.TriggerOverflow && now.Total <= min(l.req.QuietBelow, l.limits.Window):
		return pastBound(l, now)
	case l.req.Reason == abi.TriggerOverflow:
		return true
	case l.req.Reason == abi.TriggerIdle && now.Total > int(l.policy.When.IdleUpper*float64(l.limits.Window)):
		return true
	case now.Total > l.limits.quiet:
		return true
	}
	return pastBound(l, now)
}

// rejected reports whether the person whom the strategy asks said no to this list already: asked at each look, the
// session would never go on.
func rejected(l *look) bool {
	return l.req.Rejected && l.req.Reason != abi.TriggerOverflow && l.policy.Strategy == StrategyCheckpoint
}

// notDue returns why nothing is to be done: the session is too short, a person said no, or the policy is switched off.
func notDue(l *look, now strategies.List) (code abi.ReasonCode, warning string) {
	switch {
	case !l.policy.Disabled && rejected(l):
		if now.Total > l.limits.Window {
			warning = fmt.Sprintf("%d tokens do not fit a window of %d, and the compaction was rejected", now.Total,
				l.limits.Window)
		}
		return abi.ReasonRejected, warning
	case !l.policy.Disabled:
		return abi.ReasonBelowThreshold, ""
	case now.Total > l.limits.Window:
		warning = fmt.Sprintf("%d tokens do not fit a window of %d, and compaction is switched off",
			now.Total, l.limits.Window)
	}
	return abi.ReasonDisabled, warning
}

// gate returns why a compaction that is due is not made, "" where it is to be made. shortened says
// whether anything was cut down for it already.
func gate(l *look, v *strategies.View, shortened bool) (code abi.ReasonCode, warning string, receipt *abi.Receipt) {
	switch {
	case shortened && v.Fits():
		return abi.ReasonBelowThreshold, "", nil
	case !v.WorthTrying():
		return abi.ReasonNothingToSupersede, "", nil
	}
	if hopeless(l) {
		return abi.ReasonNotWorthIt, "", nil // exceeds says why
	}
	if canWait(l, v) && (l.futile() || freesTooLittle(v)) {
		return abi.ReasonNotWorthIt, l.overloaded(v, true), nil
	}
	if receipt = tooDear(l, v); receipt != nil {
		return abi.ReasonNotWorthIt, "", receipt
	}
	return "", "", nil
}

// leastShare is the share of the threshold that a compaction has to have left to remove, to be worth
// trying.
const leastShare = 0.05

// freesTooLittle reports whether what has to stay takes nearly all of the room by itself: tool
// definitions and pinned messages do not shrink. A compaction would then free one message at every
// call, and each time cost a model call and the provider's cache.
func freesTooLittle(v *strategies.View) bool {
	return float64(v.Total-v.Fixed()) < leastShare*float64(v.Upper)
}

// errLittle is the cause where the floor would free next to nothing.
var errLittle = errors.New("nothing is gained")

// littleShare and littleTokens say what is worth nothing: a compaction that frees less than both, the
// first as a share of what there is.
const (
	littleShare  = 0.05
	littleTokens = 50
)

// gainsNothing reports whether a plan frees next to nothing, where nobody named a target and the
// session fits as it is. Messages would then be lost for no room.
func gainsNothing(l *look, v *strategies.View, a *attempt) bool {
	freed := v.Total - a.Tokens
	return l.req.Target == nil && l.req.Reason != abi.TriggerOverflow && v.Total <= l.limits.quiet &&
		freed < littleTokens && float64(freed) < littleShare*float64(v.Total) &&
		(v.UpperBytes == 0 || float64(v.TotalBytes-bytesOf(a.Messages)) < littleShare*float64(v.TotalBytes))
}

// bareNote stands for superseded messages of which nothing else is said.
func bareNote(msgs []abi.Message, gone []string) string {
	goes, example := set.Of(gone...), true
	for i, origin := range abi.Origins(msgs) {
		example = example && (!goes[msgs[i].ID] || origin == abi.FromExample)
	}
	if example {
		return "A demonstration of how to work, on another task, was left out."
	}
	return "Earlier messages were left out."
}

// worthSaying returns how many tokens the host may say of messages that cost so many, earlier notes among them: half.
// An earlier note is short already: it counts whole where as much goes beside it, and enough to be worth a compaction,
// and where somebody compacts by hand.
func worthSaying(cost, earlier, window int, byHand bool) int {
	beside := cost - earlier
	switch {
	case byHand:
		return earlier + beside/2
	case float64(beside) < littleShare*float64(window):
		return cost / 2
	}
	return (cost + min(earlier, beside)) / 2
}

// smallerNote returns the budget for the next, smaller note, after a note of so many tokens got this
// verdict or error. It returns false where a smaller note would not help.
func (p *planner) smallerNote(tokens int, verdict *firewall.Verdict, err error) (budget int, ok bool) {
	switch code := abi.CodeOf(err); {
	case tokens > 0 && code == abi.CodeGrew:
		return tokens / 2, true
	case tokens > 0 && code == abi.CodeOverTarget:
		return tokens * 7 / 8, true // texts count a little more together than alone, so little is missing
	case err != nil || verdict.Met || p.view.All:
		return 0, false
	}
	if past := verdict.Tokens - p.view.Window; past > 0 && past < tokens {
		return tokens - past - noteSlack, true // without the note, or with less of it, the request can be sent
	}
	over := verdict.Tokens - p.view.Target
	ok = over < tokens/2 && (!p.view.Asked || tokens-over >= p.view.LeastNote())
	return tokens - over - noteSlack, ok
}

// smallerRoom parts the tokens of a smaller note: the host keeps its share, and what it had up to half of them.
func smallerRoom(smaller, host, beside int) (int, int) {
	host = min(host, max(smaller*host/max(1, host+beside), smaller/2))
	return host, min(beside, smaller-host)
}

// canWait reports whether nobody asked for a compaction, and the request fits without.
func canWait(l *look, v *strategies.View) bool {
	return !l.req.Force && l.req.Target == nil && l.req.Reason != abi.TriggerOverflow && v.Total <= v.Window &&
		(v.UpperBytes == 0 || v.TotalBytes <= v.UpperBytes)
}

// hopeless reports whether tool definitions alone exceed the window, where nobody asked for a
// compaction: none would make the request fit, and each would only lose messages. Where the provider
// refused the request it knows better what fits, so this is false.
func hopeless(l *look) bool {
	return l.req.Overhead > l.limits.Window && !l.req.Force && l.req.Target == nil && l.req.Reason != abi.TriggerOverflow
}

// overhead describes a request whose tool definitions and the like cost more than a compaction has to
// get down to. No compaction meets its target then, and the next one is due at once.
type overhead struct{ tokens, target, window int }

// overhead returns the overhead of the request, and whether no compaction can meet its target for it.
func (l *look) overhead() (o overhead, ok bool) {
	o = overhead{l.req.Overhead, l.limits.Lower, l.limits.Window}
	return o, o.tokens > o.target
}

// freedLittle reports whether a compaction that left so many tokens is soon followed by another: it got
// less than half way down from the upper threshold to the lower one.
func (l *look) freedLittle(left int) bool { return left > (l.limits.Lower+l.limits.Upper)/2 }

// futile reports whether an earlier compaction has shown that one is of no use, and nothing of what
// made it so has changed. A compaction that has to be, or that somebody asks for, runs all the same.
func (l *look) futile() bool {
	o, over := l.overhead()
	return over && l.memo.futile == o
}

// overloaded returns the warning that what cannot go leaves no room, with what to do about it. waits
// says that compactions are held back for it. The warning about overhead is given once, until the
// overhead changes: then "" is returned.
func (l *look) overloaded(v *strategies.View, waits bool) string {
	o, over := l.overhead()
	switch {
	case !over:
		return fmt.Sprintf("%d of %d tokens cannot go, %d of them for tool definitions and the like: offer fewer tools, "+
			"pin less, or use a model with a larger window", v.Fixed(), v.Total, l.req.Overhead)
	case l.memo.told == o:
		return ""
	case !l.req.DryRun:
		l.memo.told = o
	}
	says := fmt.Sprintf("tool definitions and the like take %d tokens, and a compaction is to get down to %d of %d: "+
		"offer fewer tools, raise the lower threshold, or use a model with a larger window", o.tokens, o.target, o.window)
	if waits {
		if !l.req.DryRun {
			l.memo.futile = o // what is told holds
		}
		says += "; until then the session is compacted where it does not fit or somebody asks for it, and no model is " +
			"asked for a summary"
	}
	return says
}

// exceeds returns the outcome with a warning, and an error, where even the best result does not fit the
// window. Of a result that has more bytes than a request may have it warns.
func exceeds(l *look, o outcome) (outcome, error) {
	after := o.after()
	if after.Total <= l.limits.Window {
		if n := overBytes(l, after); n > 0 {
			o.warning = strings.TrimPrefix(o.warning+"\n"+fmt.Sprintf("%d bytes are left, where a request may have %d "+
				"(max_bytes), and nothing more can go: pin less, leave out media, or allow more", n, l.limits.UpperBytes), "\n")
		}
		return o, nil
	}
	if tools := l.req.Overhead; tools > l.limits.Window {
		const hint = "offer fewer tools, or use a model with a larger window"
		says := fmt.Sprintf("tool definitions and the like take %d tokens, in a window of %d", tools, l.limits.Window)
		o.warning = says + ", and no compaction makes that fit: " + hint
		return o, &abi.Error{Code: abi.CodeExceedsWindow, Op: "compact", Message: says, Hint: hint}
	}
	stands := fmt.Sprintf("%d tokens in %d messages do not fit a window of %d", after.Total, len(after.Messages),
		l.limits.Window)
	if why, hint := notMade(l, o); why != "" {
		o.warning = stands + ", and nothing went: " + why + ": " + hint
		return o, &abi.Error{Code: abi.CodeExceedsWindow, Op: "compact", Message: stands + ": " + why, Hint: hint}
	}
	o.warning = stands + ", and nothing more can go: pin less, shorten the last message, or start a new session"
	return o, &abi.Error{Code: abi.CodeExceedsWindow, Op: "compact",
		Message: fmt.Sprintf("%d tokens that may not go, in a window of %d", after.Total, l.limits.Window),
		Hint:    "pin less, shorten the current turn, or use a model with a larger window"}
}

// notMade returns why no compaction was made though something could go, and what to do about it; "" where nothing
// could.
func notMade(l *look, o outcome) (why, hint string) {
	if o.taken != nil || !l.policy.NoFloor || !o.planned.failed {
		return "", ""
	}
	why = "nobody could make a plan"
	if n := len(o.planned.failures); n > 0 {
		why += " (" + l.bareError(o.planned.failures[n-1]).Error() + ")"
	}
	return why + ", and the floor is switched off", "look at what failed, or switch no_floor off"
}

// reasonCode returns how the plan stage ended.
func reasonCode(l *look, v *strategies.View, o outcome) abi.ReasonCode {
	goal := v.Target
	if v.All {
		// As little as possible was asked for, and is there; it falls short
		// only where that would start the next compaction.
		goal = l.limits.quiet
	}
	switch {
	case o.pre.Cancelled:
		return abi.ReasonCancelledByPlugin
	case o.taken == nil && l.policy.NoFloor && o.planned.failed:
		return abi.ReasonFailed
	case o.taken == nil:
		return abi.ReasonNothingToSupersede
	case o.taken.Tokens <= goal:
		return abi.ReasonCompacted
	case v.All || fixed(l, v, o.taken) > goal:
		return abi.ReasonPinnedExceedTarget
	}
	return abi.ReasonCurrentTurnExceedsTarget
}

// fixed returns the tokens that cannot go: pinned messages with the units they hold, overhead, and what
// was inserted.
func fixed(l *look, v *strategies.View, a *attempt) int {
	n := l.req.Overhead
	for _, u := range v.Units {
		if slices.ContainsFunc(u, func(i int) bool { return v.Pinned[i] }) {
			n += v.UnitTokens(u)
		}
	}
	for i := range a.Messages {
		if slices.Contains(a.Inserted, a.Messages[i].ID) {
			n += a.Cost[i]
		}
	}
	return n
}
