package transcript

import (
	"bytes"
	"strconv"

	"github.com/kagewasm/kagewasm/abi"
)

// handsWriter writes messages as events.
type handsWriter struct {
	next  int64             // the id of the next event
	model string            // that made the answers
	tools []byte            // for the first system message
	calls map[string]string // the event of each call, by its id
	names map[string]string // its name
}

// message writes the events of a message. offset is where a summary that is
// the condensation stands, -1 for other messages.
func (w *handsWriter) message(m *abi.Message, offset int) (events [][]byte) {
	if len(m.ToolCalls) == 0 || m.Role != abi.RoleAssistant {
		event := w.event(m, w.take(), offset)
		return append(events, event)
	}
	response := w.response(m, "kagewasm-"+strconv.FormatInt(w.next, 10))
	for _, c := range m.ToolCalls {
		id := w.take()
		if w.calls != nil {
			w.calls[c.ID], w.names[c.ID] = id, c.Name
		}
		args := new(builder).str("name", c.Name).raw("arguments", objectArgument(c.Arguments, slot{})).str("thought", m.Text())
		events = append(events, handsEvent(m, id, "agent").str("action", "call_tool_mcp").
			raw("tool_call_metadata", handsMeta(c.Name, c.ID, response, len(m.ToolCalls))).
			raw("args", args.bytes()).bytes())
	}
	return events
}

func (w *handsWriter) take() string {
	w.next++
	return strconv.FormatInt(w.next-1, 10)
}

// handsEvent begins an event.
func handsEvent(m *abi.Message, id, source string) *builder {
	b := new(builder)
	if _, err := strconv.ParseInt(id, 10, 64); err == nil {
		b.raw("id", []byte(id))
	} else {
		b.maybe("id", id)
	}
	b.maybe("timestamp", m.Timestamp).str("source", source)
	if m.Role == abi.RoleUser {
		b.maybe("kind", string(m.Kind))
	}
	return b
}

// event writes a message that is one event.
func (w *handsWriter) event(m *abi.Message, id string, offset int) []byte {
	switch {
	case offset >= 0:
		args := new(builder).raw("forgotten_event_ids", []byte("[]")).str("summary", m.Text()).
			raw("summary_offset", strconv.AppendInt(nil, int64(offset), 10))
		return handsEvent(m, id, "agent").str("action", "condensation").raw("args", args.bytes()).bytes()
	case m.Role == abi.RoleSystem:
		args := new(builder).raw("content", handsText(m.Content))
		if w.tools != nil {
			args.raw("tools", w.tools)
			w.tools = nil
		}
		return handsEvent(m, id, "agent").str("action", "system").raw("args", args.bytes()).bytes()
	case m.Role == abi.RoleTool:
		return w.result(m, id)
	}
	source := "user"
	if m.Role == abi.RoleAssistant {
		source = "agent"
	}
	args := new(builder).raw("content", handsText(handsWords(m.Content)))
	if urls := handsImages(m.Content); len(urls) > 0 {
		args.raw("image_urls", listJSON(urls))
	}
	return handsEvent(m, id, source).str("action", "message").raw("args", args.bytes()).bytes()
}

// result writes a tool result.
func (w *handsWriter) result(m *abi.Message, id string) []byte {
	b := handsEvent(m, id, "agent").str("observation", "mcp")
	name := m.Name
	if event, ok := w.calls[m.ToolCallID]; ok {
		b.raw("cause", []byte(event))
		if name == "" {
			name = w.names[m.ToolCallID]
		}
	}
	b.raw("tool_call_metadata", handsMeta(name, m.ToolCallID, []byte("null"), 1)).raw("content", handsText(m.Content)).
		raw("extras", []byte("{}"))
	if m.IsError {
		b.flag("success", false)
	}
	return b.bytes()
}

// response writes an answer as the chat completion that it came in.
func (w *handsWriter) response(m *abi.Message, id string) []byte {
	msg := new(builder).str("role", "assistant").raw("content", openAIContent(m.Content, m.Role)).
		raw("tool_calls", openAICalls(m.ToolCalls, sameID))
	choice := new(builder).str("finish_reason", "tool_calls").raw("index", []byte("0")).raw("message", msg.bytes())
	return new(builder).str("id", id).maybe("model", w.model).str("object", "chat.completion").
		raw("choices", listJSON([][]byte{choice.bytes()})).bytes()
}

func handsMeta(name, id string, response []byte, calls int) []byte {
	return new(builder).str("function_name", name).str("tool_call_id", id).raw("model_response", response).
		raw("total_calls_in_response", strconv.AppendInt(nil, int64(calls), 10)).bytes()
}

// handsImages are the addresses of the images in a content.
func handsImages(c abi.Content) (urls [][]byte) {
	for _, p := range c.Parts() {
		if img, _ := imageOf(p); img.at() != "" {
			urls = append(urls, quote(img.at()))
		}
	}
	return urls
}

// handsWords is a content without the images that stand beside it.
func handsWords(c abi.Content) abi.Content {
	if !c.IsParts() {
		return c
	}
	var parts []abi.Part
	for _, p := range c.Parts() {
		if img, _ := imageOf(p); img.at() == "" {
			parts = append(parts, p)
		}
	}
	return abi.Parts(parts...)
}

// compose writes a list of events, as OpenHands exports and replays them.
func (openHands) compose(s *Session, msgs []abi.Message) []byte {
	w := handsWriter{model: s.Model, calls: make(map[string]string), names: make(map[string]string)}
	if len(s.Tools) > 0 {
		w.tools = compacted(s.Tools)
	}
	last := -1
	for i := range msgs {
		if isSummary(&msgs[i]) {
			last = i
		}
	}
	var events [][]byte
	for i := range msgs {
		offset := -1
		if i == last {
			offset = len(events)
		}
		events = append(events, w.message(&msgs[i], offset)...)
	}
	out := append([]byte("[\n"), bytes.Join(events, []byte(",\n"))...)
	return append(out, "\n]\n"...)
}
