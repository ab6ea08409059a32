package store_test

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// model is a session as a person would keep it on paper: each state is a list of
// messages and the compactions that led to it, and a pile of states to go back to.
type model struct {
	all    []string // as they came, each at its place
	by     map[string]string
	flags  map[string]string
	bodies map[string]abi.Message
	took   map[string][]string // what a compaction superseded
	states []state             // one for each entry, the first of nothing
	redo   []int               // states that were left
}

type state struct {
	list, records []string
	prev          int // the state before, or the one that a rollback went back to
	alias         int // the state that this one is
	compaction    bool
}

func newModel() *model {
	return &model{by: map[string]string{}, flags: map[string]string{}, bodies: map[string]abi.Message{},
		took: map[string][]string{}, states: []state{{}}}
}

func (m *model) now() *state { return &m.states[len(m.states)-1] }

// become enters a state, and marks what is no more seen by whom.
func (m *model) become(next state, by string) {
	for _, id := range m.all {
		_, gone := m.by[id]
		if slices.Contains(next.list, id) || gone && by != "rollback" {
			continue
		}
		if m.by[id] = by; by == "rollback" {
			for _, record := range next.records {
				if slices.Contains(m.took[record], id) {
					m.by[id] = record
				}
			}
		}
	}
	for i, id := range next.list {
		if _, known := m.by[id]; !known && !slices.Contains(m.all, id) {
			at := 0
			if i > 0 {
				at = slices.Index(m.all, next.list[i-1]) + 1
			}
			if by == "" {
				at = len(m.all)
			}
			m.all = slices.Insert(m.all, at, id)
		}
		delete(m.by, id)
	}
	m.states = append(m.states, next)
}

func (m *model) grow(msgs []abi.Message) {
	next := *m.now()
	next.list = slices.Clone(next.list)
	for _, msg := range msgs {
		m.bodies[msg.ID] = msg
		next.list = append(next.list, msg.ID)
	}
	next.prev, next.alias, next.compaction = m.now().alias, len(m.states), false
	m.become(next, "")
	m.redo = nil
}

func (m *model) compact(list []string, note abi.Message, by *abi.Record) {
	record := by.ID
	m.took[record] = by.Superseded
	m.bodies[note.ID] = note
	next := state{list: list, records: append(slices.Clone(m.now().records), record), prev: m.now().alias,
		alias: len(m.states), compaction: true}
	m.become(next, record)
	m.redo = nil
}

// back goes back to a state, or to the beginning of its list.
func (m *model) back(to, length int) {
	next := m.states[to]
	if length < len(next.list) {
		next.list, next.prev, next.alias, next.compaction = next.list[:length], next.alias, len(m.states), false
	}
	from := m.now().alias
	if n := len(m.redo); n > 0 && m.redo[n-1] == next.alias {
		m.redo = m.redo[:n-1]
	} else if from != next.alias {
		m.redo = append(m.redo, from)
	}
	m.become(next, "rollback")
}

// TestModel: any sequence of append, compact, propose, roll back, undo, redo, flag and
// restart leaves the store equal to the model, and going back to the beginning of it
// all, entry by entry, shows every list byte for byte as it was.
func TestModel(t *testing.T) {
	features.Proves(t, "K11")
	features.Proves(t, "K12")
	features.Proves(t, "K17")
	onAll(t, func(t *testing.T, open func(store.Options) *store.Store) {
		checks, sessions := soak.Count(20, 60, 500), 0
		db := open(store.Options{})
		rapid.Check(t, func(rt *rapid.T) {
			if sessions++; sessions > checks {
				return
			}
			key := fmt.Sprintf("s%d#a/b", sessions)
			s := &subject{t: rt, db: db, key: key, model: newModel(), open: func() *store.Store { return open(store.Options{}) }}
			s.reopen()
			rt.Repeat(map[string]func(*rapid.T){
				"append": s.append, "compact": s.compact, "approve": s.approve, "rollback to": s.rollbackTo,
				"rollback": s.rollback, "undo": s.undo, "redo": s.redo, "flag": s.flag,
				"restart": func(*rapid.T) { s.reopen() }, "": s.check,
			})
			for k := len(s.model.states) - 1; k >= 0; k-- {
				if got := s.h.At(k); !reflect.DeepEqual(texts(got), s.bodiesOf(s.model.states[k].list)) {
					rt.Fatalf("state %d: %v, want %v", k, texts(got), s.model.states[k].list)
				}
			}
		})
	})
}

// subject is a session of the store beside its model.
type subject struct {
	t     *rapid.T
	db    *store.Store
	key   string
	h     *session.History
	model *model
	n     int
	open  func() *store.Store
}

func (s *subject) ok(err error) {
	if err != nil {
		s.t.Fatal(err)
	}
}

// reopen takes the session in again, as another process would.
func (s *subject) reopen() {
	h, err := session.OpenHistory(context.Background(), s.db, s.key, nil)
	s.ok(err)
	s.h = h
}

func (s *subject) next() string {
	s.n++
	return fmt.Sprintf("m%d", s.n)
}

func (s *subject) append(t *rapid.T) {
	var msgs []abi.Message
	for range rapid.IntRange(1, 4).Draw(t, "messages") {
		msgs = append(msgs, abi.Message{ID: s.next(), Role: abi.RoleUser,
			Content: abi.Text(rapid.StringN(0, 20, -1).Draw(t, "text"))})
	}
	s.ok(s.h.Append(context.Background(), msgs...))
	s.model.grow(msgs)
}

// plan is a compaction of the list as it is: a note in the place of some messages.
func (s *subject) plan(t *rapid.T) (list []abi.Message, note abi.Message, record *abi.Record) {
	now := s.h.Messages()
	if len(now) < 2 {
		t.Skip("too short")
	}
	from := rapid.IntRange(0, len(now)-1).Draw(t, "from")
	to := rapid.IntRange(from+1, len(now)).Draw(t, "to")
	note = abi.Message{ID: "note-" + s.next(), Role: abi.RoleUser, Kind: abi.KindSummary,
		Content: abi.Text("what was said")}
	record = &abi.Record{ID: "cmp-" + s.next(), Success: true}
	for _, m := range now[from:to] {
		record.Superseded = append(record.Superseded, m.ID)
	}
	list = slices.Concat(now[:from], []abi.Message{note}, now[to:])
	return list, note, record
}

func (s *subject) compact(t *rapid.T) {
	list, note, record := s.plan(t)
	s.ok(s.h.Rewrite(context.Background(), list, record))
	s.model.compact(listOf(list), note, record)
}

// approve proposes a compaction, lets more arrive, and approves or rejects it.
func (s *subject) approve(t *rapid.T) {
	list, note, record := s.plan(t)
	if rapid.Bool().Draw(t, "undone stays") && len(s.model.redo) > 0 {
		t.Skip("entries of proposals leave no state in the model")
	}
	s.ok(s.h.Propose(context.Background(), &kagewasm.Result{Messages: list, Record: record, Report: kReport}))
	s.model.states = append(s.model.states, *s.model.now())
	one, err := s.db.Session(context.Background(), s.key)
	s.ok(err)
	if one.Pending != record.ID || s.h.Pending() == nil {
		t.Fatalf("%q waits, want %q", one.Pending, record.ID)
	}
	if rapid.Bool().Draw(t, "restart") {
		s.reopen()
	}
	arrived := abi.Message{ID: s.next(), Role: abi.RoleUser, Content: abi.Text("by the way")}
	s.ok(s.h.Append(context.Background(), arrived))
	s.model.grow([]abi.Message{arrived})
	if rapid.Bool().Draw(t, "approved") {
		s.ok(s.h.Approve(context.Background(), record.ID))
		s.model.compact(append(listOf(list), arrived.ID), note, record)
		return
	}
	s.ok(s.h.Reject(context.Background(), record.ID, "no"))
	s.model.states = append(s.model.states, *s.model.now())
}

func (s *subject) rollbackTo(t *rapid.T) {
	to := rapid.IntRange(0, len(s.model.states)-1).Draw(t, "entry")
	s.ok(s.h.RollbackTo(context.Background(), to))
	s.model.back(to, len(s.model.states[to].list))
}

func (s *subject) rollback(t *rapid.T) {
	arrived := slices.DeleteFunc(slices.Sorted(maps.Keys(s.model.bodies)), func(id string) bool {
		return s.model.bodies[id].Kind != ""
	})
	if len(arrived) == 0 {
		t.Skip("nothing arrived")
	}
	id := rapid.SampledFrom(arrived).Draw(t, "message")
	s.ok(s.h.Rollback(context.Background(), id))
	for k := range s.model.states {
		if at := slices.Index(s.model.states[k].list, id); at >= 0 {
			s.model.back(k, at+1)
			return
		}
	}
}

func (s *subject) undo(t *rapid.T) {
	for at := s.model.now().alias; at > 0; at = s.model.states[at].prev {
		if s.model.states[at].compaction {
			record, err := s.h.Undo(context.Background())
			s.ok(err)
			if records := s.model.states[at].records; record.ID != records[len(records)-1] {
				t.Fatalf("undid %s, want the last of %v", record.ID, records)
			}
			s.model.back(at-1, len(s.model.states[at-1].list))
			return
		}
	}
	if _, err := s.h.Undo(context.Background()); abi.CodeOf(err) != abi.CodeUsage {
		t.Fatalf("nothing to undo: %v", err)
	}
}

func (s *subject) redo(t *rapid.T) {
	n := len(s.model.redo)
	err := s.h.Redo(context.Background())
	if n == 0 {
		if abi.CodeOf(err) != abi.CodeUsage {
			t.Fatalf("nothing to redo: %v", err)
		}
		return
	}
	s.ok(err)
	to := s.model.redo[n-1]
	s.model.back(to, len(s.model.states[to].list))
}

func (s *subject) flag(t *rapid.T) {
	var known []string
	for k := range s.model.states {
		known = append(known, s.model.states[k].records...)
	}
	if len(known) == 0 {
		t.Skip("no compaction")
	}
	id, flag := rapid.SampledFrom(known).Draw(t, "compaction"), rapid.SampledFrom(store.Flags).Draw(t, "flag")
	s.ok(s.db.Update(context.Background(), func(tx *store.Tx) error {
		return tx.Flag(context.Background(), s.key, id, flag, "said so")
	}))
	s.model.flags[id] = flag
}

// check compares all that the store says with the model.
func (s *subject) check(t *rapid.T) {
	ctx := context.Background()
	now := s.model.now()
	if got := texts(s.h.Messages()); !reflect.DeepEqual(got, s.bodiesOf(now.list)) {
		t.Fatalf("the model sees %v, want %v", got, now.list)
	}
	stored, err := s.db.Messages(ctx, s.key, store.MessageQuery{Superseded: true})
	s.ok(err)
	if want := s.h.All(); len(want)+len(stored) > 0 && !reflect.DeepEqual(stored, want) {
		t.Fatalf("stored %v, and the session has %v", stored, want)
	}
	var all []string
	for _, m := range stored {
		if all = append(all, m.ID); m.By != s.model.by[m.ID] || m.Superseded != (m.By != "") {
			t.Fatalf("%s is superseded by %q, want %q", m.ID, m.By, s.model.by[m.ID])
		}
	}
	if !slices.Equal(all, s.model.all) {
		t.Fatalf("all messages are %v, want %v", all, s.model.all)
	}
	records, err := s.db.Records(ctx, s.key)
	s.ok(err)
	var inForce []string
	for _, r := range records {
		if r.InForce {
			inForce = append(inForce, r.ID)
		}
		if r.Flag != s.model.flags[r.ID] {
			t.Fatalf("%s is flagged %q, want %q", r.ID, r.Flag, s.model.flags[r.ID])
		}
	}
	if !slices.Equal(inForce, now.records) {
		t.Fatalf("in force are %v, want %v", inForce, now.records)
	}
	if len(s.model.states) == 1 {
		return
	}
	one, err := s.db.Session(ctx, s.key)
	s.ok(err)
	if one.Messages != len(now.list) || one.Compactions != len(now.records) || one.ID+"#"+one.Agent != s.key {
		t.Fatalf("%+v, want %d messages and %d compactions", one, len(now.list), len(now.records))
	}
}

func (s *subject) bodiesOf(list []string) []string {
	out := []string{}
	for _, id := range list {
		out = append(out, id+": "+s.model.bodies[id].Content.Text())
	}
	return out
}

func texts(msgs []abi.Message) []string {
	out := []string{}
	for i := range msgs {
		out = append(out, msgs[i].ID+": "+msgs[i].Text())
	}
	return out
}

func listOf(msgs []abi.Message) (list []string) {
	for i := range msgs {
		list = append(list, msgs[i].ID)
	}
	return list
}
