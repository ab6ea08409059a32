package config

import (
	"maps"
	"reflect"
	"strings"
	"time"
	"unicode"

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
		if n.bound == nil {
			list := reflect.MakeSlice(dst.Type(), len(n.kids), len(n.kids))
			for i, k := range n.kids {
				assign(list.Index(i), k)
			}
			n.bound = list.Interface()
		}
		dst.Set(reflect.ValueOf(n.bound))
	default:
		dst.Set(reflect.MakeMap(dst.Type()))
		for _, k := range n.kids {
			v := reflect.New(dst.Type().Elem()).Elem()
			assign(v, k)
			dst.SetMapIndex(reflect.ValueOf(k.name), v)
		}
	}
}

// fields adds the fields of a struct under their names in a configuration:
// MaxTokens is max_tokens.
func (to targets) fields(path string, of any) {
	v := reflect.ValueOf(of).Elem()
	for i := range v.NumField() {
		to[path+settingName(v.Type().Field(i).Name)] = v.Field(i).Addr().Interface()
	}
}

// settingName is the name of a field in a configuration. It is no expression: a file
// may have thousands of agents, and each has all fields.
func settingName(field string) string {
	var b strings.Builder
	for i, c := range field {
		if i > 0 && unicode.IsUpper(c) && !unicode.IsUpper(rune(field[i-1])) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// targets are where what is said of an agent goes: to the field of its name,
// or to what is listed.
func (a *Agent) targets() targets {
	p := &a.Policy
	to := make(targets)
	to.fields("compaction.", &p.When)
	to.fields("compaction.trim.", &p.Prune.Trim)
	to.fields("compaction.prune.", &p.Prune)
	to.fields("compaction.recent.", &p.Keep)
	to.fields("compaction.summarize.", &p.Summarize)
	maps.Copy(to, targets{
		"model":   &a.Model,
		"context": &a.Context,
		"prompt":  &a.prompt,

		"compaction.enabled":         func(n *node) { p.Disabled = n.value == false },
		"compaction.strategy":        &p.Strategy,
		"compaction.compactor":       &a.Compactor,
		"compaction.observers":       &a.Observers,
		"compaction.agent":           &a.helper,
		"compaction.upper_threshold": &p.When.Upper,
		"compaction.lower_threshold": &p.When.Lower,
		"compaction.no_floor":        &p.NoFloor,

		"compaction.prune.mode": func(n *node) {
			if p.Prune.Arguments = strategies.ArgumentMode(n.value.(string)); n.value == "off" {
				p.Prune.Arguments = strategies.ArgumentsOff
			}
		},
		"compaction.summarize.prompt":                 &a.summaryPrompt,
		"compaction.summarize.tool_result_max_length": &p.Summarize.ToolResultChars,
		"compaction.summarize.timeout":                &p.Summarize.TimeoutMS,

		"compaction.recovery":         &p.Recovery,
		"compaction.observer_wait_ms": &p.ObserverWaitMS,
		"compaction.message_tokens":   &p.Keep.MessageTokens,
		"compaction.drop_thinking":    &p.Keep.DropThinking,
		"compaction.note":             &p.Note.By,
		"compaction.note_tokens":      &p.Note.Tokens,
		"compaction.ledger_tokens":    &p.Note.Tokens,
		"compaction.inject_tokens":    &p.Note.InjectTokens,
		"compaction.always_keep":      func(n *node) { p.Keep.Always = predicates(n) },
		"compaction.redact":           func(n *node) { p.Note.NoRedact, p.Note.Redact = n.value != nil, patterns(n) },
	})
	return to
}
