package kagewasm

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
)

// apply fills in the report of a plan that was taken.
func (p *pass) apply(v *firewall.Verdict) *Result {
	r := &p.report
	r.Compacted = true
	r.Superseded, r.Kept, r.Inserted = v.Superseded, v.Kept, v.Inserted
	r.TokensAfter, r.MessagesAfter = v.Tokens, len(v.Messages)
	p.after = make([]int, len(v.Messages))
	for i := range v.Messages {
		p.after[i] = p.opts.Counter.Message(&v.Messages[i])
	}
	p.addEdited(v)
	return p.finish(v.Messages, p.limits.reasonCode(v.Tokens, p.fixed(v)))
}

// fixed is what is pinned costs, with the units it holds, overhead and what
// was inserted.
func (p *pass) fixed(v *firewall.Verdict) int {
	n := p.req.Overhead
	units, _ := abi.Units(p.messages)
	for _, u := range units {
		if slices.ContainsFunc(u, func(i int) bool { return p.pinned[i] }) {
			for _, i := range u {
				n += p.tokens[i]
			}
		}
	}
	for i := range v.Messages {
		if slices.Contains(v.Inserted, v.Messages[i].ID) {
			n += p.after[i]
		}
	}
	return n
}

// addEdited reports what a plan shortened beside what pruning did.
func (p *pass) addEdited(v *firewall.Verdict) {
	if len(v.Edited) == 0 {
		return
	}
	r := &p.report
	r.Edited = v.Edited
	cost := make(map[string]int, len(p.messages))
	for i := range p.messages {
		cost[p.messages[i].ID] = p.tokens[i]
	}
	for i := range v.Messages {
		if id := v.Messages[i].ID; slices.Contains(v.Edited, id) {
			r.Pruned.TokensSaved += cost[id] - p.after[i]
		}
	}
	p.listPruned(v.Edited)
}

// unchanged is the result where nothing was superseded.
func (p *pass) unchanged(code abi.ReasonCode) *Result {
	r := &p.report
	r.TokensAfter, r.MessagesAfter, p.after = p.total, len(p.messages), p.tokens
	r.Kept = make([]string, len(p.messages))
	for i := range p.messages {
		r.Kept[i] = p.messages[i].ID
	}
	return p.finish(p.messages, code)
}

func (p *pass) finish(msgs []abi.Message, code abi.ReasonCode) *Result {
	r := &p.report
	r.Hooks = p.hookTimes
	r.ReasonCode = code
	r.Reason = explain(code, r)
	r.Retained = p.facts
	if r.TokensAfter > 0 {
		r.Metrics.CompressionRatio = float64(r.TokensBefore) / float64(r.TokensAfter)
	}
	p.receive(msgs)
	r.Metrics.MS = float64(p.opts.Now().Sub(p.start).Microseconds()) / 1000
	for i := range p.messages {
		if p.pinned[i] {
			r.Pinned = append(r.Pinned, p.messages[i].ID)
		}
	}
	result := &Result{Messages: msgs, Report: *r}
	if r.Compacted || p.req.DryRun {
		result.Record = p.record()
	}
	result.Report.normalize()
	return result
}

// record is the compaction as it is stored.
func (p *pass) record() *abi.Record {
	r := &p.report
	rec := &abi.Record{
		Time: p.now, Success: true, DryRun: p.req.DryRun, Trigger: p.req.Reason, Strategy: r.Strategy,
		ReasonCode: r.ReasonCode, TokensBefore: r.TokensBefore, TokensAfter: r.TokensAfter,
		MessagesBefore: r.MessagesBefore, MessagesAfter: r.MessagesAfter,
		Superseded: nonNil(r.Superseded), Inserted: nonNil(r.Inserted), Edited: r.Edited, Summary: r.Summary, Files: r.Files,
		Model: r.Cost.Model, Receipt: r.Receipt, Failures: r.Failures,
	}
	if r.Source != nil {
		rec.Source = *r.Source
	}
	h := sha256.New()
	for _, list := range [][]string{{p.req.Session.ID, p.req.Session.AgentPath}, rec.Superseded, rec.Inserted} {
		for _, s := range list {
			h.Write([]byte(s + "\x00"))
		}
		h.Write([]byte{1})
	}
	rec.ID = "cmp-" + hex.EncodeToString(h.Sum(nil)[:8])
	return rec
}

// asItCame takes back what was done to the list. What it took to do it stays in
// the report.
func (p *pass) asItCame() {
	was := p.report
	p.report = p.blankReport()
	p.report.Failures, p.report.Fallback, p.report.Cost, p.report.Receipt, p.report.Warning = was.Failures, was.Fallback, was.Cost, was.Receipt, was.Warning
	pinned := idSet(was.Pinned)
	p.messages, p.tokens, p.total = p.originals, slices.Clone(p.memo.tokens), p.before
	p.pinned, p.held = make([]bool, len(p.messages)), nil
	for i := range p.messages {
		p.pinned[i] = pinned[p.messages[i].ID]
	}
}

// failed is the result of a compaction that could not be stored.
func (p *pass) failed(result *Result, err error) *Result {
	rec := *result.Record
	rec.Success, rec.ReasonCode, rec.Failures = false, abi.ReasonCommitFailed, append(rec.Failures, abi.AsError(err))
	p.asItCame()
	p.report.Failures = rec.Failures
	out := p.unchanged(abi.ReasonCommitFailed)
	out.Record = &rec
	return out
}
