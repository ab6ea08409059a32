package openhands

import (
	"cmp"
	"strconv"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/codec"
	"github.com/kagewasm/kagewasm/transcript/internal/content"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
	"github.com/kagewasm/kagewasm/transcript/internal/openai"
)

// writer writes messages as events.
type writer struct {
	next  int             // the id of the next event
	model string          // that made the answers
	tools []byte          // for the first system message
	calls map[string]call // by id
}

// call is the event of a call, and its function.
type call struct{ event, function string }

// message writes the events of a message. offset is the place of the summary that
// is the condensation, -1 for other messages.
func (w *writer) message(m *abi.Message, offset int) (events [][]byte) {
	if len(m.ToolCalls) == 0 || m.Role != abi.RoleAssistant {
		return [][]byte{w.event(m, w.take(), offset)}
	}
	response := w.response(m, "kagewasm-"+strconv.Itoa(w.next))
	for _, c := range m.ToolCalls {
		id := w.take()
		if w.calls != nil {
			w.calls[c.ID] = call{id, c.Name}
		}
		args := jsondoc.Obj("name", c.Name, "arguments", content.ObjectArgs(c.Arguments), "thought", m.Text())
		events = append(events, writeEvent(m, id, "agent", "action", "call_tool_mcp",
			"tool_call_metadata", callMeta(c.Name, c.ID, response, len(m.ToolCalls)), "args", args))
	}
	return events
}

func (w *writer) take() string {
	w.next++
	return strconv.Itoa(w.next - 1)
}

// writeEvent writes an event, with the given fields after those of all events.
func writeEvent(m *abi.Message, id, source string, fields ...any) []byte {
	eventID := jsondoc.Maybe(id)
	if _, err := strconv.ParseInt(id, 10, 64); err == nil {
		eventID = []byte(id)
	}
	kind := ""
	if m.Role == abi.RoleUser {
		kind = string(m.Kind)
	}
	return jsondoc.Obj(append([]any{"id", eventID, "timestamp", jsondoc.Maybe(m.Timestamp), "source", source,
		"kind", jsondoc.Maybe(kind)}, fields...)...)
}

// event writes a message that is one event.
func (w *writer) event(m *abi.Message, id string, offset int) []byte {
	switch {
	case offset >= 0:
		args := jsondoc.Obj("forgotten_event_ids", [][]byte{}, "summary", m.Text(), "summary_offset", offset)
		return writeEvent(m, id, "agent", "action", "condensation", "args", args)
	case m.Role == abi.RoleSystem:
		args := jsondoc.Obj("content", textJSON(m.Content), "tools", jsondoc.Maybe(w.tools))
		w.tools = nil
		return writeEvent(m, id, "agent", "action", "system", "args", args)
	case m.Role == abi.RoleTool:
		return w.result(m, id)
	}
	source := "user"
	if m.Role == abi.RoleAssistant {
		source = "agent"
	}
	said, urls := apart(m.Content)
	args := jsondoc.Obj("content", textJSON(said), "image_urls", jsondoc.If(len(urls) > 0, urls))
	return writeEvent(m, id, source, "action", "message", "args", args)
}

// result writes a tool result.
func (w *writer) result(m *abi.Message, id string) []byte {
	made := w.calls[m.ToolCallID]
	function := cmp.Or(m.Name, made.function)
	return writeEvent(m, id, "agent", "observation", "mcp", "cause", jsondoc.Maybe([]byte(made.event)),
		"tool_call_metadata", callMeta(function, m.ToolCallID, jsondoc.Null, 1),
		"content", textJSON(m.Content), "extras", jsondoc.Obj(), "success", jsondoc.If(m.IsError, false))
}

// response writes an answer as the chat completion that it came in.
func (w *writer) response(m *abi.Message, id string) []byte {
	msg := jsondoc.Obj("role", "assistant", "content", openai.Content(m),
		"tool_calls", openai.Calls(m.ToolCalls, openai.SameID))
	choice := jsondoc.Obj("finish_reason", "tool_calls", "index", 0, "message", msg)
	return jsondoc.Obj("id", id, "model", jsondoc.Maybe(w.model), "object", "chat.completion",
		"choices", [][]byte{choice})
}

func callMeta(function, id string, response []byte, calls int) []byte {
	return jsondoc.Obj("function_name", function, "tool_call_id", id, "model_response", response,
		"total_calls_in_response", calls)
}

// textJSON writes a content as text, which is all that an event can hold.
func textJSON(c abi.Content) []byte { return jsondoc.Quote(content.Text(c)) }

// apart takes the images out of a content. Events hold them beside the words.
func apart(c abi.Content) (words abi.Content, urls [][]byte) {
	if !c.IsParts() {
		return c, nil
	}
	var parts []abi.Part
	for _, p := range c.Parts() {
		if img, _ := content.ImageOf(p); img.At() != "" {
			urls = append(urls, jsondoc.Quote(img.At()))
		} else {
			parts = append(parts, p)
		}
	}
	return abi.Parts(parts...), urls
}

// write writes a list of events, as OpenHands exports and replays them.
func write(about codec.About, msgs []abi.Message) []byte {
	w := writer{model: about.Model, calls: make(map[string]call)}
	if len(about.Tools) > 0 {
		w.tools = jsondoc.Compact(about.Tools)
	}
	last := codec.LastSummary(msgs)
	var events [][]byte
	for i := range msgs {
		offset := -1
		if i == last {
			offset = len(events)
		}
		events = append(events, w.message(&msgs[i], offset)...)
	}
	return append(jsondoc.Lines(events), '\n')
}
