// Package rerun makes a recorded compaction again, of what the store and its audit log have
// of it: the messages as they were, the policy and the request, the time, and what models
// and plugins answered. The same must come of it.
package rerun

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/tokens"
)

// Report says what came of it.
type Report struct {
	Session    string `json:"session"`
	Compaction string `json:"compaction"`
	Identical  bool   `json:"identical"`
	// Messages is how many the compaction left, and how many of them are compared.
	Messages int `json:"messages"`
	// Answers is how many answers of models were used again, Plugins how many of plugins,
	// whose modules were not run, and why.
	Answers int               `json:"answers"`
	Plugins int               `json:"plugins"`
	NotRun  map[string]string `json:"not_run,omitempty"`
	// Ran are the plugins whose modules were run again, in the order in which they were, with
	// the answers of the host calls that they had made.
	Ran []string `json:"ran,omitempty"`
	// Differences are the ids of messages that are others now, and figures.
	Differences []string `json:"differences"`
}

// Load loads the module of a plugin to be run with the settings of a call; nil where there is
// none of that digest.
type Load func(ctx context.Context, heard *kagewasm.Heard, config abi.Config, limits abi.Limits) (hooks.Plugin, error)

// Run makes the compaction of a session again. Plugins that load finds are run, with what
// their host calls were answered then; others answer as they did. load may be nil. It is a
// usage error where the log does not have what it was made of: it was made before that was
// kept, content is not kept, or plugins took part whose answers are not recorded.
func Run(ctx context.Context, s *store.Store, key, compaction string, load Load) (*Report, error) {
	made, err := find(ctx, s, key, compaction)
	if err != nil {
		return nil, err
	}
	base, want, all, err := lists(ctx, s, key, made)
	if err != nil {
		return nil, err
	}
	r := &Report{Session: key, Compaction: compaction, Messages: len(want)}
	result, err := again(ctx, made, base, all, load, r)
	if err != nil {
		return nil, err
	}
	r.Differences = append(differences(made, result, want), r.Differences...)
	r.Identical = len(r.Differences) == 0
	return r, nil
}

// made is what the audit log has of a compaction.
type made struct {
	compaction       string
	triggered, ended kagewasm.Event
}

func unusable(compaction, why string) error {
	return &abi.Error{Code: abi.CodeUsage, Op: "audit rerun", Message: "compaction " + compaction + ": " + why}
}

// find reads the log of a session for the end of a compaction, and what stands before it.
func find(ctx context.Context, s *store.Store, key, compaction string) (*made, error) {
	m, found := &made{compaction: compaction}, false
	err := s.Audit(ctx, key, 0, func(a store.Audited) error {
		var e kagewasm.Event
		if len(a.Content) == 0 || json.Unmarshal(a.Content, &e) != nil || found {
			return nil
		}
		switch {
		case e.Type == kagewasm.EventTriggered:
			m.triggered = e
		case e.Type == kagewasm.EventCompleted && e.Compaction == compaction:
			m.ended, found = e, true
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case !found || m.triggered.Given == nil || m.ended.Report == nil:
		return nil, unusable(compaction, "the audit log does not have what it was made of: an earlier version made it, or "+
			"no content is kept")
	}
	return m, nil
}

// lists are the messages as they were before a compaction, as it left them, and as they
// first came.
func lists(
	ctx context.Context, s *store.Store, key string, m *made,
) (base, want []abi.Message, all map[string]*abi.Message, err error) {
	entries, err := s.Load(ctx, key)
	if err != nil {
		return nil, nil, nil, err
	}
	h, err := session.OpenHistory(ctx, s, key, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	seq := 0
	for _, e := range entries {
		if e.Rewrite != nil && e.Rewrite.Record != nil && e.Rewrite.Record.ID == m.compaction {
			seq = e.Seq
		}
	}
	before := []abi.Message(nil)
	if seq > 0 {
		before = h.At(seq - 1)
	}
	n := m.triggered.Given.Messages
	if seq == 0 || n > len(before) {
		return nil, nil, nil, unusable(m.compaction, "the session does not have the messages that it was made of")
	}
	all = make(map[string]*abi.Message)
	for _, one := range h.All() {
		all[one.ID] = &one.Message
	}
	after := h.At(seq)
	return before[:n], after[:len(after)-(len(before)-n)], all, nil // what arrived meanwhile stays behind
}

// again makes the compaction, and counts in r what was used of the log.
func again(
	ctx context.Context, m *made, base []abi.Message, all map[string]*abi.Message, load Load, r *Report,
) (*kagewasm.Result, error) {
	g, said := m.triggered.Given, &answers{list: slices.Clone(m.ended.Heard)}
	at, err := time.Parse(time.RFC3339, m.triggered.Time)
	if err != nil {
		return nil, unusable(m.compaction, err.Error())
	}
	model := tokens.Default().Resolve(m.triggered.Session.Model)
	counter, err := tokens.New(model.Encoding, tokens.Options{})
	if err != nil {
		return nil, err
	}
	policy, always := g.Policy, set.Of(g.Always...)
	policy.Keep.Always = []func(*abi.Message) bool{func(one *abi.Message) bool { return always[one.ID] }}
	opts := kagewasm.Options{Counter: counter, Policy: policy, Now: func() time.Time { return at }}
	if len(said.list) > 0 {
		opts.Model = said
	}
	took, err := plugins(m)
	if err != nil {
		return nil, err
	}
	for _, p := range took {
		if err := p.find(ctx, load); err != nil {
			return nil, err
		}
	}
	for _, p := range took {
		opts.Plugins = append(opts.Plugins, p)
	}
	c, err := kagewasm.New(opts)
	if err != nil {
		return nil, err
	}
	result, err := c.Compact(ctx, kagewasm.Request{Session: m.triggered.Session, Messages: base, Overhead: g.Overhead,
		OutputReserve: g.OutputReserve, Reason: m.triggered.Trigger, Force: g.Force, Target: g.Target, Overrides: g.Overrides,
		Exceeded: g.Exceeded, Instructions: g.Instructions, Release: g.Release, Recall: g.Recall, Ongoing: g.Ongoing,
		Original: func(id string) *abi.Message { return all[id] }})
	if result == nil || err != nil && abi.CodeOf(err) != abi.CodeExceedsWindow {
		return nil, err
	}
	if result.Pending != nil {
		result = result.Pending
	}
	r.Answers = said.used
	for _, p := range took {
		p.tell(r)
	}
	return result, nil
}

// answers are those of models, given again to who asks the same.
type answers struct {
	mu   sync.Mutex
	list []kagewasm.Heard
	used int
}

// Complete implements abi.Model.
func (a *answers) Complete(_ context.Context, req abi.ModelRequest) (abi.ModelResponse, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.list {
		h := a.list[i]
		if !h.To(req) {
			continue
		}
		a.list = slices.Delete(a.list, i, i+1)
		a.used++
		var resp abi.ModelResponse
		if h.Response != nil {
			resp = *h.Response
		}
		if h.Error != nil {
			return resp, h.Error
		}
		return resp, nil
	}
	return abi.ModelResponse{}, &abi.Error{Code: abi.CodeNotRecorded, Op: "model", Message: "it was not asked this"}
}

// differences compares what came of it with what is stored.
func differences(m *made, r *kagewasm.Result, want []abi.Message) []string {
	list := []string{}
	was, is := m.ended.Report, &r.Report
	for _, f := range []struct {
		name    string
		was, is any
	}{{"strategy", was.Strategy, is.Strategy}, {"tokens after", was.TokensAfter, is.TokensAfter},
		{"messages", len(want), len(r.Messages)}, {"superseded", len(was.Superseded), len(is.Superseded)}} {
		if f.was != f.is {
			list = append(list, fmt.Sprintf("%s: %v, and was %v", f.name, f.is, f.was))
		}
	}
	for i := range min(len(want), len(r.Messages)) {
		a, _ := json.Marshal(&want[i])
		b, _ := json.Marshal(&r.Messages[i])
		if !bytes.Equal(a, b) {
			list = append(list, fmt.Sprintf("message %d: %s, and was %s", i, r.Messages[i].ID, want[i].ID))
		}
	}
	return list
}
