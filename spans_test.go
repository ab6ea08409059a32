package kagewasm_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/hosttest"
)

// TestSpans: a host hears of each compaction, of each hook and of each call of a model in it,
// with the names of OpenTelemetry's conventions and its own context, parts before the whole;
// nothing that was said is among it. A session that is not due makes none.
func TestSpans(t *testing.T) {
	type key struct{}
	var spans []kagewasm.Span
	heard := &hosttest.Plugin{Name: "knows", Roles: []abi.PluginRole{abi.RoleObserver},
		Pre: func(*abi.Input) (*abi.Output, error) { return &abi.Output{Inject: "a secret of the plugin"}, nil }}
	fails := &hosttest.Plugin{Name: "fails", Roles: []abi.PluginRole{abi.RoleObserver},
		Pre: func(*abi.Input) (*abi.Output, error) { return nil, errors.New("on purpose") }}
	c := hosttest.New(t, kagewasm.Options{Model: hosttest.Writes("the parser was fixed"), Now: time.Now,
		Plugins: []hooks.Plugin{heard, fails}, Policy: kagewasm.Policy{Strategy: kagewasm.StrategySummarize},
		Spans: func(ctx context.Context, s kagewasm.Span) {
			if ctx.Value(key{}) != "the host's" {
				t.Error("a span without the context of the call")
			}
			spans = append(spans, s)
		}})
	ctx := context.WithValue(t.Context(), key{}, "the host's")
	window := 3000
	req := kagewasm.Request{Session: abi.Session{ID: "s1", AgentPath: "main/reviewer", Model: "m-1",
		ContextWindow: &window}, Messages: hosttest.Chat(400)}
	before := time.Now()
	r, err := c.Compact(ctx, req)
	if err != nil || !r.Report.Compacted {
		t.Fatal(err, r.Report.Reason)
	}
	names := ""
	for _, s := range spans {
		names += s.Name + "; "
	}
	whole := spans[len(spans)-1]
	if !strings.HasPrefix(names, "plugin knows pre_compact; plugin fails pre_compact; chat") ||
		!strings.HasSuffix(names, "; compact; ") {
		t.Fatal(names)
	}
	for name, want := range map[string]any{"gen_ai.conversation.compacted": true, "gen_ai.conversation.id": "s1",
		"gen_ai.agent.id": "main/reviewer", "gen_ai.request.model": "m-1", "kagewasm.compaction.id": r.Record.ID,
		"kagewasm.tokens.before": r.Report.TokensBefore, "kagewasm.tokens.after": r.Report.TokensAfter} {
		if got := whole.Attributes[name]; got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	ids := make(map[string]bool)
	for _, s := range spans {
		if ids[s.ID] || s.ID == "" || (s.Parent == "") != (s.Name == "compact") || s.Parent != "" && s.Parent != whole.ID {
			t.Errorf("%s: id %q of %q", s.Name, s.ID, s.Parent)
		}
		ids[s.ID] = true
		if s.Start.Before(before) || s.End.Before(s.Start) || s.Client != strings.HasPrefix(s.Name, "chat") {
			t.Errorf("%+v", s)
		}
		if failed := s.Name == "plugin fails pre_compact"; failed != (s.Error != "") ||
			failed != (s.Attributes["error.type"] != nil) {
			t.Errorf("%s: %q, %v", s.Name, s.Error, s.Attributes["error.type"])
		}
	}
	text, err := json.Marshal(spans)
	if err != nil || strings.Contains(string(text), "secret") || strings.Contains(string(text), "fixed") {
		t.Errorf("%v: %s", err, text)
	}
	if chat := spans[2]; chat.Attributes["gen_ai.operation.name"] != "chat" ||
		chat.Attributes["gen_ai.usage.output_tokens"] == nil {
		t.Errorf("%+v", chat)
	}
	spans = nil
	req.Messages = hosttest.Chat(1)
	if _, err := c.Compact(ctx, req); err != nil || len(spans) != 0 {
		t.Errorf("%v, %d spans of a session that is not due", err, len(spans))
	}
}
