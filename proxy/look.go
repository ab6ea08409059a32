package proxy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/tokens"
	"github.com/kagewasm/kagewasm/transcript"
)

// reading is a body as messages, under ids that do not change from one request to the next.
type reading struct {
	*transcript.Session
	// msgs are the messages, the first lead of them the leading system ones.
	msgs []abi.Message
	lead int
	// own are the ids in the body.
	own map[string]string
}

// reading reads the body of the exchange. Messages are numbered behind the leading system
// ones, of which a client may send more or fewer the next time. What a compaction left that
// the client has an item of keeps the ids that it has in the store, and what follows is
// numbered from there.
func (e *exchange) reading(ctx context.Context, data []byte) (*reading, error) {
	s, err := transcript.ReadContext(ctx, "request", data, e.wire.format)
	if err != nil {
		return nil, err
	}
	r := &reading{Session: s, msgs: slices.Clone(s.Messages), own: make(map[string]string, len(s.Messages))}
	for r.lead < len(r.msgs) && r.msgs[r.lead].Role == abi.RoleSystem {
		r.lead++
	}
	ids := archive{e}.known(ctx, r.msgs[r.lead:])
	for i := range r.msgs {
		id := fmt.Sprintf("system-%d", i)
		if i >= r.lead {
			id = ids[i-r.lead]
		}
		r.own[id] = r.msgs[i].ID
		r.msgs[i].ID = id
	}
	return r, nil
}

// view is what the model would be sent: the messages with a plan applied.
func (r *reading) view(p *plan) ([]abi.Message, error) {
	if p == nil {
		return r.msgs, nil
	}
	if r.lead+p.messages > len(r.msgs) {
		return nil, fmt.Errorf("a plan for %d messages, and %d came", p.messages, len(r.msgs)-r.lead)
	}
	list := slices.Clone(r.msgs[:r.lead])
	known := make(map[string]*abi.Message, p.messages)
	for i := range p.messages {
		known[r.msgs[r.lead+i].ID] = &r.msgs[r.lead+i]
	}
	for _, id := range p.order {
		if m, ok := p.added[id]; ok {
			list = append(list, m)
		} else if m, ok := known[id]; ok {
			list = append(list, *m)
		} else {
			return nil, fmt.Errorf("a plan names %q, which did not come", id)
		}
	}
	return append(list, r.msgs[r.lead+p.messages:]...), nil
}

// encode writes a list in the place of the messages of the body.
func (r *reading) encode(list []abi.Message) ([]byte, error) {
	list = slices.Clone(list)
	for i := range list {
		if own, ok := r.own[list[i].ID]; ok {
			list[i].ID = own
		} else {
			list[i].ID = "new " + list[i].ID // the body may have a message of that id
		}
	}
	return r.Encode(list, transcript.Same)
}

// look is why the compactor is to look at a request.
type look struct {
	reason   abi.TriggerReason
	exceeded *abi.Exceeded // what the provider said of it
	keep     *int          // the most messages that stay at the end; nil where the policy says
	// asked says that the client wants a compaction, whatever the size. Who wants one may say what is to be kept in view.
	asked        bool
	instructions string
}

// target is what a compaction leaves that the client asked for. Where the client names a size, that is well below it:
// else the next request would call for another compaction, and lose the provider's cache a second time.
func (e *exchange) target(ctx context.Context, view []abi.Message, tools int) (*int, error) {
	n := tools
	for i := range view {
		of, err := e.engine.Counter.MessageContext(ctx, &view[i])
		if err != nil {
			return nil, err
		}
		n += of
	}
	left := askedShare * float64(min(n, e.window()))
	if e.managed != nil {
		left = min(left, kagewasm.DefaultLower*float64(e.managed.at)/extent{e}.scale())
	}
	target := int(left)
	return &target, nil
}

// requestOf is what the compactor is asked about the conversation as it came.
func requestOf(ctx context.Context, e *exchange, came *reading) (req kagewasm.Request, err error) {
	view, err := came.view(e.plan)
	if err != nil {
		return req, err
	}
	tools, err := e.engine.Counter.Tools(ctx, came.Tools)
	if err != nil {
		return req, err
	}
	id, err := archive{e}.session(ctx)
	if err != nil {
		return req, err
	}
	req = kagewasm.Request{Messages: view, Overhead: tools.Tokens, Cold: e.cold, Original: came.original}
	req.Session = abi.Session{ID: id, AgentPath: e.family.agent, Model: e.engine.Model.Name(),
		ContextWindow: e.engine.Model.ContextWindow}
	_, req.OutputReserve = windows(e)
	if e.p.opts.Recall != nil {
		req.Recall = e.p.opts.Recall(id)
	}
	return req, nil
}

// look has the compactor look at the request, and takes over what it made of it.
func (e *exchange) look(ctx context.Context, why look) (changed bool, err error) {
	came, err := e.reading(ctx, e.doc.doc)
	if err != nil {
		return false, err
	}
	req, err := requestOf(ctx, e, came)
	if err != nil {
		return false, err
	}
	id, view, window := req.Session.ID, req.Messages, e.window()
	req.Reason, req.Exceeded, req.Used = why.reason, why.exceeded, e.used(ctx, came)
	if why.keep != nil {
		req.Overrides = &kagewasm.Overrides{KeepLast: why.keep}
	}
	if why.reason == abi.TriggerPlugin {
		req.Force, req.Instructions = true, why.instructions
	}
	if why.asked {
		req.Force, req.Instructions = true, why.instructions
		if req.Target, err = e.target(ctx, view, req.Overhead); err != nil {
			return false, err
		}
	}
	var made *plan
	before := e.branch.held.take()
	defer func() {
		if made == nil || e.last == nil || !e.last.Report.Compacted {
			e.branch.held.add(before...)
		}
	}()
	req.Asked = func(w hooks.Wish) { e.branch.held.add(w) }
	req.Begin = flight{e}.free
	req.Commit = func(ctx context.Context, result *kagewasm.Result) (err error) {
		if made, err = e.planOf(came, id, result); err == nil && made != nil {
			err = archive{e}.commit(ctx, came, made, result)
		}
		return err
	}
	result, err := e.engine.Compactor.Compact(ctx, req)
	if abi.CodeOf(err) == abi.CodeExceedsWindow {
		err = nil // as far as it goes: the provider has the last word
	}
	if err != nil {
		return false, err
	}
	e.last = result
	r := &result.Report
	extent{e}.learn(r.Scale)
	if u := r.Cost.Usage; u != nil {
		e.spent = tokens.Usage{Input: u.InputTokens, Output: u.OutputTokens}
	}
	e.says = says{what: "none", reason: string(r.ReasonCode)}
	e.branch.counted = measured{r.TokensAfter, len(e.seen), e.plan}
	if made == nil && paysShort(e, why, r) {
		if err := req.Commit(ctx, result); err != nil {
			return false, err
		}
		e.says.reason = "shortened"
	}
	if made == nil {
		e.branch.quiet = extent{e}.estimate() + window/50
		extent{e}.hold(r.ReasonCode)
		return false, nil
	}
	e.note = noteOf(result.Messages, r.Inserted)
	e.branch.quiet = 0
	e.branch.plans = append(e.branch.plans, made)
	e.plan, e.branch.counted.under = made, made
	extent{e}.hold(r.ReasonCode)
	e.says.what, e.says.before, e.says.after, e.says.record = "compacted", r.TokensBefore, r.TokensAfter, made.record
	return r.TokensAfter < r.TokensBefore, nil
}

// paysShort reports whether it pays to send what a look only shortened: the provider's cache holds nothing of the
// conversation, or has to give it up, as the conversation as it came is past its window or a bound.
func paysShort(e *exchange, why look, r *kagewasm.Report) bool {
	if r.TokensAfter >= r.TokensBefore || e.cold || why.exceeded != nil {
		return r.TokensAfter < r.TokensBefore
	}
	most := e.window()
	if policy, err := e.policy(); err == nil {
		most = min(most, bound(e, &policy.When))
	}
	return float64(r.TokensBefore)*extent{e}.scale() >= float64(most)
}

// noteOf is the note of a compaction, with what stays before it and the note points to.
func noteOf(list []abi.Message, inserted []string) string {
	var texts []string
	for i := range list {
		m := &list[i]
		if m.Role == abi.RoleUser && m.Text() != "" {
			texts = append(texts, m.Text())
		}
		if m.Kind == abi.KindSummary && slices.Contains(inserted, m.ID) {
			break
		}
	}
	return strings.Join(texts, "\n\n")
}

// used is what the provider said of the last request of the conversation, nil where it said
// nothing, or where the conversation was compacted since.
func (e *exchange) used(ctx context.Context, came *reading) *kagewasm.Used {
	said := e.branch.reported
	if _, ok := (extent{e}).since(said); !ok {
		return nil
	}
	n := len(came.msgs)
	if said.elements < len(e.seen) {
		if n = (extent{e}).messagesIn(ctx, said.elements); n < 0 {
			return nil
		}
		n += came.lead
	}
	if e.plan != nil {
		n += len(e.plan.order) - e.plan.messages
	}
	return &kagewasm.Used{Messages: n, Tokens: said.tokens}
}

// messagesIn is how many messages the first elements of the request are, behind the leading system ones; -1 where that
// cannot be said.
func (e extent) messagesIn(ctx context.Context, elements int) int {
	d := e.doc
	if elements < 1 || d.lead+elements > len(d.els) {
		return -1
	}
	end := d.els[d.lead+elements-1].end
	before, err := transcript.ReadContext(ctx, "request", slices.Concat(d.doc[:end], d.doc[d.list.end-1:]), e.wire.format)
	if err != nil {
		return -1
	}
	lead := 0
	for lead < len(before.Messages) && before.Messages[lead].Role == abi.RoleSystem {
		lead++
	}
	return len(before.Messages) - lead
}

// original is a message as the client sends it.
func (r *reading) original(id string) *abi.Message {
	for i := range r.msgs {
		if r.msgs[i].ID == id {
			return &r.msgs[i]
		}
	}
	return nil
}

// planOf is the plan that makes of the whole request what the compactor made of it; nil
// where nothing changed.
func (e *exchange) planOf(came *reading, session string, result *kagewasm.Result) (*plan, error) {
	if result.Record == nil && result.Report.Pruned.Count == 0 {
		return nil, nil
	}
	made, err := e.wire.planOf(e.doc, came, len(came.msgs), result.Messages)
	if err != nil {
		return nil, err
	}
	made.session = session
	if result.Record != nil {
		made.record = result.Record.ID
	} else if e.plan != nil {
		made.record = e.plan.record
	}
	return made, nil
}

// planOf is the plan that puts a list in the place of the first messages of a body, the
// system ones included.
func (w *wire) planOf(d *document, came *reading, messages int, list []abi.Message) (*plan, error) {
	data, err := came.encode(append(slices.Clone(list), came.msgs[messages:]...))
	if err != nil {
		return nil, err
	}
	is := w.read(data)
	if is == nil {
		return nil, fmt.Errorf("what was written is no %s", w.format)
	}
	p := &plan{messages: messages - came.lead, elements: len(d.els) - d.lead, added: make(map[string]abi.Message)}
	if p.pieces = w.piecesOf(d, is); p.pieces == nil {
		return nil, fmt.Errorf("more than the messages of the request would change")
	}
	known := make(map[string]*abi.Message, len(came.msgs))
	for i := range came.msgs {
		known[came.msgs[i].ID] = &came.msgs[i]
	}
	for _, m := range list {
		was := known[m.ID]
		if m.Role == abi.RoleSystem && was != nil && was.Same(&m) && len(p.order) == 0 {
			continue // a leading one
		}
		p.order = append(p.order, m.ID)
		if was == nil || !was.Same(&m) {
			p.added[m.ID] = m
		}
	}
	return p, nil
}
