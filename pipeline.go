package kagewasm

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/strategies/redact"
)

// Compact looks at a session before a model call and makes it smaller where it
// has to. It always completes. The error, an *abi.Error, is non-nil for
//
//   - a request or a policy that makes no sense (usage): there is no result;
//   - a canceled context (canceled) or a commit that failed (commit): the result
//     holds the session as it was, and the report what happened;
//   - a session that is larger than the window itself though all went that may
//     go (exceeds_window): the result is the best that can be, and committed;
//   - a request the provider refused as too long where the floor is switched off
//     and nobody else can compact (no_compactor).
func (c *Compactor) Compact(ctx context.Context, req Request) (*Result, error) {
	p, err := c.begin(ctx, &req)
	if p == nil {
		return nil, err
	}
	defer p.end()
	if err != nil {
		return p.unchanged(abi.ReasonCancelled), err
	}
	p.lighten()
	switch {
	case !p.due():
		return p.notDue(), nil
	case p.pruneOnly():
		return p.pruned()
	}
	p.audit(EventTriggered, nil, nil)
	result, err := p.compact(ctx)
	p.audited(result, err)
	return result, err
}

// notDue is the result where nothing is to be done yet, or by a policy that is
// switched off.
func (p *pass) notDue() *Result {
	if !p.policy.Disabled {
		return p.unchanged(abi.ReasonBelowThreshold)
	}
	if p.total > p.limits.window {
		p.report.Warning = fmt.Sprintf("%d tokens do not fit a window of %d, and compaction is switched off", p.total, p.limits.window)
	}
	return p.unchanged(abi.ReasonDisabled)
}

// compact is the part of the pipeline that follows the decision.
func (p *pass) compact(ctx context.Context) (*Result, error) {
	if p.req.Ongoing {
		p.holdOpenCalls()
	}
	if p.makeRoom() && p.view().Fits() {
		return p.unchanged(abi.ReasonBelowThreshold), nil
	}
	if !p.worthTrying() {
		result := p.unchanged(abi.ReasonNothingToSupersede)
		return result, p.exceedsWindow(result)
	}
	if p.freesTooLittle() || !p.paysBack() {
		return p.unchanged(abi.ReasonNotWorthIt), nil
	}
	if err := p.setRedactor(); err != nil {
		return p.unchanged(abi.ReasonNothingToSupersede), err
	}
	pre := p.preCompact(ctx)
	verdict := p.plan(ctx, pre)
	if err := canceled(ctx); err != nil {
		result := p.unchanged(abi.ReasonCancelled)
		p.postCompact(context.WithoutCancel(ctx), result)
		return result, err
	}
	if verdict == nil {
		code := abi.ReasonNothingToSupersede
		if pre.Cancelled {
			code = abi.ReasonCancelledByPlugin
		}
		result := p.unchanged(code)
		p.postCompact(ctx, result)
		return result, p.exceedsWindow(result)
	}
	result := p.apply(verdict)
	if p.policy.Strategy == StrategyCheckpoint && !p.req.DryRun {
		return p.pending(result), nil
	}
	err := p.commit(context.WithoutCancel(ctx), result) // the plan is made and paid for
	if err != nil {
		result = p.failed(result, err)
	}
	p.postCompact(ctx, result)
	if err != nil {
		return result, err
	}
	return result, p.exceedsWindow(result)
}

// pass is one session on its way through the pipeline.
type pass struct {
	*Compactor
	req    *Request
	policy *Policy
	memo   *memo
	now    string
	start  time.Time
	limits limits

	previous  Sent
	originals []abi.Message // as they came
	messages  []abi.Message // after trimming and pruning
	tokens    []int
	after     []int // tokens of each message of the result
	before    int   // tokens of the request as it came
	total     int   // and now
	pinned    []bool
	held      []bool // besides the current turn, see holdOpenCalls; may be nil
	report    Report
	hookTimes []hooks.Outcome
	usage     abi.ModelUsage // of the model that summarized
	secrets   *redact.Redactor
	reading   reading
	facts     []hooks.Fact
	injected  []abi.Insert // by plugins, cut to their budget
}

// begin counts the session as it came. There is no pass where the request makes
// no sense; a canceled context ends the counting early.
func (c *Compactor) begin(ctx context.Context, req *Request) (*pass, error) {
	if req.Reason == "" {
		req.Reason = abi.TriggerThreshold
		if req.Force {
			req.Reason = abi.TriggerManual
		}
	}
	policy, err := c.policy(req)
	if err != nil {
		return nil, err
	}
	start := c.opts.Now()
	p := &pass{Compactor: c, req: req, policy: policy, memo: c.known.take(memoKey(&req.Session)), start: start,
		now: start.UTC().Format(time.RFC3339), originals: req.Messages, messages: req.Messages}
	gaveUp := p.memo.measure(ctx, req.Messages, c.opts.Counter)
	if abi.CodeOf(gaveUp) == abi.CodeUsage {
		p.end()
		return nil, gaveUp
	}
	p.tokens = make([]int, len(req.Messages))
	copy(p.tokens, p.memo.tokens)
	p.total = req.Overhead
	for _, n := range p.tokens {
		p.total += n
	}
	if p.limits, err = policy.limits(req, p.total); err != nil {
		p.end()
		return nil, err
	}
	p.before = p.total
	if p.previous = p.memo.sent; req.Sent != nil {
		p.previous = *req.Sent
	}
	if p.previous.Messages == nil {
		p.previous = Sent{req.Messages, p.total - req.Overhead}
	}
	p.pinned = abi.Pinned(req.Messages, policy.AlwaysKeep...)
	p.report = p.blankReport()
	return p, gaveUp
}

// end gives back what is remembered of the session.
func (p *pass) end() { p.known.put(memoKey(&p.req.Session), p.memo) }

// bytes is what the messages add to the body of a request.
func (p *pass) bytes() int {
	n := 0
	for i := range p.messages {
		n += strategies.Bytes(&p.messages[i])
	}
	return n
}

func (p *pass) view() *strategies.View {
	v := strategies.NewView(p.messages, p.tokens, p.pinned, p.limits.all)
	v.Total, v.Target = p.total, p.limits.target
	for i, held := range p.held {
		v.Turn[i] = v.Turn[i] || held
	}
	p.weigh(v)
	return v
}

// holdOpenCalls keeps the last calls of the model that are not answered yet,
// with the answers there are: a result that is on its way in a session that goes
// on would else stand there without its call, which providers refuse for good.
func (p *pass) holdOpenCalls() {
	last := len(p.messages) - 1
	for last >= 0 && p.messages[last].Role != abi.RoleAssistant {
		last--
	}
	if last < 0 || len(p.messages[last].ToolCalls) == 0 {
		return
	}
	units, of := abi.Units(p.messages[last:])
	unit := units[of[0]]
	if len(unit) > len(p.messages[last].ToolCalls) { // the message and a result for each call
		return
	}
	p.held = make([]bool, len(p.messages))
	for _, i := range unit {
		p.held[last+i] = true
	}
}

// preCompact lets plugins take part, and takes their pins.
func (p *pass) preCompact(ctx context.Context) *hooks.Pre {
	if p.hooks.Empty(abi.HookPreCompact) {
		return &hooks.Pre{}
	}
	pre := p.hooks.Pre(ctx, p.hookInput(abi.HookPreCompact, p.messages, p.tokens, p.pinned))
	p.pin(pre)
	p.report.Failures = append(p.report.Failures, p.remember(ctx, abi.HookPreCompact, pre.Retained)...)
	return pre
}

// maxUnknown is how many ids that are not there a plugin is told of one by one.
const maxUnknown = 10

// pin takes the pins of plugins, unless they leave nothing that could go.
func (p *pass) pin(pre *hooks.Pre) {
	own := slices.Clone(p.pinned)
	at := make(map[string]int, len(p.messages))
	for i := range p.messages {
		at[p.messages[i].ID] = i
	}
	unknown := make(map[string]int) // by plugin
	for _, k := range pre.AlwaysKeep {
		if i, ok := at[k.ID]; ok {
			p.pinned[i] = true
		} else if unknown[k.Plugin]++; unknown[k.Plugin] <= maxUnknown {
			pre.Warn(k.Plugin, fmt.Sprintf("always_keep of %q: there is no such message", k.ID))
		}
	}
	for plugin, n := range unknown {
		if n > maxUnknown {
			pre.Warn(plugin, fmt.Sprintf("always_keep of %d more messages that are not there", n-maxUnknown))
		}
	}
	if !p.worthTrying() {
		p.pinned = own
		told := make(map[string]bool)
		for _, k := range pre.AlwaysKeep {
			if !told[k.Plugin] {
				pre.Warn(k.Plugin, "always_keep was not taken: nothing would be left that may go")
			}
			told[k.Plugin] = true
		}
	}
}

// plan asks who may make a plan, in order, until one is taken: the compactor
// and those who propose a summary, a model, the floor. Each failure is kept
// (FEATURES K7). It returns nil where no plan makes the session smaller, and
// where plugins cancelled.
func (p *pass) plan(ctx context.Context, pre *hooks.Pre) *firewall.Verdict {
	var verdict *firewall.Verdict
	if !pre.Cancelled {
		p.injected = p.clipInjected(pre, pre.Injected)
		verdict = p.delegated(pre)
		if verdict == nil {
			verdict = p.summarized(ctx, pre)
		}
		if verdict == nil && !p.policy.NoFloor {
			verdict = p.dropped(pre)
		}
	}
	p.report.Fallback = pre.Fallback
	p.hookTimes = append(p.hookTimes, pre.Outcomes...)
	p.report.Failures = append(p.report.Failures, pre.Failures...)
	return verdict
}

// commit hands the result to whoever stores it.
func (p *pass) commit(ctx context.Context, result *Result) error {
	if p.req.Commit == nil || p.req.DryRun {
		return nil
	}
	if err := p.req.Commit(ctx, result); err != nil {
		e := *abi.AsError(err)
		if e.Code == abi.CodeInternal {
			e.Code = abi.CodeCommit
		}
		e.Op, e.Phase = "commit", abi.PhaseCommit
		e.Hint = cmp.Or(e.Hint, "look at where it is stored; the session is as it was, and can be compacted again")
		return &e
	}
	return nil
}

// postCompact tells plugins what was done.
func (p *pass) postCompact(ctx context.Context, result *Result) {
	if p.hooks.Empty(abi.HookPostCompact) {
		return
	}
	in := p.hookInput(abi.HookPostCompact, result.Messages, p.after, p.pinnedIn(result.Messages))
	in.Record = result.Record
	if in.Record == nil {
		in.Record = p.record()
		in.Record.Success = false
	}
	post := p.hooks.Post(ctx, in)
	unstored := p.remember(ctx, abi.HookPostCompact, post.Retained)
	r := &result.Report
	r.Hooks = append(r.Hooks, post.Outcomes...)
	r.Retained = p.facts
	r.Failures = append(append(r.Failures, post.Failures...), unstored...)
}

func canceled(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return &abi.Error{Code: abi.CodeCanceled, Op: "compact", Message: err.Error(), Err: err,
			Hint: "give it more time; the session is as it was"}
	}
	return nil
}

// exceedsWindow is the error where even the best that can be does not fit.
func (p *pass) exceedsWindow(result *Result) error {
	if result.Report.TokensAfter <= p.limits.window {
		return nil
	}
	result.Report.Warning = fmt.Sprintf("%d tokens in %d messages do not fit a window of %d, and nothing more can go: pin less, shorten the last message, or start a new session",
		result.Report.TokensAfter, result.Report.MessagesAfter, p.limits.window)
	return &abi.Error{Code: abi.CodeExceedsWindow, Op: "compact",
		Message: fmt.Sprintf("%d tokens that may not go, in a window of %d", result.Report.TokensAfter, p.limits.window),
		Hint:    "pin less, shorten the current turn, or use a model with a larger window"}
}
