package kagewasm

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/filelist"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// outcome is what the stages found and made. The report is made of it.
type outcome struct {
	strategies.List        // what the model would see without a compaction
	pruned          Pruned // and what was taken out of that
	pre             preCompacted
	planned
	code    abi.ReasonCode
	warning string
	// receipt is the receipt of a compaction which was not made, or not put in place.
	receipt *abi.Receipt
}

// after returns the list that the model is given.
func (o *outcome) after() strategies.List {
	if a := o.taken; a != nil {
		return strategies.List{Messages: a.Messages, Tokens: a.Cost, Total: a.Tokens}
	}
	return o.List
}

// undone returns the outcome of a compaction that was made and is not put in place: the session as it
// came. What it cost to make stays in it.
func undone(l *look, o outcome, made *Result, code abi.ReasonCode) outcome {
	o.List, o.pruned, o.code, o.warning = l.came.PinnedAs(o.List), Pruned{}, code, ""
	o.receipt, o.taken = notLost(made.Report.Receipt), nil
	return o
}

// resultOf makes the report of an outcome, and the record where there is one.
func resultOf(l *look, o outcome) *Result {
	after := o.after()
	r := Report{
		ReasonCode: o.code, Fallback: o.planned.fallback,
		Failures: l.withoutSecrets(slices.Concat(o.pre.unstored, o.planned.failures)),
		Window:   l.limits.Window, ContextWindow: l.req.Session.ContextWindow, Model: l.req.Session.Model,
		Scale: l.scaled.reported(),
		Upper: l.limits.upperShare, Lower: l.limits.lowerShare, Target: l.limits.Target, DryRun: l.req.DryRun,
		TokensBefore: l.came.Total, MessagesBefore: len(l.came.Messages),
		TokensAfter: after.Total, MessagesAfter: len(after.Messages),
		Pruned: o.pruned, Hooks: l.bareOutcomes(o.planned.outcomes), Retained: o.pre.Retained, Wishes: o.pre.Wishes,
		Warning: o.warning,
		Receipt: o.receipt, Cost: costOf(l, o.planned),
	}
	if a := o.taken; a != nil {
		taken(l, &r, o, a)
	} else {
		r.Kept, r.Metrics = l.ids(o.List), nothingGone
	}
	if r.Pruned.Count > 0 {
		r.Pruned.named(l.came.Messages)
	}
	for i := range o.Messages {
		if o.Pinned[i] {
			r.Pinned = append(r.Pinned, o.Messages[i].ID)
		}
	}
	if r.TokensAfter > 0 {
		r.Metrics.CompressionRatio = float64(r.TokensBefore) / float64(r.TokensAfter)
	}
	r.Metrics.Cache = cacheOf(l, after)
	if r.Compacted {
		r.Receipt = weigh(l, r.Metrics.Cache.PrefixTokens, r.TokensAfter, r.Cost)
		r.Receipt.LostPrefixTokens = new(r.Metrics.Cache.PreviousTokens - r.Metrics.Cache.PrefixTokens)
	}
	if r.Warning == "" {
		r.Warning = boundThinking(l, after)
	}
	if r.Reason = explain(&r); o.planned.little != "" && o.code == abi.ReasonNothingToSupersede {
		r.Reason = o.planned.little
	}
	r.Metrics.MS = float64(l.opts.Now().Sub(l.start).Microseconds()) / 1000
	result := &Result{Messages: after.Messages, late: o.pre.late, observing: o.pre.Late}
	if r.Compacted || r.DryRun {
		result.Record = record(l, &r)
	}
	r.normalize()
	result.Report = r
	return result
}

// Recount sets how many messages and tokens the result has in the format that it is written in, where
// it was counted in another one. The ratio and the words of Reason follow.
func (r *Report) Recount(messagesAfter, tokensAfter int) {
	explained := r.Reason == explain(r)
	r.MessagesAfter, r.TokensAfter = messagesAfter, tokensAfter
	if tokensAfter > 0 {
		r.Metrics.CompressionRatio = float64(r.TokensBefore) / float64(tokensAfter)
	}
	if explained {
		r.Reason = explain(r)
	}
}

// boundThinking returns a warning where answers after the first change hold thinking which the model's
// provider will not take there, else "".
func boundThinking(l *look, after strategies.List) string {
	if !l.opts.Lookup(l.req.Session.Model).BindsThinking {
		return ""
	}
	_, ids := firewall.DropThinking(l.came.Messages, nil, after.Messages)
	if len(ids) == 0 {
		return ""
	}
	answers, leave := "answers", "leave it out (drop_thinking), or"
	if l.policy.Keep.DropThinking {
		answers, leave = "marked answers", "mark them no more, or"
	}
	return fmt.Sprintf("%d %s behind the first change hold thinking, which %s takes only where nothing before it "+
		"changed: %s have the provider do so (thinking.block_binding.prefix_mismatch_behavior drop_block)", len(ids), answers,
		l.req.Session.Model, leave)
}

// withoutSecrets returns the errors without the secrets that a message, a model or a plugin put into
// their words.
func (l *look) withoutSecrets(list []*abi.Error) []*abi.Error {
	return lists.Map(list, l.bareError)
}

func (l *look) bareError(e *abi.Error) *abi.Error {
	if e == nil {
		return nil
	}
	bare := *e
	bare.Message, _ = l.secrets.Redact(e.Message)
	bare.Hint, _ = l.secrets.Redact(e.Hint)
	return &bare
}

// bareOutcomes returns the outcomes of calls without the secrets in what plugins said.
func (l *look) bareOutcomes(list []hooks.Outcome) []hooks.Outcome {
	return lists.Map(list, func(o hooks.Outcome) hooks.Outcome {
		o.Error, o.Unstored = l.bareError(o.Error), l.bareError(o.Unstored)
		o.Warnings = lists.Map(o.Warnings, func(s string) string { s, _ = l.secrets.Redact(s); return s })
		o.Logs = lists.Map(o.Logs, func(line abi.LogRequest) abi.LogRequest {
			line.Message, _ = l.secrets.Redact(line.Message)
			return line
		})
		return o
	})
}

// bareWishes returns what plugins ask for without the secrets in it.
func bareWishes(l *look, list []hooks.Wish) []hooks.Wish {
	return lists.Map(list, func(w hooks.Wish) hooks.Wish {
		w.Instructions, _ = l.secrets.Redact(w.Instructions)
		return w
	})
}

// taken writes a plan that was applied into the report.
func taken(l *look, r *Report, o outcome, a *attempt) {
	files := cumulative(a)
	r.Compacted, r.Strategy, r.Source, r.Files = true, o.planned.strategy, &a.plan.Source, &files
	r.Summary = strings.Join(append([]string{a.note}, a.more...), "\n\n")
	r.AuditSummary = a.plan.AuditSummary
	r.Superseded, r.Kept, r.Inserted, r.Edited = a.Superseded, a.Kept, a.Inserted, a.Edited
	r.FirstKept = firstKept(a)
	r.Focus = a.read.Focus(a.note)
	r.Metrics = metrics(l, a)
	// What the plan shortened is added to what pruning did.
	before := make(map[string]int, len(o.Messages))
	for i := range o.Messages {
		before[o.Messages[i].ID] = o.Tokens[i]
	}
	saved, changed := 0, set.Of(slices.Concat(a.Edited, a.Bare)...)
	for i := range a.Messages {
		if id := a.Messages[i].ID; changed[id] {
			saved += before[id] - a.Cost[i]
		}
	}
	r.Pruned.took(slices.Concat(a.Edited, a.Bare), saved)
	r.Pruned.Thinking = slices.Concat(r.Pruned.Thinking, a.Bare)
}

// cumulative returns the files that were read and modified in what goes and before it, and notes them on the summary:
// the next compaction goes on with them, whatever its text had room for.
func cumulative(a *attempt) abi.Files {
	files, added := a.read.Files(), set.Of(a.Inserted...)
	for i := range a.Messages {
		if m := &a.Messages[i]; !added[m.ID] { // an earlier summary that stays
			earlier := filelist.Of(m)
			deleted := lists.Filter(earlier.Deleted, func(f string) bool { return !slices.Contains(files.Modified, f) })
			files = abi.Files{Read: slices.Concat(files.Read, earlier.Read),
				Modified: slices.Concat(files.Modified, earlier.Modified), Deleted: slices.Concat(files.Deleted, deleted)}
		}
	}
	files = files.Merged()
	for i := range a.Messages {
		if m := &a.Messages[i]; m.Kind == abi.KindSummary && added[m.ID] {
			m.Meta = filelist.Meta(files)
			break
		}
	}
	return files
}

// firstKept returns the id of the first message that a model still sees behind the note, "" where none is there.
func firstKept(a *attempt) string {
	added, behind := set.Of(a.Inserted...), false
	for i := range a.Messages {
		switch m := &a.Messages[i]; {
		case added[m.ID]:
			behind = behind || m.Kind == abi.KindSummary
		case behind && !m.Kind.Internal():
			return m.ID
		}
	}
	return ""
}

// nothingGone are the metrics where nothing was to be kept.
var nothingGone = Metrics{FailureRetention: 1, Completeness: 1, WordsKept: 1}

// metrics returns figures that say how good a note is.
func metrics(l *look, a *attempt) Metrics {
	m := nothingGone
	m.NoteTokens, m.Redacted = a.host, a.redacted
	if m.FailuresTold, m.FailuresGone = a.read.FailuresTold(a.note); m.FailuresGone > 0 {
		m.FailureRetention = float64(m.FailuresTold) / float64(m.FailuresGone)
	}
	if told, all := a.read.Words(a.note); all > 0 {
		m.WordsKept = float64(told) / float64(all)
	}
	sections, _ := note.OutlineNamed(l.policy.Summarize.Outline) // checked with the policy
	if a.plan.Source.Type == abi.SourceModel && len(sections.Sections) > 0 {
		m.MissingSections = sections.Missing(a.plan.Summary)
		m.Completeness = 1 - float64(len(m.MissingSections))/float64(len(sections.Sections))
	}
	return m
}

// record returns the compaction as it is stored.
func record(l *look, r *Report) *abi.Record {
	rec := &abi.Record{
		Time: l.now, Success: r.Compacted, DryRun: r.DryRun, Trigger: l.req.Reason, Instructions: l.instructions,
		Strategy: r.Strategy, ReasonCode: r.ReasonCode, TokensBefore: r.TokensBefore, TokensAfter: r.TokensAfter,
		MessagesBefore: r.MessagesBefore, MessagesAfter: r.MessagesAfter,
		Superseded: nonNil(r.Superseded), Inserted: nonNil(r.Inserted), Edited: r.Edited, Summary: r.Summary, Files: r.Files,
		FirstKept: r.FirstKept, AuditSummary: r.AuditSummary,
		Model: r.Cost.Model, Receipt: r.Receipt, Failures: r.Failures,
	}
	if r.Source != nil {
		rec.Source = *r.Source
	}
	h := sha256.New()
	of := []string{l.req.Session.ID, l.req.Session.AgentPath, l.start.Format(time.RFC3339Nano)}
	for _, list := range [][]string{of, rec.Superseded, rec.Inserted} {
		for _, s := range list {
			h.Write([]byte(s + "\x00"))
		}
		h.Write([]byte{1})
	}
	rec.ID = "cmp-" + hex.EncodeToString(h.Sum(nil)[:8])
	return rec
}

// normalize makes empty lists of missing ones, so that the JSON document
// always has the same shape.
func (r *Report) normalize() {
	for _, list := range []*[]string{&r.Superseded, &r.Kept, &r.Inserted, &r.Pinned, &r.Pruned.IDs} {
		*list = nonNil(*list)
	}
	r.Failures = nonNil(r.Failures)
	r.Hooks = nonNil(r.Hooks)
}

func nonNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

// explain returns the reason of a report in words.
func explain(r *Report) string {
	said := because(r)
	if words := r.Pruned.Words; len(words) > 0 {
		said += fmt.Sprintf("; beginning and end are left of what was said in %s, which left no room for anything else",
			strings.Join(words, ", "))
	}
	return said
}

func because(r *Report) string {
	switch r.ReasonCode {
	case abi.ReasonCompacted:
		return fmt.Sprintf("%d of %d messages superseded, %d tokens brought down to %d (target %d)", len(r.Superseded),
			r.MessagesBefore, r.TokensBefore, r.TokensAfter, r.Target)
	case abi.ReasonBelowThreshold:
		if r.Pruned.TokensSaved > 0 && float64(r.TokensAfter) > r.Lower*float64(r.Window) {
			return fmt.Sprintf("%d tokens pruned to %d, %.0f%% of the window of %d: a compaction starts at %.0f%%, and only "+
				"that goes down to %.0f%%", r.TokensBefore, r.TokensAfter, 100*float64(r.TokensAfter)/float64(r.Window), r.Window,
				100*r.Upper, 100*r.Lower)
		}
		return fmt.Sprintf("%d tokens, %.0f%% of the window of %d: compaction starts at %.0f%%", r.TokensAfter,
			100*float64(r.TokensAfter)/float64(r.Window), r.Window, 100*r.Upper)
	case abi.ReasonCancelled:
		return "the caller gave up; nothing was changed"
	case abi.ReasonCancelledByPlugin:
		return fmt.Sprintf("cancelled by %s; nothing was changed", cancelledBy(r.Hooks))
	case abi.ReasonCommitFailed:
		return "the result could not be stored; the session is as it was"
	case abi.ReasonFailed:
		return "nobody could make a plan, and the floor is switched off; the session is as it was"
	case abi.ReasonDisabled:
		return fmt.Sprintf("%d tokens, %.0f%% of the window of %d; automatic compaction is switched off", r.TokensAfter,
			100*float64(r.TokensAfter)/float64(r.Window), r.Window)
	case abi.ReasonRejected:
		return fmt.Sprintf("%d tokens, %.0f%% of the window of %d; the operator rejected a compaction, and nothing came "+
			"since", r.TokensAfter, 100*float64(r.TokensAfter)/float64(r.Window), r.Window)
	case abi.ReasonPending:
		return "a compaction is ready, and waits for the operator to approve it; nothing was changed"
	case abi.ReasonPruneOnly:
		if len(r.Failures) > 0 {
			return "the model for summaries is left alone for a while, and the floor is switched off: only old tool output " +
				"was shortened"
		}
		return "no model for summaries and no compactor plugin, and the floor is switched off: only old tool output was " +
			"shortened"
	case abi.ReasonNotWorthIt:
		if r.Receipt == nil {
			return "too little could go for a compaction: nearly all there is has to stay"
		}
		return "a compaction would not earn back its cost soon enough: " + words(r.Receipt)
	case abi.ReasonNothingToSupersede:
		if r.TokensAfter <= r.Target {
			return fmt.Sprintf("%d tokens, under the target of %d already", r.TokensAfter, r.Target)
		}
		return fmt.Sprintf("%d tokens, and nothing that could go would make it less", r.TokensAfter)
	case abi.ReasonPinnedExceedTarget:
		return fmt.Sprintf("everything that may go went; what is pinned and the summary cost %d tokens (target %d)",
			r.TokensAfter, r.Target)
	case abi.ReasonCurrentTurnExceedsTarget:
		return fmt.Sprintf("everything that may go went; what is pinned, the current turn and the summary cost %d tokens "+
			"(target %d)", r.TokensAfter, r.Target)
	}
	return string(r.ReasonCode)
}

func cancelledBy(list []hooks.Outcome) string {
	cancelled := lists.Filter(list, func(o hooks.Outcome) bool { return o.Outcome == hooks.OutcomeCancelled })
	return strings.Join(lists.Map(cancelled, func(o hooks.Outcome) string { return o.Plugin }), ", ")
}
