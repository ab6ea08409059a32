package invariants

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
)

// pins returns the messages that have to come out byte for byte: system messages before the first
// message in the role of the user, or where there is none the first one that there is, instructions
// of a project, those that are marked to be kept, and those that the report says are pinned. Only the
// report knows which message is the task.
func pins(ms []message, reported []string) map[int]bool {
	out, head, prompt := make(map[int]bool), true, false
	for i, m := range ms {
		meta, _ := m.doc["meta"].(map[string]any)
		head = head && !m.isPerson()
		if m.str("role") == "system" && (head || !prompt && m.str("kind") == "" && m.says()) {
			out[i], prompt = true, true
		}
		if truthy(meta["always_keep"]) || m.str("kind") == "instructions" || slices.Contains(reported, m.str("id")) {
			out[i] = true
		}
	}
	return out
}

// withUnits adds to a set of messages what belongs to them: a call and its
// results stay together.
func withUnits(ms []message, set map[int]bool) map[int]bool {
	groups, of := units(ms)
	out := make(map[int]bool)
	for i := range set {
		for _, k := range groups[of[i]] {
			out[k] = true
		}
	}
	return out
}

// openCalls are the last message of the model and the results of its calls,
// where one has none yet.
func openCalls(ms []message) map[int]bool {
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].str("role") != "assistant" {
			continue
		}
		open, _ := orphans(ms)
		isOpen := func(c call) bool { return open[ms[i].str("id")+" "+c.id] }
		if slices.ContainsFunc(ms[i].calls(), isOpen) {
			return withUnits(ms, map[int]bool{i: true})
		}
		break
	}
	return nil
}

func truthy(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case bool:
		return v
	case float64:
		return v != 0
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

// turn is the last message of a person that says something, and the last message with all that
// belongs to it.
func turn(ms []message) map[int]bool {
	out := make(map[int]bool)
	for i := len(ms) - 1; i >= 0; i-- {
		if ms[i].isPerson() && ms[i].says() {
			out[i] = true
			break
		}
	}
	if len(ms) > 0 {
		groups, of := units(ms)
		for _, i := range groups[of[len(ms)-1]] {
			out[i] = true
		}
	}
	return out
}

// units groups an assistant message with the results that answer its calls: all
// that carry an id of theirs, until another message calls with it.
func units(ms []message) (groups [][]int, of []int) {
	caller := make(map[string]int)
	of = make([]int, len(ms))
	for i, m := range ms {
		if u, ok := caller[m.str("tool_call_id")]; ok && m.str("role") == "tool" {
			groups[u] = append(groups[u], i)
			of[i] = u
			continue
		}
		of[i] = len(groups)
		groups = append(groups, []int{i})
		if m.str("role") == "assistant" {
			for _, c := range m.calls() {
				caller[c.id] = of[i]
			}
		}
	}
	return groups, of
}

// orphans are the calls without a result and the results without a call before
// them. A message that makes several calls of one id takes as many results.
func orphans(ms []message) (calls, results map[string]bool) {
	calls, results = make(map[string]bool), make(map[string]bool)
	caller, open := make(map[string]string), make(map[string]int)
	for _, m := range ms {
		switch m.str("role") {
		case "assistant":
			for _, c := range m.calls() {
				if caller[c.id] != m.str("id") {
					if open[c.id] > 0 {
						calls[caller[c.id]+" "+c.id] = true
					}
					caller[c.id], open[c.id] = m.str("id"), 0
				}
				open[c.id]++
			}
		case "tool":
			id := m.str("tool_call_id")
			if _, ok := caller[id]; !ok {
				results[m.str("id")+" "+id] = true
			}
			open[id]--
		}
	}
	for id, m := range caller {
		if open[id] > 0 {
			calls[m+" "+id] = true
		}
	}
	return calls, results
}

// sameButPrunable compares two messages without what pruning may touch.
func sameButPrunable(a, b message) bool { return reflect.DeepEqual(strip(a), strip(b)) }

func strip(m message) map[string]any {
	var doc map[string]any
	if err := json.Unmarshal(m.raw, &doc); err != nil {
		return map[string]any{"unreadable": fmt.Sprint(err)}
	}
	if doc["role"] == "tool" {
		delete(doc, "content")
	}
	list, _ := doc["tool_calls"].([]any)
	for _, v := range list {
		if c, ok := v.(map[string]any); ok {
			delete(c, "arguments")
		}
	}
	delete(doc, "meta")
	delete(doc, "raw")
	return doc
}
