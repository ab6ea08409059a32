package abitest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
)

// rules are all rules, in the order they are checked.
var rules = slices.Concat(
	[]rule{{
		name:        "manifest",
		explanation: "the manifest has to be valid: a host refuses the plugin otherwise",
		fix:         "change plugin.yaml as the message says, and build again",
		check:       func(_ context.Context, c *checker) error { return c.m.Validate() },
	}},
	sessionRules(), outputRules, compactorRules, callRules)

func compactor(m *abi.Manifest) string {
	if m.Has(abi.RoleCompactor) {
		return ""
	}
	return "the plugin is no compactor"
}

// handles is for rules about a hook. A manifest without hooks has those that
// the module exports, and pre_compact at least is asked of everyone.
func handles(h abi.Hook) func(*abi.Manifest) string {
	return func(m *abi.Manifest) string {
		if len(m.Hooks) == 0 || slices.Contains(m.Hooks, h) {
			return ""
		}
		return "the plugin has no hook " + string(h)
	}
}

// hasKnobs is for rules about knobs, which call pre_compact.
func hasKnobs(m *abi.Manifest) string {
	if len(m.Knobs) == 0 {
		return "the plugin has no knobs"
	}
	return handles(abi.HookPreCompact)(m)
}

// sessionRules is one rule for each session: it is answered.
func sessionRules() []rule {
	var list []rule
	for _, s := range sessions {
		list = append(list, rule{
			name: s.name, explanation: s.explanation, fix: s.fix, when: handles(abi.HookPreCompact),
			check: func(ctx context.Context, c *checker) error { return c.session(ctx, s.name).err },
		})
	}
	return list
}

// outputRules judge what any plugin answers.
var outputRules = []rule{
	{
		name:        "valid text",
		explanation: "everything a plugin says is UTF-8, and no fact is empty: it is stored and shown to a model",
		fix:         "cut texts between characters (guest languages cut at bytes), and leave out facts that are empty",
		answer:      validText,
	}, {
		name: "within budget",
		explanation: "an injection or a summary may cost budget.summary_tokens; the host cuts what is longer, in " +
			"the middle of a sentence",
		fix:    "cut inject and summary to budget.summary_tokens with tokens.count, or to four bytes a token",
		answer: withinBudget,
	}, {
		name:        "known pins",
		explanation: "always_keep and release name messages of the input: the host warns of any other",
		fix:         "put ids of input.messages into always_keep and release, no others",
		answer: func(_ *abi.Manifest, in *abi.Input, out *abi.Output) error {
			return known(in, slices.Concat(out.AlwaysKeep, out.Release))
		},
	}, {
		name: "only its role",
		explanation: "an observer returns no messages, and a summary or a cancel only with the capability " +
			"compaction.summary: the host refuses both",
		fix: "take role compactor into the manifest, or the capability compaction.summary, or answer with " +
			"retain and inject alone",
		answer: onlyItsRole,
	}, {
		name:        "reason to cancel",
		explanation: "a plugin that cancels says why: the operator sees it",
		fix:         "set reason beside cancel",
		answer: func(_ *abi.Manifest, _ *abi.Input, out *abi.Output) error {
			if out.Cancel && out.Reason == "" {
				return errors.New("cancel without a reason")
			}
			return nil
		},
	},
}

func validText(_ *abi.Manifest, _ *abi.Input, out *abi.Output) error {
	texts := map[string][]string{
		"retain": out.Retain, "unstored": {out.Unstored}, "inject": {out.Inject}, "summary": {out.Summary},
		"reason": {out.Reason},
	}
	if out.RequestCompaction != nil {
		texts["request_compaction"] = []string{out.RequestCompaction.Instructions}
	}
	for _, m := range out.Messages {
		texts["messages"] = append(texts["messages"], m.Text())
	}
	for _, field := range slices.Sorted(maps.Keys(texts)) {
		for i, s := range texts[field] {
			if !utf8.ValidString(s) {
				return fmt.Errorf("%s %d: invalid utf-8", field, i)
			}
			if field == "retain" && s == "" {
				return fmt.Errorf("retain %d: empty", i)
			}
		}
	}
	return nil
}

func withinBudget(_ *abi.Manifest, in *abi.Input, out *abi.Output) error {
	if n := len(out.Retain); n > abi.MaxRetained {
		return fmt.Errorf("retain: %d facts, %d allowed", n, abi.MaxRetained)
	}
	if in.Budget.SummaryTokens == 0 {
		return nil // there is no room for anything, and the host leaves it out
	}
	limit := slack(in.Budget.SummaryTokens)
	for field, s := range map[string]string{"inject": out.Inject, "summary": out.Summary} {
		if n := estimateText(len(s)); n > limit {
			return fmt.Errorf("%s: about %d tokens, %d allowed", field, n, in.Budget.SummaryTokens)
		}
	}
	return nil
}

func known(in *abi.Input, ids []string) error {
	for _, id := range ids {
		if !slices.ContainsFunc(in.Messages, func(m abi.InputMessage) bool { return m.ID == id }) {
			return fmt.Errorf("no message %q", id)
		}
	}
	return nil
}

func onlyItsRole(m *abi.Manifest, _ *abi.Input, out *abi.Output) error {
	if m.Has(abi.RoleCompactor) {
		return nil
	}
	if out.Messages != nil || len(out.Superseded) > 0 {
		return errors.New("an observer returned messages")
	}
	if _, asked := m.Capabilities[abi.CapCompactionSummary]; !asked && (out.Summary != "" || out.Cancel) {
		return errors.New("a summary or a cancel without the capability")
	}
	return nil
}

// callRules drive the plugin themselves.
var callRules = []rule{
	{
		name:        "deterministic",
		explanation: "the same input gets the same output, byte for byte: replays, caches and undo rely on it",
		fix: "take nothing from call ids, counters or the order of a map: sort what comes out of one; " +
			"answers of servers and models are replayed (--replay)",
		when: handles(abi.HookPreCompact), check: deterministic,
	}, {
		name:        "dry run stores nothing",
		explanation: "where trigger.dry_run is set a plugin answers as always and stores nothing",
		fix:         "look at trigger.dry_run before kv.set and kv.delete",
		when:        handles(abi.HookPreCompact), check: dryRunStoresNothing,
	}, {
		name: "default knobs",
		explanation: "without knob values a plugin does what it does with the defaults of its manifest, so that " +
			"what an operator reads is what happens",
		fix:  "read each knob with the default that the manifest has",
		when: hasKnobs, check: defaultKnobs,
	}, {
		name: "extreme knobs",
		explanation: "every value a knob takes is survived: the ends of ranges, each value of an enum, both " +
			"booleans, an empty text",
		fix:  "handle the ends of the knob's range, or narrow it in the manifest",
		when: hasKnobs, check: extremeKnobs,
	}, {
		name:        "no budget",
		explanation: "a target and a summary of 0 tokens (an operator asked for the utmost) is no reason to fail",
		fix:         "treat 0 tokens as: keep what is pinned and say little",
		when:        handles(abi.HookPreCompact), check: noBudget,
	}, {
		name:        "post_compact on success",
		explanation: "post_compact is called after every compaction, with the new list and the record",
		fix:         "read record and messages as the input has them; nothing else is promised",
		when:        handles(abi.HookPostCompact),
		check: func(ctx context.Context, c *checker) error {
			return c.post(ctx, &abi.Record{ID: "r1", Success: true, Strategy: "drop", ReasonCode: abi.ReasonCompacted,
				TokensBefore: 900, TokensAfter: 500, Summary: "Parts are ported."})
		},
	}, {
		name: "post_compact on failure",
		explanation: "post_compact is called after a failure too, with the failures in the record; or with no " +
			"record by older hosts",
		fix:  "look whether record is there and record.success is set before anything else",
		when: handles(abi.HookPostCompact),
		check: func(ctx context.Context, c *checker) error {
			failed := []*abi.Error{{Code: abi.CodeModel, Message: "no answer"}}
			record := &abi.Record{ID: "r2", ReasonCode: abi.ReasonNothingToSupersede, Failures: failed}
			return errors.Join(c.post(ctx, record), c.post(ctx, nil))
		},
	}, {
		name:        "turn_end",
		explanation: "turn_end is called when a turn has completed, with no compaction in sight",
		fix:         "do not rely on budget and trigger, which are empty in turn_end",
		when:        handles(abi.HookTurnEnd),
		check: func(ctx context.Context, c *checker) error {
			in := *c.inputs["plain session"]
			in.Hook, in.Trigger, in.Budget = abi.HookTurnEnd, abi.Trigger{}, abi.Budget{}
			return c.call(ctx, &in).err
		},
	},
	onEverySession(abi.HookPostCompact),
	onEverySession(abi.HookTurnEnd),
}

// onEverySession calls a hook other than pre_compact with all sessions.
func onEverySession(h abi.Hook) rule {
	return rule{
		name:        string(h) + " on any session",
		explanation: "a hook is called for whatever session there is: empty ones, huge ones, odd ones",
		fix:         "see what the named session has: pre_compact is asked the same in a rule of its own",
		when:        handles(h),
		check: func(ctx context.Context, c *checker) error {
			for _, s := range sessions {
				in := *c.inputs[s.name]
				in.Hook, in.Trigger, in.Budget = h, abi.Trigger{DryRun: true}, abi.Budget{}
				if h == abi.HookPostCompact {
					in.Record = &abi.Record{ID: "r3", ReasonCode: abi.ReasonNothingToSupersede, Failures: []*abi.Error{}}
				}
				if a := c.call(ctx, &in); a.err != nil {
					return fmt.Errorf("session %q: %w", s.name, a.err)
				}
			}
			return nil
		},
	}
}

// dry is the input of a session as a dry run: no state changes, so that calls
// can be compared.
func (c *checker) dry(session string) *abi.Input {
	in := *c.inputs[session]
	in.Trigger.DryRun = true
	return &in
}

func deterministic(ctx context.Context, c *checker) error {
	for _, name := range []string{"plain session", "odd shapes", "reused call ids"} {
		if err := c.same(ctx, c.dry(name), c.dry(name)); err != nil {
			return fmt.Errorf("session %q twice: %w", name, err)
		}
	}
	return nil
}

func defaultKnobs(ctx context.Context, c *checker) error {
	bare := c.dry("plain session")
	bare.Config = nil
	return c.same(ctx, c.dry("plain session"), bare)
}

// same reports how the answers to two inputs differ.
func (c *checker) same(ctx context.Context, x, y *abi.Input) error {
	a, b := c.call(ctx, x), c.call(ctx, y)
	if err := errors.Join(a.err, b.err); err != nil {
		return err
	}
	first, err := json.Marshal(a.out)
	if err != nil {
		return err
	}
	second, err := json.Marshal(b.out)
	if err != nil {
		return err
	}
	at := 0
	for at < min(len(first), len(second)) && first[at] == second[at] {
		at++
	}
	if !bytes.Equal(first, second) {
		return fmt.Errorf("the answers differ: ...%.60q and ...%.60q", first[at:], second[at:])
	}
	return nil
}

func dryRunStoresNothing(ctx context.Context, c *checker) error {
	// Nothing of this session is stored already.
	in := NewInput(c.m, append(plain()[:2], workOn(1000, 8)...), 0)
	in.Trigger.DryRun, in.Session.ID = true, "dry"
	a := c.call(ctx, in)
	if a.err != nil {
		return a.err
	}
	for _, op := range []abi.Op{abi.OpKVSet, abi.OpKVDelete} {
		if n := a.stats.HostCalls[op]; n > 0 {
			return fmt.Errorf("%s %d times in a dry run of a session it has not seen", op, n)
		}
	}
	return nil
}

func extremeKnobs(ctx context.Context, c *checker) error {
	for _, name := range slices.Sorted(maps.Keys(c.m.Knobs)) {
		for _, v := range extremes(c.m.Knobs[name]) {
			in := c.dry("plain session")
			in.Config = maps.Clone(in.Config)
			if in.Config == nil {
				in.Config = make(abi.Config)
			}
			in.Config[name], _ = json.Marshal(v)
			if a := c.call(ctx, in); a.err != nil {
				return fmt.Errorf("%s = %v: %w", name, v, a.err)
			}
		}
	}
	return nil
}

func extremes(k abi.Knob) []any {
	switch k.Type {
	case abi.KnobRange, abi.KnobIntRange:
		return []any{k.Min, largest(k)}
	case abi.KnobBoolean:
		return []any{false, true}
	case abi.KnobEnum:
		var list []any
		for _, v := range k.Values {
			list = append(list, v)
		}
		return list
	}
	return []any{""}
}

// largest is the largest value that a range takes: with a step it can be less
// than its end.
func largest(k abi.Knob) float64 {
	if k.Step <= 0 {
		return k.Max
	}
	return k.Min + math.Floor((k.Max-k.Min)/k.Step+1e-9)*k.Step
}

func noBudget(ctx context.Context, c *checker) error {
	in := c.dry("plain session")
	in.Budget = abi.Budget{}
	return c.call(ctx, in).err
}

// post calls post_compact with what drop would have left.
func (c *checker) post(ctx context.Context, r *abi.Record) error {
	in := *c.inputs["plain session"]
	in.Hook, in.Record = abi.HookPostCompact, r
	if r != nil && r.Success {
		in.Messages = slices.Concat(in.Messages[:2], in.Messages[34:])
		for _, m := range c.inputs["plain session"].Messages[2:34] {
			r.Superseded = append(r.Superseded, m.ID)
		}
	}
	return c.call(ctx, &in).err
}
