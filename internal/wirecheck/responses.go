package wirecheck

import (
	"encoding/json"
	"fmt"
	"strings"
)

type item struct {
	Type, Role, Name string
	ID               string
	CallID           string `json:"call_id"`
	Content          parts[struct{ Type, Text string }]
	Arguments        *string
	Input            *string
	Output           json.RawMessage
	Encrypted        string `json:"encrypted_content"`
}

// itemParts are the types of parts that each role may have.
var itemParts = map[string]string{
	"user": "input_text input_image input_file input_audio", "system": "input_text input_image input_file",
	"developer": "input_text input_image input_file", "assistant": "output_text refusal",
}

// Responses checks a body of POST /v1/responses. Calls and results that the
// server is to remember (conversation, previous_response_id) cannot be seen in
// it; such a body may hold results without calls.
func Responses(body []byte) []string {
	var doc struct {
		Input        json.RawMessage
		Conversation json.RawMessage
		Previous     *string `json:"previous_response_id"`
	}
	f := read(body, &doc)
	if f != nil {
		return f
	}
	var items []item
	switch {
	case len(doc.Input) > 0 && doc.Input[0] == '"':
		return nil
	case json.Unmarshal(doc.Input, &items) != nil || len(items) == 0:
		f.add("input", "no items")
		return f
	}
	made, answered := make(map[string]int), make(map[string]int)
	for i, it := range items {
		at := fmt.Sprintf("input[%d]", i)
		f.item(at, &it)
		f.follows(at, items, i)
		switch {
		case isCall(&it):
			made[it.CallID]++
		case strings.HasSuffix(it.Type, "_call_output"):
			if answered[it.CallID]++; answered[it.CallID] > made[it.CallID] && !isSet(doc.Conversation) && doc.Previous == nil {
				f.add(at, "a result for %q, which no call before it asked for", it.CallID)
			}
		}
	}
	for id, n := range made {
		if n > answered[id] {
			f.add("input", "no result for the call %q", id)
		}
	}
	return f
}

func isCall(it *item) bool { return strings.HasSuffix(it.Type, "_call") && it.CallID != "" }

// item checks one item by itself.
func (f *faults) item(at string, it *item) {
	switch it.Type {
	case "", "message":
		allowed, ok := itemParts[it.Role]
		if !ok {
			f.add(at, "role %q", it.Role)
		}
		if !it.Content.set || !it.Content.isText && len(it.Content.list) == 0 {
			f.add(at, "no content")
		}
		for _, p := range it.Content.list {
			if !strings.Contains(allowed, p.Type) {
				f.add(at, "a part of type %q in role %s", p.Type, it.Role)
			}
		}
	case "function_call", "custom_tool_call":
		if it.Arguments == nil && it.Input == nil {
			f.add(at, "no arguments")
		}
		if !longName.MatchString(it.Name) {
			f.add(at, "name %q", it.Name)
		}
		f.callID(at, it)
	case "function_call_output", "custom_tool_call_output":
		if !isSet(it.Output) || it.Output[0] != '"' && it.Output[0] != '[' {
			f.add(at, "an output that is neither a text nor a list")
		}
		f.callID(at, it)
	case "compaction", "compaction_summary":
		if it.Encrypted == "" {
			f.add(at, "no encrypted_content")
		}
	}
}

func (f *faults) callID(at string, it *item) {
	if it.CallID == "" || len(it.CallID) > 64 {
		f.add(at, "call_id %q: 1 to 64 bytes", it.CallID)
	}
}

// follows checks that reasoning has what it led to after it.
func (f *faults) follows(at string, items []item, i int) {
	if items[i].Type != "reasoning" {
		return
	}
	for _, next := range items[i+1:] {
		if next.Type == "reasoning" {
			continue
		}
		if next.Role == "assistant" || strings.HasSuffix(next.Type, "_call") {
			return
		}
		break
	}
	f.add(at, "reasoning without the item that it led to")
}
