package proxy

import (
	"context"
	"fmt"
	"slices"
	"strings"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// archive is what the store has to do with an exchange.
type archive struct{ *exchange }

// keyOf names a session of the family in the store.
func (e archive) keyOf(id string) string {
	return session.Key(abi.Session{ID: id, AgentPath: e.family.agent})
}

// session is the id under which a compaction of the request is stored: that of the
// conversation it goes on with, or a new one where it is another branch of it.
func (e archive) session(ctx context.Context) (string, error) {
	s := e.p.opts.Store
	if s == nil {
		return e.family.id, nil
	}
	from, record := "", ""
	switch {
	case e.plan != nil && e.plan.cut: // its session has another end
	case e.plan != nil:
		from, record = e.plan.session, e.plan.record
	case e.origin != nil:
		from, record = e.origin.Session, e.origin.Record
	}
	if from != "" {
		if tip, err := e.tip(ctx, from); err != nil || tip == record {
			return from, err
		}
	}
	for n := 1; ; n++ {
		id := e.family.branchID(n)
		switch _, err := s.Session(ctx, e.keyOf(id)); abi.CodeOf(err) {
		case "":
		case abi.CodeUsage:
			return id, nil
		default:
			return "", err
		}
	}
}

// known are the ids of the messages of a request, behind the leading system ones. Those that
// the store has of the compaction that the conversation goes on from have the store's; where
// the client has them otherwise, it goes on from nothing.
func (e archive) known(ctx context.Context, msgs []abi.Message) []string {
	ids := make([]string, len(msgs))
	if e.origin != nil {
		left, k, fresh := e.left(ctx, e.origin.Session, e.origin.Record), 0, 0
		for i := range msgs {
			if k < len(left) && alike(&left[k], &msgs[i]) {
				ids[i] = left[k].ID
				k++
				continue
			}
			ids[i] = e.arrived(fresh)
			fresh++
		}
		if k == len(left) && k > 0 {
			return ids
		}
		e.origin = nil
	}
	for i := range msgs {
		ids[i] = e.arrived(i)
	}
	return ids
}

// arrived is the id of a message that came since the conversation began, or since the
// compaction that it goes on from.
func (e archive) arrived(n int) string {
	if e.origin != nil {
		return fmt.Sprintf("%s-%05d", e.origin.Record, n)
	}
	return fmt.Sprintf("m%05d", n)
}

// branchID is the id of a family's conversation: the first has the family's own.
func (f *family) branchID(n int) string {
	if n == 1 {
		return f.id
	}
	return fmt.Sprintf("%s~%d", f.id, n)
}

// tip is the last compaction of a stored session that is in force, empty where there is
// none.
func (e archive) tip(ctx context.Context, id string) (string, error) {
	records, err := e.p.opts.Store.Records(ctx, e.keyOf(id))
	for _, r := range slices.Backward(records) {
		if r.InForce {
			return r.ID, err
		}
	}
	return "", err
}

// inForce drops the plans that a person has undone.
func (e archive) inForce(ctx context.Context) {
	b := e.branch
	if e.p.opts.Store == nil || len(b.plans) == 0 {
		return
	}
	force := make(map[string]bool)
	asked := make(map[string]bool)
	for _, p := range b.plans {
		if asked[p.session] {
			continue
		}
		asked[p.session] = true
		records, err := e.p.opts.Store.Records(ctx, e.keyOf(p.session))
		if err != nil {
			e.p.opts.Log("proxy: " + err.Error())
			return // what was applied before stays, for the cache's sake
		}
		for _, r := range records {
			if r.InForce {
				force[r.ID] = true
			}
		}
	}
	for i, p := range b.plans {
		if p.record != "" && !force[p.record] {
			b.plans = b.plans[:i]
			return
		}
	}
}

// commit stores what a compaction made of the conversation: what came since the one before,
// and the new list.
func (e archive) commit(ctx context.Context, came *reading, made *plan, result *kagewasm.Result) error {
	if e.p.opts.Store == nil {
		return nil
	}
	key := e.keyOf(made.session)
	return e.p.opts.Store.Update(ctx, func(tx *store.Tx) error {
		h, err := session.OpenHistory(ctx, tx, key, e.p.opts.Now)
		if err != nil {
			return err
		}
		if err := e.follow(ctx, h, came); err != nil {
			return err
		}
		if err := h.Rewrite(ctx, result.Messages, result.Record); err != nil {
			return err
		}
		about := store.About{Source: e.p.opts.Source, Model: e.engine.Model.Name()}
		if w := e.engine.Model.ContextWindow; w != nil {
			about.Window = *w
		}
		return tx.Describe(ctx, key, about, result.Report.TokensAfter)
	})
}

// follow adds to a history what it does not have of the conversation.
func (e archive) follow(ctx context.Context, h *session.History, came *reading) error {
	if h.Len() == 0 && e.plan != nil { // a branch takes over what was made of the beginning
		upTo := came.lead + e.plan.messages
		if err := h.Append(ctx, came.msgs[:upTo]...); err != nil {
			return err
		}
		view, err := came.view(e.plan)
		if err != nil {
			return err
		}
		if err := h.Rewrite(ctx, view[:len(view)-(len(came.msgs)-upTo)], nil); err != nil {
			return err
		}
	}
	known := set.Of(lists.Map(h.All(), func(m session.StoredMessage) string { return m.ID })...)
	return h.Append(ctx, lists.Filter(came.msgs, func(m abi.Message) bool { return !known[m.ID] })...)
}

// restore takes in what the store has of a session that the proxy does not know any more:
// what compactions and pruning made of the conversation that the request goes on with.
func (e archive) restore(ctx context.Context) {
	f := e.family
	if f.restored || e.p.opts.Store == nil {
		return
	}
	f.restored = true
	var came *reading
	for n := 1; ; n++ {
		key := e.keyOf(f.branchID(n))
		one, err := e.p.opts.Store.Session(ctx, key)
		if err != nil || one == nil {
			return
		}
		if came == nil {
			if came, err = e.reading(ctx, e.doc.doc); err != nil {
				return
			}
		}
		h, err := session.OpenHistory(ctx, e.p.opts.Store, key, e.p.opts.Now)
		if err != nil {
			e.p.opts.Log("proxy: " + key + ": " + err.Error())
			continue
		}
		if b := e.restored(came, f.branchID(n), h); b != nil {
			f.branches = append(f.branches, b)
		}
	}
}

// recognize finds the conversation that the request goes on with, and what of it was
// compacted.
func (e archive) recognize(ctx context.Context) {
	if e.origin != nil && !e.family.owns(e.origin.Session) {
		e.origin = nil // a fork is a session of its own
	}
	e.seen = e.wire.digests(e.doc, &e.family.known)
	e.restore(ctx)
	count := func(elements int) int { return extent(e).messagesIn(ctx, elements) }
	e.branch = e.family.branch(e.seen, count)
	e.inForce(ctx)
	if e.noted != nil && !e.branch.has(e.noted.record) { // what was before it is gone for good
		if alone := e.wire.withoutBlocks(e.whole, e.noted, e.before(ctx)); alone != nil {
			e.doc = alone
			e.seen = e.wire.digests(e.doc, &e.family.known)
			e.branch = e.family.branch(e.seen, count)
		}
	}
	e.plan = e.branch.plan(len(e.seen), count)
}

// restored is the branch of a stored session, nil where the request does not go on with it.
func (e archive) restored(came *reading, id string, h *session.History) *branch {
	at := make(map[string]int, len(came.msgs))
	for i := range came.msgs {
		at[came.msgs[i].ID] = i
	}
	last := "" // none where outputs were shortened alone
	if records := h.Compactions(); len(records) > 0 {
		last = records[len(records)-1].ID
	}
	if last != "" && e.origin != nil && last == e.origin.Record {
		return nil // the client has it all
	}
	upTo := e.goesOn(came, at, h)
	if upTo < 0 {
		return nil
	}
	list := seenOf(came, at, h)
	beginning, elements := e.beginning(came, upTo)
	if list == nil || beginning == nil {
		return nil
	}
	p, err := e.wire.planOf(beginning, &reading{Session: came.Session, msgs: came.msgs[:upTo], lead: came.lead,
		own: came.own}, upTo, list)
	if err != nil {
		e.p.opts.Log("proxy: " + id + ": " + err.Error())
		return nil
	}
	if last == "" && len(p.added) == 0 && len(p.order) == p.messages {
		return nil // nothing was made of it
	}
	p.session, p.record, p.elements = id, last, elements
	return &branch{seen: slices.Clone(e.seen[:elements]), plans: []*plan{p}}
}

// goesOn is how many messages of the request a session has, the first ones; -1 where the
// request does not have what arrived in the session.
func (e archive) goesOn(came *reading, at map[string]int, h *session.History) (upTo int) {
	n, stored := 0, make(map[string]bool)
	for _, m := range h.All() {
		stored[m.ID] = true
		if m.ID != e.arrived(n) || m.By == "rollback" || m.Kind == abi.KindSummary {
			continue // of another time, or what a compaction inserted
		}
		i, here := at[m.ID]
		if !here || !alike(&m.Message, &came.msgs[i]) {
			return -1
		}
		n++
	}
	if n == 0 {
		return -1
	}
	for upTo = came.lead; upTo < len(came.msgs) && stored[came.msgs[upTo].ID]; {
		upTo++
	}
	return upTo
}

// seenOf is what the model sees of a stored session, behind the system messages of the
// request; nil where the client has gone back behind a compaction that it asked for.
func seenOf(came *reading, at map[string]int, h *session.History) []abi.Message {
	inserted := make(map[string]bool)
	for _, r := range h.Compactions() {
		for _, id := range r.Inserted {
			inserted[id] = true
		}
	}
	list := slices.Clone(came.msgs[:came.lead])
	for _, m := range h.Messages() {
		if strings.HasPrefix(m.ID, "system-") {
			continue
		}
		if _, here := at[m.ID]; !here && !inserted[m.ID] {
			return nil
		}
		list = append(list, m)
	}
	return list
}

// beginning is the body with the first messages alone, and how many elements of the
// client's they are; nil where they do not end with one.
func (e archive) beginning(came *reading, messages int) (*document, int) {
	data, err := came.encode(came.msgs[:messages])
	if err != nil {
		return nil, 0
	}
	d := e.wire.read(data)
	if d == nil || d.lead != e.doc.lead || len(d.els) > len(e.doc.els) {
		return nil, 0
	}
	for i := range d.els {
		if string(d.els[i].of(d.doc)) != string(e.doc.els[i].of(e.doc.doc)) {
			return nil, 0
		}
	}
	return d, len(d.els) - d.lead
}

// alike reports whether two messages say the same. What formats write otherwise from one
// request to the next (marks, a text in a list) does not count.
func alike(a, b *abi.Message) bool {
	return a.Role == b.Role && a.ToolCallID == b.ToolCallID && slices.Equal(a.ToolCalls, b.ToolCalls) &&
		(a.Content.Equal(b.Content) || a.Text() == b.Text() && a.Text() != "")
}

// left is what a compaction left of a stored conversation, without the system's messages.
func (e archive) left(ctx context.Context, id, record string) (list []abi.Message) {
	if e.p.opts.Store == nil {
		return nil
	}
	key := e.keyOf(id)
	entries, err := e.p.opts.Store.Load(ctx, key)
	if err != nil {
		return nil
	}
	for i := range entries {
		if r := entries[i].Rewrite; r == nil || r.Record == nil || r.Record.ID != record {
			continue
		}
		h, err := session.OpenHistory(ctx, e.p.opts.Store, key, e.p.opts.Now)
		if err != nil {
			return nil
		}
		for _, m := range h.At(entries[i].Seq) {
			if m.Role != abi.RoleSystem {
				list = append(list, m)
			}
		}
	}
	return list
}
