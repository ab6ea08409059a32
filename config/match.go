package config

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// matcher is an operator's predicate as data (FEATURES K10): everything it
// says has to hold.
type matcher struct {
	Role     abi.Role
	Kind     *string
	Tool     string
	Contains string
	Matches  string
	ID       string
	Meta     map[string]json.RawMessage

	pattern *regexp.Regexp
}

func newMatcherBlock() *field {
	return &field{name: "always_keep", kind: block, check: checkMatcher, fields: []*field{
		{name: "role", kind: text, choices: []string{"system", "user", "assistant", "tool"}, doc: "Role of the message.",
			set: to(func(m *matcher) *abi.Role { return &m.Role })},
		{name: "kind", kind: text, doc: "Kind of the message; \"\" is a message that is simply what its role says.",
			set: to(func(m *matcher) **string { return &m.Kind })},
		{name: "tool", kind: text, doc: "Tool that the message calls, or whose result it is; any case.",
			set: to(func(m *matcher) *string { return &m.Tool })},
		{name: "contains", kind: text, doc: "What the text of the message holds, word for word.",
			set: to(func(m *matcher) *string { return &m.Contains })},
		{name: "matches", kind: text, check: checkPattern, doc: "Pattern (RE2) that is found in the text of the message.",
			set: to(func(m *matcher) *string { return &m.Matches })},
		{name: "id", kind: text, doc: "Id of the message.",
			set: to(func(m *matcher) *string { return &m.ID })},
		{name: "meta", kind: table, keys: regexp.MustCompile(`^.{1,128}$`), elem: &field{kind: free}, doc: "Values in the message's meta, all of them equal.",
			set: setMeta},
	}}
}

func setMeta(target any, n *node) {
	m := target.(*matcher)
	m.Meta = make(map[string]json.RawMessage)
	for _, k := range n.kids {
		m.Meta[k.name] = k.value.(json.RawMessage)
	}
}

func checkPattern(n *node) string {
	if _, err := regexp.Compile(n.value.(string)); err != nil {
		return "pattern: " + err.Error()
	}
	return ""
}

func checkMatcher(n *node) string {
	says := slices.ContainsFunc(n.kids, func(k *node) bool {
		return !k.null && k.value != "" || k.name == "kind" && !k.null || len(k.kids) > 0
	})
	if !says {
		return "this says nothing, and so would keep every message: name a role, kind, tool, contains, matches, id or meta"
	}
	return ""
}

func setAlwaysKeep(target any, n *node) {
	p := &target.(*Agent).Policy
	for _, item := range n.items {
		m := new(matcher)
		bind(m, item)
		if m.Matches != "" {
			m.pattern = regexp.MustCompile(m.Matches)
		}
		p.Keep.Always = append(p.Keep.Always, m.keeps)
	}
}

// keeps reports whether the message is one of those meant. What is cheap comes
// first: it is asked of every message at every decision.
func (m *matcher) keeps(msg *abi.Message) bool {
	return (m.Role == "" || m.Role == msg.Role) &&
		(m.Kind == nil || *m.Kind == string(msg.Kind)) &&
		(m.ID == "" || m.ID == msg.ID) &&
		(m.Tool == "" || m.ofTool(msg)) &&
		m.hasMeta(msg) &&
		(m.Contains == "" || strings.Contains(msg.Text(), m.Contains)) &&
		(m.pattern == nil || m.pattern.MatchString(msg.Text()))
}

// ofTool is about calls and about results that name their tool. A result that
// does not is kept with its call: a unit stays whole.
func (m *matcher) ofTool(msg *abi.Message) bool {
	return msg.Role == abi.RoleTool && strings.EqualFold(msg.Name, m.Tool) ||
		slices.ContainsFunc(msg.ToolCalls, func(c abi.ToolCall) bool { return strings.EqualFold(c.Name, m.Tool) })
}

func (m *matcher) hasMeta(msg *abi.Message) bool {
	for key, want := range m.Meta {
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
