package kagewasm

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/strategies/note"
	"github.com/kagewasm/kagewasm/strategies/redact"
)

// attempt is a plan that the firewall accepted, as it was applied.
type attempt struct {
	*firewall.Verdict
	plan     abi.Plan
	note     string
	host     int        // tokens of what the host says in the note
	read     *note.Note // what that was read off
	redacted int        // secrets taken out of all that was inserted
	more     []string   // summaries of the plan beside the note
}

// planner turns the plans of strategies into attempts: it writes the note that
// stands for what goes, adds what plugins inject, and has the firewall check and
// apply it all.
type planner struct {
	look     *look
	view     *strategies.View
	injected []abi.Insert // texts of plugins, cut to their budget
	keepers  abi.Keepers  // pins of plugins that last
	// readings holds what was read so far: plans that differ in the note alone share one reading. A
	// strategy asks for one with [strategies.Budget.Read], from the goroutine it runs in.
	readings []reading
	// bared holds messages of the view without the secrets in them, by index. Plans that differ share
	// them, so that each is searched for secrets once.
	bared map[int]*abi.Message
	found *note.Memory // in those messages
	// left is the time each plugin has left for what its answer makes the host do. It begins with as
	// much as a call of the plugin may take. Plugins without a limit are not in it.
	left map[string]time.Duration
	// faults are panics while a note was read off messages or written, each message once.
	faults *[]*abi.Error
}

// reading is the note that was read off the messages that go, where the edits change those that stay,
// and the most tokens that the host may say of them.
type reading struct {
	gone  []string
	edits []abi.Edit
	note  *note.Note
	most  int
}

func (l *look) planner(v *strategies.View) *planner {
	return &planner{look: l, view: v, left: make(map[string]time.Duration), bared: make(map[int]*abi.Message),
		found: new(note.Memory), faults: new([]*abi.Error)}
}

// hear takes what plugins answered, and the view with their pins.
func (p *planner) hear(v *strategies.View, pre preCompacted) {
	p.view, p.keepers = v, pre.keepers
	for _, c := range pre.Outcomes {
		if ms := c.Limits.TimeoutMS; ms > 0 {
			p.left[c.Plugin] = time.Duration(ms) * time.Millisecond
		}
	}
}

// inPluginTime runs f, the work that a plugin's answer makes, within the time that the plugin has left.
// f has to end soon after its context does, and works with the planner it is given. The error says that
// the time is up: the caller then drops what f made. A plugin without a limit, and "", which is no
// plugin, have no end.
func (p *planner) inPluginTime(ctx context.Context, plugin string, f func(context.Context, *planner)) error {
	left, limited := p.left[plugin]
	if !limited {
		f(ctx, p)
		return nil
	}
	ours := &allowance{ctx, time.Now().Add(left)}
	q := *p
	q.look, q.view = p.look.until(ours, p.view)
	f(ours, &q)
	p.left[plugin] = time.Until(ours.end)
	if ours.Err() == nil {
		p.readings = q.readings
		return nil
	}
	if err := canceled(ctx); err != nil {
		return err
	}
	return &abi.Error{Code: abi.CodeDeadline, Op: "check plan", Phase: abi.PhaseCheck, Err: ours.Err(),
		Message: "what it answered takes longer to judge than a call of it may take",
		Hint:    "let it answer with less text"}
}

// allowance is a context for work that asks it now and then whether to go on. It ends with the caller's context, or at
// end, which [inHostTime] moves back while the host does work of its own. It belongs to one goroutine.
type allowance struct {
	context.Context
	end time.Time
}

// Err implements context.Context.
func (a *allowance) Err() error {
	if err := a.Context.Err(); err != nil || time.Now().Before(a.end) {
		return err
	}
	return context.DeadlineExceeded
}

// inHostTime returns the caller's context, for work that a plugin does not pay for with its time. Call
// done when that work is over: the plugin's end moves by as much.
func inHostTime(ctx context.Context) (caller context.Context, done func()) {
	a, ok := ctx.(*allowance)
	if !ok {
		return ctx, func() {}
	}
	start := time.Now()
	return a.Context, func() { a.end = a.end.Add(time.Since(start)) }
}

// try makes a plan and has the firewall check it. A plugin's plan is made and checked in the plugin's
// time.
func (p *planner) try(ctx context.Context, c candidate) (a attempt, remarks []hooks.Remark, err error) {
	late := p.inPluginTime(ctx, c.plugin, func(ctx context.Context, p *planner) { a, remarks, err = p.attempt(ctx, c) })
	if late != nil {
		return attempt{plan: a.plan}, remarks, late
	}
	return a, remarks, err
}

// budget returns what a plan that source makes may insert.
func (p *planner) budget(ctx context.Context, source abi.Source) strategies.Budget {
	b := strategies.NewBudget(p.view, p.look.policy.Note, source)
	b.Note += p.cost(p.injected)
	b.Read = func(gone []string, edits []abi.Edit) *note.Note { return p.read(ctx, gone, edits).note }
	b.NeedBeside = func(gone []string, edits []abi.Edit) int { return p.needBeside(ctx, gone, edits, source.Type) }
	return b
}

func (p *planner) attempt(ctx context.Context, c candidate) (attempt, []hooks.Remark, error) {
	b := p.budget(ctx, c.source)
	plan, err := planOf(ctx, c, p.view, b)
	if err != nil {
		return attempt{plan: plan}, nil, err
	}
	if p.look.policy.Note.By == strategies.NoteByHost && c.plugin != "" {
		plan.AuditSummary = joined(plan.Summary, plan.AuditSummary)
		plan.Summary, plan.Insert = "", slices.DeleteFunc(plan.Insert,
			func(in abi.Insert) bool { return in.Kind == abi.KindSummary })
	}
	plan.AuditSummary = p.forPeople(ctx, plan.AuditSummary)
	var remarks []hooks.Remark
	plan.Insert, remarks = p.clipped(ctx, plan.Insert)
	plan.Note = max(plan.Note, b.Note)
	beside := plan.Note - b.Note
	a, err := p.fitted(ctx, plan, b.Host, beside)
	switch {
	case err != nil:
	case c.floor && gainsNothing(p.look, p.view, &a):
		err = &abi.Error{Code: abi.CodeGrew, Op: "check plan", Phase: abi.PhaseCheck, Err: errLittle,
			Message: fmt.Sprintf("a compaction would free %d of %d tokens: nothing is gained by that, and the session stays "+
				"as it is", p.view.Total-a.Tokens, p.view.Total)}
	case b.Tight, p.view.All:
	case c.plugin != "" && !a.Met:
		err = &abi.Error{Code: abi.CodeOverTarget, Op: "check plan", Phase: abi.PhaseCheck,
			Message: fmt.Sprintf("%d tokens with its summary, %d allowed", a.Tokens, p.view.Target)}
	case c.plugin != "" && !p.met(&a):
		err = &abi.Error{Code: abi.CodeOverTarget, Op: "check plan", Phase: abi.PhaseCheck,
			Message: fmt.Sprintf("%d bytes with its summary, %d allowed", bytesOf(a.Messages), p.view.TargetBytes)}
	case plan.Source.Type == abi.SourceStrategy:
		a = p.refill(ctx, c, b, a, beside)
	case plan.Source.Type == abi.SourceModel:
		a = p.needed(ctx, p.spare(ctx, b, a, beside), b.Host, beside)
	case plan.Source.Type == abi.SourcePlugin:
		a = p.needed(ctx, a, b.Host, beside)
	}
	whole := len(remarks) == 0 // nothing was cut
	if err == nil && c.plugin != "" && p.look.policy.Note.By != strategies.NoteByHost && a.moved(c.Strategy, whole) {
		remarks = append(remarks, hooks.Remark{Plugin: c.plugin,
			Warning: "new messages of its list do not stand where the list has them: none stands before the task, between " +
				"a call and its results, or behind calls whose results may still arrive, and a note that names pins stands " +
				"before older ones"})
	}
	return a, remarks, err
}

// moved reports whether a summary stands at another place than in the list of the plugin that wrote it.
// With all, which says that nothing of the list was cut, it asks that of every new message.
func (a *attempt) moved(s strategies.Strategy, all bool) bool {
	d, ok := s.(strategies.Delegate)
	if !ok {
		return false
	}
	came, before := set.Of(a.Inserted...), make(map[string]bool) // ids with an inserted message behind them
	for i := range a.Messages {
		switch {
		case !came[a.Messages[i].ID]:
		case i == 0:
			before[""] = true
		default:
			before[a.Messages[i-1].ID] = true
		}
	}
	last := ""
	for i := range d.Output.Messages {
		m := &d.Output.Messages[i]
		if id := cmp.Or(m.Ref, m.ID); id != "" {
			last = id
		} else if (all || m.Kind == abi.KindSummary) && !before[last] {
			return true
		}
	}
	return false
}

// planOf asks a strategy for its plan. The strategy may be the host's own: one that panics has failed,
// and the next one follows.
func planOf(ctx context.Context, c candidate, v *strategies.View, b strategies.Budget) (plan abi.Plan, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &abi.Error{Code: abi.CodeInternal, Op: c.name, Message: fmt.Sprintf("the strategy panicked: %v", v),
				Hint: "a fault of the strategy"}
		}
	}()
	return c.Plan(ctx, v, b)
}

// fitted writes the note for what a plan supersedes, adds what is injected, and has the firewall check the plan. The
// note has at most host tokens, and beside tokens more for what must not be lost. Where it makes the result miss the
// target or grow, it is written again with less, down to nothing beside the plan's own summary. Each try has a smaller
// budget than the one before it used, so this ends.
func (p *planner) fitted(ctx context.Context, plan abi.Plan, host, beside int) (attempt, error) {
	if len(plan.Supersede) == 0 {
		return attempt{plan: plan}, &abi.Error{Code: abi.CodeGrew, Op: "check plan", Phase: abi.PhaseCheck,
			Message: "the plan supersedes nothing"}
	}
	r := p.read(ctx, plan.Supersede, plan.Edit)
	host, beside = min(host, r.most), min(beside, max(0, r.most-host))
	against := firewall.Case{
		Messages: p.view.Messages, Tokens: p.view.Tokens, Pinned: p.view.Pinned, Turn: p.view.Turn,
		Overhead: p.look.req.Overhead, Target: p.view.Target, Keepers: p.keepers, Count: p.look.counter, Time: p.look.now,
		DropThinking: p.look.policy.Keep.DropThinking,
	}
	inserts, at := withNote(&plan, p.injected)
	summary, recall := inserts[at].Text, p.look.req.Recall
	if p.leftToPlugin(&plan) {
		recall = ""
	}
	for {
		if ctx.Err() != nil { // a note takes long to write
			return attempt{plan: plan}, canceled(ctx)
		}
		text, tokens := summary, 0
		guarded(p.faults, func() {
			text, tokens = r.note.Write(note.Options{Summary: summary, Budget: host, Beside: beside,
				Recall: recall, Count: p.look.counter.Text})
		})
		if text == "" {
			text, tokens = bareNote(p.view.Messages, plan.Supersede), 0
		}
		text, _, err := p.look.secrets.RedactContext(ctx, text)
		if err != nil {
			return attempt{plan: plan}, canceled(ctx)
		}
		inserts[at].Text = text
		full := plan
		full.Insert = inserts
		if summary == "" && p.leftToPlugin(&plan) && len(p.keepers) == 0 { // lasting pins stand in a note
			text, full.Insert = "", slices.Delete(slices.Clone(inserts), at, at+1)
		}
		verdict, err := firewall.Apply(against, full)
		if smaller, ok := p.smallerNote(tokens, verdict, err); ok {
			host, beside = smallerRoom(smaller, host, beside)
			continue
		}
		a := attempt{Verdict: verdict, plan: plan, note: text, host: tokens, read: r.note}
		for i, in := range inserts {
			a.redacted += redact.Marks(in.Text)
			if in.Kind == abi.KindSummary && i != at {
				a.more = append(a.more, in.Text)
			}
		}
		return a, err
	}
}

// withNote returns all that a plan inserts, and the index of the note in it. The note is added to the
// first summary of a plugin's list. Where there is none it stands right after the task.
func withNote(plan *abi.Plan, injected []abi.Insert) (inserts []abi.Insert, at int) {
	inserts, at = slices.Concat(plan.Insert, injected), -1
	if plan.Source.Type == abi.SourcePlugin {
		at = slices.IndexFunc(plan.Insert, func(in abi.Insert) bool { return in.Kind == abi.KindSummary })
	}
	if at < 0 {
		note := abi.Insert{Kind: abi.KindSummary, Text: plan.Summary, Source: plan.Source}
		inserts, at = slices.Insert(inserts, 0, note), 0
	}
	return inserts, at
}

// leftToPlugin reports whether the host adds nothing to what the plugin that made the plan says.
func (p *planner) leftToPlugin(plan *abi.Plan) bool {
	return p.look.policy.Note.By == strategies.NoteByPlugin && plan.Source.Type == abi.SourcePlugin
}

// maxAuditSummary is the most that a plugin says of its plan to people, in bytes.
const maxAuditSummary = 16 << 10

// forPeople returns a plugin's text as records keep it: without secrets, and cut to maxAuditSummary.
func (p *planner) forPeople(ctx context.Context, text string) string {
	text, _, err := p.look.secrets.RedactContext(ctx, clip.Head(strings.TrimSpace(text), maxAuditSummary+maxSecret))
	if err != nil {
		return ""
	}
	return clip.Cut(abi.Defuse(text), maxAuditSummary, "…")
}

// noteSlack is how many tokens a note that has to meet the target stays below what it may have.
const noteSlack = 16

const (
	// maxRefills bounds how often the tokens that a note did not take are given to messages. A note of other
	// messages may take refillSlack more, and gets minRefilled at least.
	maxRefills  = 3
	refillSlack = 64
	minRefilled = 300
)

// met reports whether an attempt meets the target, in tokens and in bytes.
func (p *planner) met(a *attempt) bool {
	return a.Met && (p.view.TargetBytes == 0 || bytesOf(a.Messages) <= p.view.TargetBytes)
}

// refill keeps more of the newest messages where the note took less than it had. The note of what goes
// then still has all that it was allowed.
func (p *planner) refill(ctx context.Context, c candidate, b strategies.Budget, a attempt, beside int) attempt {
	allowed := b.Host
	b.Note, b.Beside = a.plan.Note, 0
	for range maxRefills {
		unused := b.Host + beside - max(a.host, minRefilled) - refillSlack
		if unused <= 0 || b.Host-unused < minRefilled {
			break
		}
		b.Note, b.Host = b.Note-unused, b.Host-unused
		plan, err := planOf(ctx, c, p.view, b)
		if err != nil || len(plan.Supersede) == 0 || len(plan.Supersede) >= len(a.plan.Supersede) {
			break
		}
		better, err := p.fitted(ctx, plan, allowed, beside)
		if err != nil || !p.met(&better) || !better.gains(&a) {
			break
		}
		a = better
	}
	if b.Host = allowed; p.view.Asked && a.plan.Source == strategies.DropSource {
		return p.spare(ctx, b, a, beside)
	}
	return p.topUp(ctx, a, allowed, beside)
}

// gains reports whether an attempt that keeps more messages than another one lost less of the note for that than half
// of what they take: a token of the note stands for many.
func (a *attempt) gains(less *attempt) bool {
	lost := less.host - a.host
	return 2*lost <= a.Tokens-less.Tokens+lost
}

// spare keeps more of the newest messages word for word, where the summary took less than
// was reserved for it. Where somebody named the target the note gets what they leave.
func (p *planner) spare(ctx context.Context, b strategies.Budget, a attempt, beside int) attempt {
	plan := a.plan
	spare := strategies.Spare{Keep: p.look.policy.Keep, Config: p.look.policy.Summarize}
	fewer, edits := spare.Of(p.view, plan.Supersede, p.view.Target-a.Tokens-refillSlack)
	if len(fewer) > 0 && len(fewer) < len(plan.Supersede) {
		plan.Supersede, plan.Edit = fewer, append(slices.Clip(plan.Edit), edits...)
		if better, err := p.fitted(ctx, plan, b.Host, beside); err == nil && p.met(&better) {
			a = better
		}
	}
	if !p.view.Asked {
		return a
	}
	return p.topUp(ctx, a, b.Host, beside)
}

// topUp lets the note use what is too little for another message: at most half as much again as it had.
func (p *planner) topUp(ctx context.Context, a attempt, host, beside int) attempt {
	unused := p.view.Target - a.Tokens - refillSlack
	if p.look.policy.Note.Tokens != 0 || unused < refillSlack || a.host+refillSlack < host {
		return a
	}
	if better, err := p.fitted(ctx, a.plan, host+min(unused, host/2), beside); err == nil && p.met(&better) {
		return better
	}
	return a
}

// needed lets what must not be lost use what a summary did not take of the target, where it has more to say than it had
// room for.
func (p *planner) needed(ctx context.Context, a attempt, host, beside int) attempt {
	need := p.needBeside(ctx, a.plan.Supersede, a.plan.Edit, a.plan.Source.Type)
	more := min(p.view.Target-a.Tokens-refillSlack, need-beside)
	if p.look.policy.Note.Tokens != 0 || host == 0 || more < refillSlack {
		return a
	}
	if better, err := p.fitted(ctx, a.plan, host, beside+more); err == nil && p.met(&better) {
		return better
	}
	return a
}

// read returns the note that is read off the messages that go. They are read as they came to the session, since
// pruning must not take names from the note, and without the secrets in them. Messages that stay are read as they
// stay. Of those, units that pruning or the plan's edits shortened are read in full as well.
func (p *planner) read(ctx context.Context, gone []string, edits []abi.Edit) reading {
	for _, r := range p.readings {
		if slices.Equal(r.gone, gone) && slices.Equal(r.edits, edits) {
			return r
		}
	}
	ctx, done := inHostTime(ctx)
	defer done()
	r := reading{gone: gone, edits: edits}
	if !guarded(p.faults, func() {
		var in note.Session
		in, r.most = p.goes(ctx, gone, edits)
		r.note = note.Build(ctx, in)
	}) {
		r.note, r.most = note.Build(ctx, note.Session{}), 0
	}
	if ctx.Err() == nil {
		p.readings = append(slices.Clip(p.readings), r)
	}
	return r
}

// goes returns the session as a note is read off it, where the messages gone go, and the most tokens that the host may
// say of them.
func (p *planner) goes(ctx context.Context, gone []string, edits []abi.Edit) (in note.Session, most int) {
	view, _ := p.view.Edited(edits)
	cost, earlier, goes := 0, 0, set.Of(gone...)
	in = note.Session{Memory: p.found, Instructions: p.look.instructions}
	in.Messages, in.Gone = make([]abi.Message, 0, len(view.Messages)), make([]bool, 0, len(view.Messages))
	short := func(i int) bool { return !p.original(i).Same(&view.Messages[i]) }
	for i, m := range view.Messages {
		if m.Kind.Internal() {
			continue // no model is to read it, and a note is read by one
		}
		if goes[m.ID] {
			m = p.bare(ctx, i)
			if cost += p.view.Tokens[i]; m.Kind == abi.KindSummary {
				earlier += p.view.Tokens[i]
			}
		} else if slices.ContainsFunc(view.Units[view.UnitOf[i]], short) {
			in.Pruned = append(in.Pruned, p.bare(ctx, i))
		}
		in.Messages, in.Gone = append(in.Messages, m), append(in.Gone, goes[m.ID])
	}
	if ctx.Err() != nil {
		in = note.Session{} // the time is up: what was read is of no use
	}
	words := in.WordsNeed(p.look.counter.Text)
	return in, max(worthSaying(cost, earlier, p.view.Window, p.look.req.Force), min(cost*9/10, 2*words))
}

// needBeside returns how many tokens what must not be lost of the messages that go needs beside a note's own.
func (p *planner) needBeside(ctx context.Context, gone []string, edits []abi.Edit, by abi.SourceType) (tokens int) {
	ctx, done := inHostTime(ctx)
	defer done()
	guarded(p.faults, func() {
		in, _ := p.goes(ctx, gone, edits)
		tokens = in.NeedBeside(ctx, p.look.counter.Text, by == abi.SourceModel)
	})
	return tokens
}

// original returns message i of the view as it came to the session.
func (p *planner) original(i int) *abi.Message {
	id := p.view.Messages[i].ID
	if p.look.req.Original != nil {
		if m := p.look.req.Original(id); m != nil {
			return m
		}
	}
	return &p.look.came.Messages[p.look.memo.index[id]]
}

// bare returns message i of the view as it came to the session, without the secrets in it. Names are
// read off that: a secret is known by the words around it, and a list of names has none. Once the
// context is done the message is of no use.
func (p *planner) bare(ctx context.Context, i int) abi.Message {
	if m, ok := p.bared[i]; ok {
		return *m
	}
	came := p.original(i)
	m, changed := *came, false
	redacted := func(text string) (string, int) {
		text, n, _ := p.look.secrets.RedactContext(ctx, text)
		return text, n
	}
	if text, n := redacted(m.Text()); n > 0 {
		m.Content, changed = abi.Text(text), true
	}
	calls := m.ToolCalls
	for k := range calls {
		arguments, n := redacted(calls[k].Arguments)
		if n == 0 {
			continue
		}
		if &m.ToolCalls[k] == &calls[k] {
			m.ToolCalls = slices.Clone(calls)
		}
		m.ToolCalls[k].Arguments, changed = arguments, true
	}
	switch {
	case ctx.Err() != nil:
	case changed:
		p.bared[i] = &m
	default: // most have none, and need no copy
		p.bared[i] = came
	}
	return m
}

// cost returns the tokens that inserted texts cost, with their frames.
func (p *planner) cost(list []abi.Insert) int {
	n := 0
	for _, in := range list {
		n += firewall.FrameTokens(in.Kind, in.Source, p.look.counter) + p.look.counter.Text(in.Text)
	}
	return n
}

// clipped cuts the texts that plugins want to insert to what is left of their budget, in order. The
// remarks tell each plugin what was cut or left out.
func (p *planner) clipped(ctx context.Context, list []abi.Insert) (out []abi.Insert, remarks []hooks.Remark) {
	if len(list) == 0 {
		return nil, nil
	}
	left, without := p.budget(ctx, longestSource).Inject-p.cost(p.injected), make(map[string]int)
	for _, in := range list {
		if in.Kind == abi.KindSummary { // the target bounds it, as any summary
			in.Text, _, _ = p.look.secrets.RedactContext(ctx, in.Text)
			out = append(out, in)
			continue
		}
		name, full, cost := in.Source.Name, len(strings.TrimSpace(in.Text)), 0
		text := ""
		if left > 0 {
			left -= firewall.FrameTokens(in.Kind, in.Source, p.look.counter)
			late := p.inPluginTime(ctx, name, func(ctx context.Context, p *planner) {
				text = p.clip(ctx, in.Text, left)
				cost = p.look.counter.Text(text)
			})
			if late != nil {
				text = ""
			}
		}
		if in.Text = text; text == "" {
			without[name]++
			continue
		}
		if len(text) < full {
			remarks = append(remarks, hooks.Remark{Plugin: name, Warning: "the injected text was cut to its token budget"})
		}
		left -= cost
		out = append(out, in)
	}
	return out, append(remarks, leftOut(without)...)
}

const (
	// maxTokenBytes is more bytes than a token of any text worth reading has. A text of more than that
	// for each token of its budget is too long: it is cut without being counted.
	maxTokenBytes = 16
	// maxSecret is how many bytes after the cut are searched for secrets too, so that one that the cut
	// goes through is found.
	maxSecret = 8 << 10
)

// clip returns a text without secrets, cut to at most budget tokens, at a word where it can, with a
// line that says it was cut. It returns "" where nothing useful fits.
func (p *planner) clip(ctx context.Context, text string, budget int) string {
	text, _, err := p.look.secrets.RedactContext(ctx, clip.Head(text, max(0, budget)*maxTokenBytes+maxSecret))
	if err != nil {
		return ""
	}
	text = clip.Head(text, max(0, budget)*maxTokenBytes)
	return clip.Tokens(strings.TrimSpace(abi.Defuse(text)), budget, "\n[cut: over the token budget]", p.look.counter.Text)
}
