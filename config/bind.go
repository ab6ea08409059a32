package config

import (
	"reflect"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/strategies"
)

// targets are where settings go, by their path: a pointer, or a function.
type targets map[string]any

// bind puts everything that is said where it belongs.
func (to targets) bind(n *node, path string) {
	if n == nil || n.null {
		return
	}
	switch target := to[path].(type) {
	case func(*node):
		target(n)
	case nil:
		for _, k := range n.kids {
			to.bind(k, strings.TrimPrefix(path+"."+k.name, "."))
		}
	default:
		assign(reflect.ValueOf(target).Elem(), n)
	}
}

// assign sets a bool, a number, a text, a duration (as time.Duration, or as an
// integer of milliseconds), a pointer to one of those, or a list or map of them.
func assign(dst reflect.Value, n *node) {
	switch {
	case n.value != nil && dst.Kind() == reflect.Pointer:
		dst.Set(reflect.New(dst.Type().Elem()))
		assign(dst.Elem(), n)
	case n.value != nil:
		value := n.value
		if d, ok := value.(time.Duration); ok && dst.Type() != reflect.TypeFor[time.Duration]() {
			value = d.Milliseconds()
		}
		dst.Set(reflect.ValueOf(value).Convert(dst.Type()))
	case dst.Kind() == reflect.Slice:
		dst.Set(reflect.MakeSlice(dst.Type(), len(n.kids), len(n.kids)))
		for i, k := range n.kids {
			assign(dst.Index(i), k)
		}
	default:
		dst.Set(reflect.MakeMap(dst.Type()))
		for _, k := range n.kids {
			v := reflect.New(dst.Type().Elem()).Elem()
			assign(v, k)
			dst.SetMapIndex(reflect.ValueOf(k.name), v)
		}
	}
}

// targets are where what is said of an agent goes.
func (a *Agent) targets() targets {
	p := &a.Policy
	return targets{
		"model":   &a.Model,
		"context": &a.Window,
		"prompt":  &a.prompt,

		"compaction.enabled":         func(n *node) { p.Disabled = n.value == false },
		"compaction.strategy":        &p.Strategy,
		"compaction.compactor":       &a.Compactor,
		"compaction.observers":       &a.Observers,
		"compaction.agent":           &a.helper,
		"compaction.profile":         &p.When.Profile,
		"compaction.upper_threshold": &p.When.Upper,
		"compaction.lower_threshold": &p.When.Lower,
		"compaction.max_tokens":      &p.When.MaxTokens,
		"compaction.reserve_tokens":  &p.When.ReserveTokens,
		"compaction.output_reserve":  &p.When.OutputReserve,
		"compaction.strict_window":   &p.When.StrictWindow,
		"compaction.max_bytes":       &p.When.MaxBytes,
		"compaction.background":      &p.When.Background,
		"compaction.idle_upper":      &p.When.IdleUpper,
		"compaction.no_floor":        &p.NoFloor,
		"compaction.payback_calls":   &p.When.PaybackCalls,

		"compaction.trim.off":        &p.Prune.Trim.Off,
		"compaction.trim.threshold":  &p.Prune.Trim.Threshold,
		"compaction.trim.max_tokens": &p.Prune.Trim.MaxTokens,

		"compaction.prune.off":             &p.Prune.Off,
		"compaction.prune.protect_tokens":  &p.Prune.ProtectTokens,
		"compaction.prune.minimum_savings": &p.Prune.MinimumSavings,
		"compaction.prune.protected_tools": &p.Prune.ProtectedTools,
		"compaction.prune.shorten_tokens":  &p.Prune.ShortenTokens,
		"compaction.prune.end_tokens":      &p.Prune.EndTokens,
		"compaction.prune.reference":       &p.Prune.Reference,
		"compaction.prune.mode": func(n *node) {
			if p.Prune.Arguments = strategies.ArgumentMode(n.value.(string)); n.value == "off" {
				p.Prune.Arguments = strategies.ArgumentsOff
			}
		},
		"compaction.prune.protect_percent": &p.Prune.ProtectPercent,
		"compaction.prune.arg_threshold":   &p.Prune.ArgThreshold,

		"compaction.recent.messages":    &p.Keep.Messages,
		"compaction.recent.tokens":      &p.Keep.Tokens,
		"compaction.recent.exchanges":   &p.Keep.Exchanges,
		"compaction.recent.tool_tokens": &p.Keep.ToolTokens,

		"compaction.summarize.off":                    &p.Summarize.Off,
		"compaction.summarize.model":                  &p.Summarize.Model,
		"compaction.summarize.fast_model":             &p.Summarize.FastModel,
		"compaction.summarize.prompt":                 &a.summaryPrompt,
		"compaction.summarize.outline":                &p.Summarize.Outline,
		"compaction.summarize.window_messages":        &p.Summarize.WindowMessages,
		"compaction.summarize.preserve_recent":        &p.Summarize.PreserveRecent,
		"compaction.summarize.max_summary_tokens":     &p.Summarize.MaxSummaryTokens,
		"compaction.summarize.tool_result_max_length": &p.Summarize.ToolResultChars,
		"compaction.summarize.chunks":                 &p.Summarize.Chunks,
		"compaction.summarize.serial":                 &p.Summarize.Serial,
		"compaction.summarize.timeout":                &p.Summarize.TimeoutMS,

		"compaction.message_tokens": &p.Keep.MessageTokens,
		"compaction.ledger_tokens":  &p.Note.Tokens,
		"compaction.inject_tokens":  &p.Note.InjectTokens,
		"compaction.always_keep":    func(n *node) { p.Keep.Always = predicates(n) },
		"compaction.redact":         func(n *node) { p.Note.NoRedact, p.Note.Redact = n.value != nil, patterns(n) },
	}
}
