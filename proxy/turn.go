package proxy

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/turnend"
)

// turn is what an answer says of the agent's turn. A turn is over with an answer that calls no tool: what the agent
// sends next is a person's. It is watched only where a plugin hears of it.
type turn struct {
	text  strings.Builder // what the model said
	calls bool            // it called a tool of the agent
	items bool            // parts of the answer came one by one
	over  bool            // the answer is complete
	doc   *document       // the request, which is not kept where nobody hears of turns
}

// wish is a compaction that a plugin wants at the next request.
type wish struct{ instructions string }

// held are the compactions that plugins asked for while a conversation was compacted. They wait for the turn to end,
// and any compaction answers them.
type held struct {
	mu   sync.Mutex
	list []hooks.Wish
}

func (h *held) add(list ...hooks.Wish) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range list {
		if !slices.ContainsFunc(h.list, w.Repeats) {
			h.list = append(h.list, w)
		}
	}
}

// take returns them, and holds them no more.
func (h *held) take() []hooks.Wish {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := h.list
	h.list = nil
	return list
}

// turnBegan reports whether a request begins a turn: the words of a person are the last that it says.
func (e ending) turnBegan(ctx context.Context) bool {
	came, err := e.reading(ctx, e.doc.doc)
	if err != nil {
		return false
	}
	persons := abi.Persons(came.msgs)
	for i := len(persons) - 1; i >= 0; i-- {
		if role := came.msgs[i].Role; persons[i] || role != abi.RoleUser && role != abi.RoleSystem {
			return persons[i]
		}
	}
	return false
}

// wanted is what plugins want at this request, nil where that is nothing.
func (e ending) wanted(ctx context.Context) *wish {
	now := e.branch.wanted
	e.branch.wanted = nil
	list := e.branch.held.take()
	switch {
	case len(list) == 0:
		return now
	case now == nil && !e.turnBegan(ctx):
		e.branch.held.add(list...)
		return nil
	case now == nil:
		now = new(wish)
	}
	return &wish{strings.TrimPrefix(now.instructions+"\n"+hooks.Instructed(list), "\n")}
}

// ending is what an exchange has to do with the end of a turn.
type ending struct{ *exchange }

// watch has the answer watched for the end of a turn.
func (e ending) watch() {
	if e.how == askedNot && turnend.Heard(e.engine.Compactor.Options().Plugins) {
		e.turn = &turn{}
	}
}

// turnOver tells plugins where the answer has ended a turn. Nobody waits for it but who closes the proxy.
func (e ending) turnOver() {
	if t := e.turn; t == nil || !t.over || t.calls || e.branch == nil {
		return
	}
	e.p.turns.Go(func() {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() {
			select {
			case <-e.p.closing:
				cancel()
			case <-ctx.Done():
			}
		}()
		if err := e.tell(ctx); err != nil && ctx.Err() == nil {
			e.p.opts.Log("proxy: the end of a turn is not told: " + err.Error())
		}
	})
}

func (e ending) tell(ctx context.Context) (err error) {
	defer func() {
		if broken := recover(); broken != nil { // whatever nobody has thought of costs no request
			err = fmt.Errorf("%v\n%s", broken, debug.Stack())
		}
	}()
	req, err := e.begun(ctx)
	if err != nil || req == nil {
		return err
	}
	var wanted *wish
	defer func() { e.told(wanted) }()
	said, err := e.engine.Compactor.TurnEnd(ctx, *req)
	if err == nil && said.Wanted != nil && said.Wanted.Reason == abi.TriggerPlugin {
		wanted = &wish{said.Wanted.Instructions}
	}
	return err
}

// begun is what plugins are told; nil where that is nothing new, or ends no turn.
func (e ending) begun(ctx context.Context) (*kagewasm.Request, error) {
	e.family.mu.Lock()
	defer e.family.mu.Unlock()
	if e.branch.telling || !e.family.leads(e.branch) {
		return nil, nil
	}
	req, err := e.turnRequest(ctx)
	e.branch.telling = err == nil
	return &req, err
}

// told notes what plugins want.
func (e ending) told(wanted *wish) {
	e.family.mu.Lock()
	defer e.family.mu.Unlock()
	e.branch.telling = false
	if wanted != nil {
		e.branch.wanted = wanted
	}
}

// turnRequest is the conversation as the model knows it now: what it was sent, and what it said.
func (e ending) turnRequest(ctx context.Context) (req kagewasm.Request, err error) {
	e.doc = e.turn.doc
	came, err := e.reading(ctx, e.doc.doc)
	if err != nil {
		return req, err
	}
	if req, err = requestOf(ctx, e.exchange, came); err != nil {
		return req, err
	}
	answer := abi.Message{ID: archive(e).arrived(len(came.msgs) - came.lead), Role: abi.RoleAssistant,
		Content: abi.Text(e.turn.text.String())}
	req.Messages = append(slices.Clone(req.Messages), answer)
	return req, nil
}

// leads reports whether no conversation of the family is longer: what an agent asks on the side, such as a title, ends
// no turn of its own.
func (f *family) leads(b *branch) bool {
	return !slices.ContainsFunc(f.branches, func(o *branch) bool { return len(o.seen) > len(b.seen) })
}

// part is what a stream's event, or a whole answer, says in any of the wires.
type part struct {
	// of Messages
	ContentBlock block   `json:"content_block"`
	Content      []block `json:"content"`
	Delta        struct {
		Text       string `json:"text"`
		StopReason string `json:"stop_reason"`
	} `json:"delta"`
	StopReason string `json:"stop_reason"`
	// of chat completions
	Choices []struct {
		Delta        said   `json:"delta"`
		Message      said   `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	// of Responses
	Type     string `json:"type"`
	Item     *block `json:"item"`
	Response struct {
		Output []block `json:"output"`
	} `json:"response"`
	Status string  `json:"status"`
	Output []block `json:"output"`
	// of generateContent
	Candidates []struct {
		Content struct {
			Parts []struct {
				Text         string          `json:"text"`
				Thought      bool            `json:"thought"`
				FunctionCall json.RawMessage `json:"functionCall"`
			} `json:"parts"`
		} `json:"content"`
		FinishReason string `json:"finishReason"`
	} `json:"candidates"`
}

type block struct {
	Type    string  `json:"type"`
	Text    string  `json:"text"`
	Content []block `json:"content"`
}

type said struct {
	Content   string            `json:"content"`
	ToolCalls []json.RawMessage `json:"tool_calls"`
}

// hear takes over what a part of an answer says. One that nobody can read says nothing.
func (t *turn) hear(w *wire, data []byte) {
	if w == &ollama {
		t.hearOllama(data)
		return
	}
	var p part
	if json.Unmarshal(data, &p) != nil {
		return
	}
	switch w {
	case &anthropic:
		t.blocks(append(p.Content, p.ContentBlock))
		t.text.WriteString(p.Delta.Text)
		stop := p.Delta.StopReason + p.StopReason
		t.over = t.over || stop == "end_turn" || stop == "stop_sequence"
	case &chat:
		for _, c := range p.Choices {
			t.text.WriteString(c.Delta.Content + c.Message.Content)
			t.calls = t.calls || len(c.Delta.ToolCalls)+len(c.Message.ToolCalls) > 0
			t.over = t.over || c.FinishReason == "stop"
		}
	case &responses:
		if p.Item != nil && p.Type == "response.output_item.done" {
			t.items = true
			t.blocks([]block{*p.Item})
		}
		if p.Type == "response.completed" || p.Status == "completed" {
			t.over = true
			if !t.items {
				t.blocks(append(p.Response.Output, p.Output...))
			}
		}
	case &gemini:
		for _, c := range p.Candidates {
			for _, of := range c.Content.Parts {
				if !of.Thought {
					t.text.WriteString(of.Text)
				}
				t.calls = t.calls || len(of.FunctionCall) > 0
			}
			t.over = t.over || c.FinishReason == "STOP"
		}
	}
}

// byProvider are calls that the provider itself answers.
var byProvider = []string{"web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call",
	"mcp_call", "tool_search_call"}

func (t *turn) blocks(list []block) {
	for _, b := range list {
		switch {
		case b.Type == "text", b.Type == "output_text":
			t.text.WriteString(b.Text)
		case b.Type == "message":
			t.blocks(b.Content)
		case b.Type == "tool_use", strings.HasSuffix(b.Type, "_call") && !slices.Contains(byProvider, b.Type):
			t.calls = true
		}
	}
}
