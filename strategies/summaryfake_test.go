package strategies_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/strategies/note"
)

var counter sessiongen.Counter

// fake is a model that follows a script.
type fake struct {
	// reply answers call n, from 0. Nil: a good summary.
	reply func(ctx context.Context, n int, r abi.ModelRequest) (abi.ModelResponse, error)

	mu             sync.Mutex
	requests       []abi.ModelRequest
	flying, atOnce int
}

func (f *fake) Complete(ctx context.Context, r abi.ModelRequest) (abi.ModelResponse, error) {
	f.mu.Lock()
	n := len(f.requests)
	f.requests = append(f.requests, r)
	f.flying++
	f.atOnce = max(f.atOnce, f.flying)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.flying--
		f.mu.Unlock()
	}()
	if f.reply == nil {
		return answer(r, fmt.Sprintf("answer %d", n)), nil
	}
	return f.reply(ctx, n, r)
}

// answer is a good summary that says text in every section asked for.
func answer(r abi.ModelRequest, text string) abi.ModelResponse {
	o := note.Outlines()[0]
	switch {
	case strings.Contains(r.System, "## Done So Far"):
		o = note.Outline{Sections: []note.Section{{Title: "Request"}, {Title: "Done So Far"}, {Title: "Needed to Go On"}}}
	case strings.Contains(r.System, "## Session Intent"):
		o = note.Outlines()[1]
	}
	return abi.ModelResponse{Text: o.Render(func(note.Section) string {
		return text
	}), InputTokens: 100, OutputTokens: 10, Cost: 0.5,
		Model: "fake-1", StopReason: abi.StopEnd}
}

// says is a model that always answers with a text.
func says(text string) *fake {
	return &fake{reply: func(context.Context, int, abi.ModelRequest) (abi.ModelResponse, error) {
		return abi.ModelResponse{Text: text, StopReason: abi.StopEnd, InputTokens: 7, OutputTokens: 3, Cost: 0.25}, nil
	}}
}

// toSummarize is a session to be brought down to target.
func toSummarize(msgs []abi.Message, target int) *strategies.View {
	return strategies.NewView(strategies.NewList(msgs, counter.Tokens(msgs), abi.Pinned(msgs), 0),
		strategies.Limits{Window: 1 << 20, Target: target}, counter)
}

// prepared is a session of many turns of which most has to go.
func prepared(t testing.TB, cfg strategies.Config) *strategies.Ready {
	t.Helper()
	return mustPrepare(t, sessiongen.Long(40, 150), 4000, cfg)
}

func mustPrepare(t testing.TB, msgs []abi.Message, target int, cfg strategies.Config) *strategies.Ready {
	t.Helper()
	p, err := strategies.Prepare(toSummarize(msgs, target), cfg, cfg.Recent())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustRun(t testing.TB, m abi.Model, p *strategies.Ready, cfg strategies.Config) strategies.Written {
	t.Helper()
	r, err := strategies.Write(t.Context(), m, p, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// turns is a session of a system prompt and turns of a person's message and
// so many calls, with results of a hundred words.
func turns(calls ...int) []abi.Message {
	msgs := []abi.Message{{ID: "sys", Role: abi.RoleSystem, Content: abi.Text("You are a coding agent.")}}
	for i, n := range calls {
		msgs = append(msgs, abi.Message{ID: fmt.Sprintf("u%d", i), Role: abi.RoleUser,
			Content: abi.Text(fmt.Sprintf("request %d", i))})
		for j := range n {
			id := fmt.Sprintf("%d.%d", i, j)
			msgs = append(msgs,
				abi.Message{ID: "a" + id, Role: abi.RoleAssistant,
					ToolCalls: []abi.ToolCall{{ID: id, Name: "bash", Arguments: `{"command":"run ` + id + `"}`}}},
				abi.Message{ID: "r" + id, Role: abi.RoleTool, ToolCallID: id,
					Content: abi.Text(strings.Repeat("output of "+id+" ", 100))})
		}
	}
	return msgs
}

// texts are the prompts of all requests.
func (f *fake) texts() string {
	var b strings.Builder
	for _, r := range f.requests {
		b.WriteString(r.Prompt + "\n")
	}
	return b.String()
}
