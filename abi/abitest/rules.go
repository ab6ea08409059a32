package abitest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
)

// rules are all rules, in the order they are checked.
var rules = slices.Concat(
	[]rule{{
		name:        "manifest",
		explanation: "the manifest has to be valid: a host refuses the plugin otherwise",
		check:       func(_ context.Context, c *checker) error { return c.m.Validate() },
	}},
	sessionRules(), outputRules, compactorRules, callRules)

func compactor(m *abi.Manifest) bool { return m.Has(abi.RoleCompactor) }

// handles is for rules about a hook. A manifest without hooks has those that
// the module exports, and pre_compact at least is asked of everyone.
func handles(h abi.Hook) func(*abi.Manifest) bool {
	return func(m *abi.Manifest) bool { return len(m.Hooks) == 0 || slices.Contains(m.Hooks, h) }
}

// sessionRules is one rule for each session: it is answered.
func sessionRules() []rule {
	var list []rule
	for _, s := range sessions {
		list = append(list, rule{
			name: s.name, explanation: s.explanation, when: handles(abi.HookPreCompact),
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
		answer:      validText,
	}, {
		name:        "within budget",
		explanation: "an injection or a summary may cost budget.summary_tokens; the host cuts what is longer, in the middle of a sentence",
		answer:      withinBudget,
	}, {
		name:        "known pins",
		explanation: "always_keep names messages of the input: the host warns of any other",
		answer: func(_ *abi.Manifest, in *abi.Input, out *abi.Output) error {
			return known(in, out.AlwaysKeep)
		},
	}, {
		name:        "only its role",
		explanation: "an observer returns no messages, and a summary or a cancel only with the capability compaction.summary: the host refuses both",
		answer:      onlyItsRole,
	}, {
		name:        "reason to cancel",
		explanation: "a plugin that cancels says why: the operator sees it",
		answer: func(_ *abi.Manifest, _ *abi.Input, out *abi.Output) error {
			if out.Cancel && out.Reason == "" {
				return errors.New("cancel without a reason")
			}
			return nil
		},
	},
}

func validText(_ *abi.Manifest, _ *abi.Input, out *abi.Output) error {
	texts := map[string][]string{"retain": out.Retain, "inject": {out.Inject}, "summary": {out.Summary}, "reason": {out.Reason}}
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
		when:        handles(abi.HookPreCompact), check: deterministic,
	}, {
		name:        "dry run stores nothing",
		explanation: "where trigger.dry_run is set a plugin answers as always and stores nothing",
		when:        handles(abi.HookPreCompact), check: dryRunStoresNothing,
	}, {
		name:        "default knobs",
		explanation: "without knob values a plugin does what it does with the defaults of its manifest, so that what an operator reads is what happens",
		when:        handles(abi.HookPreCompact), check: defaultKnobs,
	}, {
		name:        "extreme knobs",
		explanation: "every value a knob takes is survived: the ends of ranges, each value of an enum, both booleans, an empty text",
		when:        handles(abi.HookPreCompact), check: extremeKnobs,
	}, {
		name:        "no budget",
		explanation: "a target and a summary of 0 tokens (an operator asked for the utmost) is no reason to fail",
		when:        handles(abi.HookPreCompact), check: noBudget,
	}, {
		name:        "post_compact on success",
		explanation: "post_compact is called after every compaction, with the new list and the record",
		when:        handles(abi.HookPostCompact),
		check: func(ctx context.Context, c *checker) error {
			return c.post(ctx, &abi.Record{ID: "r1", Success: true, Strategy: "drop", ReasonCode: abi.ReasonCompacted, TokensBefore: 900, TokensAfter: 500, Summary: "Parts are ported."})
		},
	}, {
		name:        "post_compact on failure",
		explanation: "post_compact is called after a failure too, with the failures in the record; or with no record by older hosts",
		when:        handles(abi.HookPostCompact),
		check: func(ctx context.Context, c *checker) error {
			failed := &abi.Record{ID: "r2", ReasonCode: abi.ReasonNothingToSupersede, Failures: []*abi.Error{{Code: abi.CodeModel, Message: "no answer"}}}
			return errors.Join(c.post(ctx, failed), c.post(ctx, nil))
		},
	}, {
		name:        "turn_end",
		explanation: "turn_end is called when a turn has completed, with no compaction in sight",
		when:        handles(abi.HookTurnEnd),
		check: func(ctx context.Context, c *checker) error {
			in := *c.inputs["plain session"]
			in.Hook, in.Trigger, in.Budget = abi.HookTurnEnd, abi.Trigger{}, abi.Budget{}
			return c.call(ctx, &in).err
		},
	},
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
	a := c.call(ctx, c.dry("plain session"))
	if a.err != nil {
		return a.err
	}
	for _, op := range []abi.Op{abi.OpKVSet, abi.OpKVDelete} {
		if n := a.stats.HostCalls[op]; n > 0 {
			return fmt.Errorf("%d calls of %s", n, op)
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
		return []any{k.Min, k.Max}
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
