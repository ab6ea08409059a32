package kagewasm

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	json "github.com/goccy/go-json"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/callrecord"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/retained"
	"github.com/kagewasm/kagewasm/strategies"
)

// preCompacted is what plugins answered before a compaction, and what was done with it.
type preCompacted struct {
	hooks.Pre
	pins
	// unstored is why facts could not be stored.
	unstored []*abi.Error
	// late is what comes of observers that were not waited for.
	late []*late
}

// planTimeKey is the key, in a context, of how long a plugin that makes the plan may take.
type planTimeKey struct{}

// withPlanTime gives plugins that propose a plan as long as a model has for one, ms milliseconds. With
// 0 or less only the time of the hook bounds them, which is the default of both.
func withPlanTime(ctx context.Context, ms int) context.Context {
	if ms <= 0 {
		return ctx
	}
	return context.WithValue(ctx, planTimeKey{}, time.Duration(ms)*time.Millisecond)
}

// withinPlanTime returns the context for a call of a plugin. It is bounded where the plugin is to
// propose a plan.
func withinPlanTime(ctx context.Context, p hooks.Plugin, hook abi.Hook) (context.Context, context.CancelFunc) {
	limit, bounded := ctx.Value(planTimeKey{}).(time.Duration)
	plans := p.Manifest().Has(abi.RoleCompactor) || p.Granted(abi.CapCompactionSummary)
	if !bounded || hook != abi.HookPreCompact || !plans {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, limit)
}

// listening is a plugin whose answers are kept, where the context has a place for them ([saying]). It
// bounds a call that proposes a plan to the time that is configured for that.
type listening struct{ hooks.Plugin }

func listened(plugins []hooks.Plugin) []hooks.Plugin {
	return lists.Map(plugins, func(p hooks.Plugin) hooks.Plugin { return listening{p} })
}

// Call implements hooks.Plugin.
func (p listening) Call(ctx context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
	s, _ := ctx.Value(sayingKey{}).(*saying)
	ctx, done := withinPlanTime(ctx, p.Plugin, in.Hook)
	defer done()
	if s == nil {
		return p.Plugin.Call(ctx, in)
	}
	one := Heard{Plugin: p.Manifest(), Digest: p.Digest(), Hook: in.Hook,
		Granted: lists.Filter(abi.Capabilities, p.Granted)}
	record := new(callrecord.Record)
	out, stats, err := p.Plugin.Call(record.In(ctx), in)
	if record.Input != "" {
		one.Record, _ = json.Marshal(record)
	}
	switch {
	case err != nil:
		one.Error = abi.AsError(err)
	case out != nil:
		one.Output, _ = json.Marshal(out) // at once: others change it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, one)
	return out, stats, err
}

// preCompact calls the plugins before a compaction, and takes their pins and facts. A list of a plugin's leaves held
// tokens of the target for what failed in what goes.
func preCompact(ctx context.Context, l *look, v *strategies.View, held int) preCompacted {
	if l.hooks.Empty(abi.HookPreCompact) {
		return preCompacted{pins: pins{pinned: v.Pinned, keepers: l.keepers}}
	}
	bounded := withPlanTime(l.said.in(ctx), l.policy.Summarize.TimeoutMS)
	in := hookInput(l, abi.HookPreCompact, v, v.List)
	in.Budget.TargetTokens = max(min(1, in.Budget.TargetTokens), in.Budget.TargetTokens-held)
	s := preCompacted{Pre: *l.hooks.Pre(bounded, in, l.policy.observerWait())}
	s.late = goOn(ctx, l, abi.HookPreCompact, s.Late)
	s.pins = pin(l, v, s.AlwaysKeep, s.Release)
	if l.req.Overrides.byHand() {
		for _, p := range s.Proposals {
			s.remarks = append(s.remarks, hooks.Remark{Plugin: p.Source.Name, PassedOver: true,
				Warning: "its plan was passed over: the strategy " + l.policy.Strategy + " was named by hand"})
		}
		s.Fallback = false
	}
	s.Retained, s.unstored = retain(ctx, l, abi.HookPreCompact, s.Retained)
	s.Wishes = asked(l, s.Wishes)
	return s
}

// At most this many unknown ids are reported to a plugin one by one; the rest are
// counted.
const maxUnknown = 10

// pins are the messages that stay, with what plugins pinned and released.
type pins struct {
	view   *strategies.View
	at     map[string]int // messages by id
	pinned []bool         // the host's pins, and those of plugins
	// keepers are the pins that last beyond this compaction.
	keepers abi.Keepers
	// remarks tell a plugin which part of its answer had no effect.
	remarks []hooks.Remark
}

// pin applies what plugins release and pin. Where their pins would leave nothing that could go, none is
// taken.
func pin(l *look, v *strategies.View, keep, release []hooks.Keep) pins {
	p := pins{view: v, at: make(map[string]int, len(v.Messages)), pinned: slices.Clone(v.Pinned),
		keepers: maps.Clone(l.keepers)}
	for i := range v.Messages {
		p.at[v.Messages[i].ID] = i
	}
	if p.release(release) {
		p.pinned = l.pinned(v.Messages, p.keepers)
	}
	hosts, keep := slices.Clone(p.pinned), p.known(l, keep)
	for _, k := range keep {
		p.pinned[p.at[k.ID]] = true
	}
	if v.WithPins(p.pinned).WorthTrying() {
		p.last(keep, hosts)
		return p
	}
	p.pinned = hosts
	p.warnEach(keep, "always_keep was not taken: nothing would be left that may go")
	return p
}

func (p *pins) warn(plugin, format string, args ...any) {
	p.remarks = append(p.remarks, hooks.Remark{Plugin: plugin, Warning: fmt.Sprintf(format, args...)})
}

// warnEach warns each plugin once.
func (p *pins) warnEach(of []hooks.Keep, warning string) {
	told := make(map[string]bool)
	for _, k := range of {
		if !told[k.Plugin] {
			p.warn(k.Plugin, "%s", warning)
		}
		told[k.Plugin] = true
	}
}

// release takes back the pins that plugins release, each plugin its own, and reports whether any was
// taken back.
func (p *pins) release(list []hooks.Keep) (any bool) {
	for _, k := range list {
		by := p.keepers[k.ID]
		i := slices.Index(by, k.Plugin)
		if i < 0 {
			p.warn(k.Plugin, "release of %q: the plugin has not pinned it", k.ID)
			continue
		}
		if p.keepers[k.ID] = slices.Delete(slices.Clone(by), i, i+1); len(by) == 1 {
			delete(p.keepers, k.ID)
		}
		any = true
	}
	return any
}

// known returns the pins of messages that are there, and that the request does not release.
func (p *pins) known(l *look, list []hooks.Keep) (known []hooks.Keep) {
	unknown := make(map[string]int) // by plugin
	for _, k := range list {
		switch _, ok := p.at[k.ID]; {
		case slices.Contains(l.req.Release, k.ID):
			p.warn(k.Plugin, "always_keep of %q: the request releases it", k.ID)
		case ok:
			known = append(known, k)
		default:
			if unknown[k.Plugin]++; unknown[k.Plugin] <= maxUnknown {
				p.warn(k.Plugin, "always_keep of %q: there is no such message", k.ID)
			}
		}
	}
	for plugin, n := range unknown {
		if n > maxUnknown {
			p.warn(plugin, "always_keep of %d more messages that are not there", n-maxUnknown)
		}
	}
	return known
}

// lastingShare is the most that lasting pins may take of what a compaction leaves, as a share of it.
// With more, the pins of one compaction after another would leave nothing that can go.
const lastingShare = 0.5

// last makes pins last beyond this compaction, as far as there is room for them. A message that the
// host itself pins needs no lasting pin.
func (p *pins) last(list []hooks.Keep, hosts []bool) {
	room := int(lastingShare * float64(p.view.Lower))
	for id := range p.keepers {
		room -= p.cost(id)
	}
	var over []hooks.Keep
	for _, k := range list {
		by := p.keepers[k.ID]
		if slices.Contains(by, k.Plugin) || len(by) == 0 && hosts[p.at[k.ID]] {
			continue
		}
		cost := p.cost(k.ID)
		if len(by) > 0 {
			cost = 0 // it stays for another plugin
		}
		if cost > room {
			over = append(over, k)
			continue
		}
		room -= cost
		p.keepers[k.ID] = append(slices.Clip(by), k.Plugin)
	}
	p.warnEach(over, "always_keep holds for this compaction only: lasting pins take half of what is left after one; "+
		"release some")
}

// cost returns the tokens that a pinned message holds back: those of its whole unit.
func (p *pins) cost(id string) int {
	return p.view.UnitTokens(p.view.Units[p.view.UnitOf[p.at[id]]])
}

// handOverParts is the part, one of so many, of the observers' wait that plugins have after a compaction, so that what
// those retain who answer at once stands in the report.
const handOverParts = 10

// postCompact tells plugins what was done, and returns the result with what they say in its report. It
// does not change made, which may be stored. v is the session that was compacted, after the list that
// is left. Nothing that a plugin answers changes the compaction any more, so that one which does not
// answer at once is not waited for.
func postCompact(ctx context.Context, l *look, v *strategies.View, after strategies.List, made *Result) *Result {
	if l.hooks.Empty(abi.HookPostCompact) {
		return made
	}
	l, v = l.until(ctx, v) // the caller's own may be done
	in := hookInput(l, abi.HookPostCompact, v, after.PinnedAs(v.List))
	in.Record = made.Record
	if in.Record == nil {
		in.Record = record(l, &made.Report)
	}
	post := l.hooks.Post(ctx, in, l.policy.observerWait()/handOverParts, made.observing)
	result := *made
	result.Report.hear(hear(ctx, l, abi.HookPostCompact, post))
	result.late = append(slices.Clip(made.late), goOn(ctx, l, abi.HookPostCompact, post.Late)...)
	return &result
}

// heard is what plugins answered to calls that change no plan, without secrets.
type heard struct {
	outcomes []hooks.Outcome
	retained []hooks.Fact
	wishes   []hooks.Wish
	failures []*abi.Error
}

// asked hands what plugins ask for to the host, and returns it without secrets.
func asked(l *look, wishes []hooks.Wish) []hooks.Wish {
	wishes = bareWishes(l, wishes)
	if l.req.Asked != nil && !l.req.DryRun {
		for _, w := range wishes {
			l.req.Asked(w)
		}
	}
	return wishes
}

// hear stores what plugins retain, hands on what they ask for, and returns their answers without secrets.
func hear(ctx context.Context, l *look, hook abi.Hook, answers *hooks.Answers) heard {
	retained, unstored := retain(ctx, l, hook, answers.Retained)
	return heard{l.bareOutcomes(answers.Outcomes), retained, asked(l, answers.Wishes),
		l.withoutSecrets(slices.Concat(answers.Failures, unstored))}
}

// hear adds answers to the report. An answer takes the place of the entry that said its call was not
// waited for, and that a plugin is in quarantine is told once. The lists that were there may be stored,
// and are not written to.
func (r *Report) hear(h heard) {
	known := make(map[string]bool) // to be in quarantine
	for _, e := range r.Failures {
		known[e.Plugin] = known[e.Plugin] || e.Code == abi.CodeQuarantined
	}
	again := func(e *abi.Error) bool { return e != nil && e.Code == abi.CodeQuarantined && known[e.Plugin] }
	r.Hooks = slices.Clone(r.Hooks)
	for _, o := range h.outcomes {
		if again(o.Error) {
			continue
		}
		if o.Model != nil {
			r.Cost.Compactor += o.Model.Cost
		}
		i := slices.IndexFunc(r.Hooks, func(was hooks.Outcome) bool {
			return was.Plugin == o.Plugin && was.Hook == o.Hook
		})
		if i >= 0 {
			r.Hooks[i] = o
		} else {
			r.Hooks = append(r.Hooks, o)
		}
	}
	r.Retained = append(slices.Clip(r.Retained), h.retained...)
	r.Wishes = append(slices.Clip(r.Wishes), h.wishes...)
	r.Failures = append(slices.Clip(r.Failures), slices.DeleteFunc(slices.Clone(h.failures), again)...)
}

// late holds the answers of plugins that a compaction did not wait for.
type late struct {
	done chan struct{} // closed when the rest is there
	heard
}

// goOn lets the plugins that were not waited for end in a goroutine, and stores what they retain.
func goOn(ctx context.Context, l *look, hook abi.Hook, calls *hooks.Late) []*late {
	if calls == nil {
		return nil
	}
	x := &late{done: make(chan struct{})}
	l.late.Go(func() {
		defer close(x.done)
		x.heard = hear(context.WithoutCancel(ctx), l, hook, calls.Answers())
		said := &Result{Report: Report{Hooks: x.outcomes, Retained: x.retained, Wishes: x.wishes, Failures: x.failures,
			DryRun: l.req.DryRun}}
		said.Report.normalize()
		audit(l, EventObserved, said, nil)
	})
	return []*late{x}
}

// Settle waits for the plugins that the compaction did not wait for, and adds their answers to the
// report. The error says that ctx was done before. A program that goes on running need not call it:
// what plugins retain is stored when they have ended.
func (r *Result) Settle(ctx context.Context) error {
	for _, x := range r.late {
		select {
		case <-x.done:
		case <-ctx.Done():
			return canceled(ctx)
		}
	}
	for _, x := range r.late {
		r.Report.hear(x.heard)
	}
	r.late = nil
	return nil
}

// Wait waits for the plugins that compactions did not wait for. Call it before the
// program exits, or what they retain is lost.
func (c *Compactor) Wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		c.late.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return canceled(ctx)
	}
}

// leftOut tells each plugin how many of its texts were not injected.
func leftOut(texts map[string]int) (remarks []hooks.Remark) {
	for _, plugin := range slices.Sorted(maps.Keys(texts)) {
		warning := "no room for the injected text: it was left out"
		if n := texts[plugin]; n > 1 {
			warning = fmt.Sprintf("no room for %d injected texts: they were left out", n)
		}
		remarks = append(remarks, hooks.Remark{Plugin: plugin, Warning: warning})
	}
	return remarks
}

// longestSource stands for a plugin where a budget is told before it is known which plugin's frame has
// to fit into it.
var longestSource = abi.Source{Type: abi.SourcePlugin, Name: strings.Repeat("x", 32)}

// hookInput returns the input of a hook, with the messages of a list. The budget is that of a
// compaction of v.
func hookInput(l *look, hook abi.Hook, v *strategies.View, of strategies.List) *abi.Input {
	budget := strategies.NewBudget(v, l.policy.Note, longestSource)
	reserved := l.req.Overhead + budget.Note
	if l.hooks.HasObservers() {
		reserved += budget.Inject
	}
	least := 1
	if v.All {
		least = 0
	}
	in := &abi.Input{
		ABI: abi.Version, Call: callID(l, hook), Time: l.now, Hook: hook, Session: l.req.Session,
		Trigger: abi.Trigger{
			Reason: l.req.Reason, Tokens: v.Total, Fraction: float64(v.Total) / float64(v.Window),
			Upper: l.limits.upperShare, Lower: l.limits.lowerShare, Forced: l.req.Force, KeepLast: keepsLast(l),
			DryRun: l.req.DryRun, Instructions: l.req.Instructions,
		},
		Budget: abi.Budget{
			TargetTokens:  max(least, v.Target-reserved),
			SummaryTokens: max(0, budget.Inject-firewall.FrameTokens(abi.KindInjected, longestSource, l.counter)),
		},
		Messages: make([]abi.InputMessage, len(of.Messages)), Search: l.req.Search,
	}
	_, unit := abi.Units(of.Messages)
	for i := range of.Messages {
		m := &of.Messages[i]
		in.Messages[i] = abi.InputMessage{Message: *m, Tokens: of.Tokens[i], Pinned: of.Pinned[i], Unit: unit[i]}
	}
	in.PreviousSummary = latestSummary(v.Messages)
	return in
}

// latestSummary returns the text of the last summary in a list, without its frame.
func latestSummary(msgs []abi.Message) string {
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].Kind == abi.KindSummary {
			whole := msgs[i].Text()
			if text, framed := abi.Unfence(whole); framed {
				return text
			}
			return whole
		}
	}
	return ""
}

// keepsLast returns how many messages at the end the policy keeps.
func keepsLast(l *look) int {
	switch {
	case l.policy.Keep.Messages > 0:
		return l.policy.Keep.Messages
	case l.summarizes():
		return l.policy.Summarize.Recent()
	}
	return 0
}

// callID returns an id that tells this call from all others, made of the session, the time and the
// hook.
func callID(l *look, hook abi.Hook) string {
	h := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%s\x00%s", l.req.Session.ID, l.req.Session.AgentPath,
		l.start.Format(time.RFC3339Nano), hook))
	return hex.EncodeToString(h[:6])
}

// Memory stores texts by namespace and key: set Options.Memory to one of package store or store/kv.
// Namespaces are those of [Namespacer].
type Memory interface {
	Set(ctx context.Context, namespace, key, value string) error
}

// Namespacer is an optional interface of the plugins in Options.Plugins. It says in which namespace of
// the Memory a plugin's data for an agent is kept, so that the host stores what the plugin retains
// beside what the plugin stores itself. runtime.Plugin implements it. The namespace of any other plugin
// is its name, with the agent's part as [abi.AgentNamespace] has it.
type Namespacer interface {
	Namespace(ctx context.Context, agentPath string) (string, error)
}

// namespace returns the namespace of a plugin's facts for the agent.
func (l *look) namespace(ctx context.Context, plugin string) (string, error) {
	agentPath := l.req.Session.AgentPath
	for _, p := range l.opts.Plugins {
		if n, ok := p.(Namespacer); ok && p.Manifest().Name == plugin {
			return n.Namespace(ctx, agentPath)
		}
	}
	return abi.AgentNamespace(plugin, agentPath), nil
}

// lookThrough is how long the search for secrets in the facts of a hook may take.
const lookThrough = time.Second

// retain stores facts, without the secrets in them, in the namespaces of their plugins. A dry run
// stores none. It returns the facts that are retained. What could not be stored is reported, and stops
// nothing.
func retain(
	ctx context.Context, l *look, hook abi.Hook, facts []hooks.Fact,
) (kept []hooks.Fact, failures []*abi.Error) {
	fail := func(f hooks.Fact, err error) { // told once, for all that follow of its plugin
		cause := abi.AsError(err)
		e := &abi.Error{Code: abi.CodeState, Op: "retain", Message: cause.Error(), Err: cause, Hint: cmp.Or(cause.Hint,
			"look at the store of the plugins' data; the compaction went on without")}
		failures = append(failures, e.At(f.Plugin, hook, abi.PhaseCommit))
	}
	bare := withoutSecrets(ctx, l, facts, fail)
	if l.opts.Memory == nil || l.req.DryRun {
		return bare, failures
	}
	failed := make(map[string]bool) // plugins of which a fact could not be stored
	for _, f := range bare {
		if failed[f.Plugin] {
			continue
		}
		if err := store(ctx, l, f); err != nil {
			failed[f.Plugin] = true
			fail(f, err)
			continue
		}
		kept = append(kept, f)
	}
	return kept, failures
}

// withoutSecrets are the facts with the secrets taken out. Once one of a plugin fails, those that follow are left out.
// All are looked through before one is stored: a slow store takes none of the time for that.
func withoutSecrets(
	ctx context.Context, l *look, facts []hooks.Fact, fail func(hooks.Fact, error),
) (bare []hooks.Fact) {
	ctx, cancel := context.WithTimeout(ctx, lookThrough)
	defer cancel()
	failed := make(map[string]bool)
	for _, f := range facts {
		if failed[f.Plugin] {
			continue
		}
		text, _, err := l.secrets.RedactContext(ctx, f.Text)
		if err != nil {
			failed[f.Plugin] = true
			fail(f, err)
			continue
		}
		if f.Text = strings.TrimSpace(abi.Defuse(text)); f.Text != "" {
			bare = append(bare, f)
		}
	}
	return bare
}

// store stores a fact and where it came from. The key is a hash of the text.
func store(ctx context.Context, l *look, f hooks.Fact) error {
	value, err := json.MarshalIndent(retained.Fact{Text: f.Text, Session: l.req.Session.ID,
		Agent: l.req.Session.AgentPath, Call: f.Call, Time: l.now}, "", "  ")
	if err != nil {
		return err
	}
	ns, err := l.namespace(ctx, f.Plugin)
	if err != nil {
		return err
	}
	return l.opts.Memory.Set(ctx, ns, retained.Key(f.Text), string(value))
}
