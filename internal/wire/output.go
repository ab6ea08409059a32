package wire

import "github.com/kagewasm/kagewasm/abi"

func (e *encoder) output(o *abi.Output) {
	e.object(func() {
		e.someTexts("retain", o.Retain)
		e.given("unstored", o.Unstored)
		e.given("inject", o.Inject)
		if o.RequestCompaction != nil {
			e.key("request_compaction")
			e.compactionRequest(*o.RequestCompaction)
		}
		e.someTexts("always_keep", o.AlwaysKeep)
		e.someTexts("release", o.Release)
		if o.Messages != nil {
			e.key("messages")
			elements(e, o.Messages, e.outputMessage)
		}
		e.someTexts("superseded", o.Superseded)
		e.given("summary", o.Summary)
		e.given("covers", string(o.Covers))
		e.truth("cancel", o.Cancel)
		e.given("reason", o.Reason)
	})
}

func (e *encoder) compactionRequest(r abi.CompactionRequest) {
	e.object(func() { e.given("instructions", r.Instructions) })
}

func (e *encoder) outputMessage(m *abi.OutputMessage) {
	if m.Ref != "" {
		e.object(func() { e.text("ref", m.Ref) })
		return
	}
	e.message(&m.Message)
}

func (e *encoder) message(m *abi.Message) {
	e.object(func() {
		e.given("id", m.ID)
		e.text("role", string(m.Role))
		e.key("content")
		e.content(m.Content)
		if len(m.ToolCalls) > 0 {
			e.key("tool_calls")
			elements(e, m.ToolCalls, e.toolCall)
		}
		e.given("tool_call_id", m.ToolCallID)
		e.given("name", m.Name)
		e.truth("is_error", m.IsError)
		e.given("timestamp", m.Timestamp)
		e.given("kind", string(m.Kind))
		e.rawMap("meta", m.Meta)
		if len(m.Raw) > 0 {
			e.key("raw")
			e.raw(m.Raw)
		}
	})
}

func (e *encoder) content(c abi.Content) {
	if !c.IsParts() {
		e.string(c.Text())
		return
	}
	elements(e, c.Parts(), func(p *abi.Part) {
		doc, err := p.MarshalJSON()
		if err != nil && e.err == nil {
			e.err = err
		}
		e.raw(doc)
	})
}

func (e *encoder) toolCall(c *abi.ToolCall) {
	e.object(func() {
		e.text("id", c.ID)
		e.text("name", c.Name)
		e.text("arguments", c.Arguments)
	})
}
