package config

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// predicate says which messages an operator keeps, as data: everything it says has
// to hold.
type predicate struct {
	role     abi.Role
	kind     *string
	tool     string
	contains string
	pattern  *regexp.Regexp
	id       string
	meta     map[string]json.RawMessage
}

// predicates are those of a list always_keep.
func predicates(n *node) []func(*abi.Message) bool {
	return bindList(n, func(item *node) func(*abi.Message) bool {
		p := new(predicate)
		targets{
			"role": &p.role, "kind": &p.kind, "tool": &p.tool, "contains": &p.contains, "id": &p.id, "meta": &p.meta,
			"matches": func(n *node) { p.pattern = regexp.MustCompile(n.value.(string)) },
		}.bind(item, "")
		return p.keeps
	})
}

// bindList makes something of each item of a list, once for all who inherit it.
func bindList[T any](n *node, make func(item *node) T) []T {
	if n.bound == nil {
		n.bound = slices.Clip(lists.Map(n.kids, make))
	}
	return n.bound.([]T)
}

func checkPredicate(n *node) string {
	says := slices.ContainsFunc(n.kids, func(k *node) bool {
		return !k.null && k.value != "" || k.name == "kind" && !k.null || len(k.kids) > 0
	})
	if !says {
		return "this says nothing, and so would keep every message: name a role, kind, tool, contains, matches, id or meta"
	}
	return ""
}

// keeps reports whether the message is one of those meant. What is cheap comes
// first: it is asked of every message at every decision.
func (p *predicate) keeps(msg *abi.Message) bool {
	return (p.role == "" || p.role == msg.Role) &&
		(p.kind == nil || *p.kind == string(msg.Kind)) &&
		(p.id == "" || p.id == msg.ID) &&
		(p.tool == "" || p.ofTool(msg)) &&
		p.hasMeta(msg) &&
		(p.contains == "" || strings.Contains(msg.Text(), p.contains)) &&
		(p.pattern == nil || p.pattern.MatchString(msg.Text()))
}

// ofTool is about calls, and about results: the engine names the tool of those that do
// not name it.
func (p *predicate) ofTool(msg *abi.Message) bool {
	return msg.Role == abi.RoleTool && strings.EqualFold(msg.Name, p.tool) ||
		slices.ContainsFunc(msg.ToolCalls, func(c abi.ToolCall) bool { return strings.EqualFold(c.Name, p.tool) })
}

func (p *predicate) hasMeta(msg *abi.Message) bool {
	for key, want := range p.meta {
		if have, ok := msg.Meta[key]; !ok || !equalJSON(have, want) {
			return false
		}
	}
	return true
}

func equalJSON(a, b json.RawMessage) bool {
	if bytes.Equal(bytes.TrimSpace(a), b) {
		return true
	}
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}
