package strategies_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/strategies"
)

// splitTurn is a model that reads a session of two turns, the second of which is split.
// It answers nothing of use where the prompt has those words.
func splitTurn(refused string) *fake {
	return &fake{reply: func(_ context.Context, _ int, r abi.ModelRequest) (abi.ModelResponse, error) {
		if strings.Contains(r.Prompt, refused) {
			return abi.ModelResponse{Text: "no idea", OutputTokens: 2}, nil
		}
		return answer(r, "what was done"), nil
	}}
}

// TestOneHalfRefused: where one part of a split turn is refused to the last, the other
// part is the summary, and the plan says what is missing.
func TestOneHalfRefused(t *testing.T) {
	features.Proves(t, "T5", "complaint 7")
	const turnContext = "**Turn Context (split turn):**"
	for name, tc := range map[string]struct {
		refused string // words of the part
		serial  bool
		heading bool // of the turn's part
	}{
		"the turn's first part":         {"run 1.1", false, false},
		"the turn's first part, serial": {"run 1.1", true, false},
		"the history":                   {"run 0.1", false, true},
		"the history, serial":           {"run 0.1", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := splitTurn(tc.refused)
			s := strategies.Summarize{Config: strategies.SummarizeConfig{PreserveRecent: 3, Serial: tc.serial}, Model: f}
			plan, err := s.Plan(t.Context(), toSummarize(turns(3, 6), 100), strategies.Budget{})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(plan.Summary, "what was done") || strings.Contains(plan.Summary, turnContext) != tc.heading {
				t.Errorf("the summary is\n%s", plan.Summary)
			}
			if len(plan.Failures) != 1 || plan.Failures[0].Code != abi.CodeBadSummary || plan.Failures[0].Hint == "" {
				t.Errorf("failures: %v", plan.Failures)
			}
			if len(f.requests) != 6 {
				t.Errorf("%d requests: want one for the good part, and five for the other", len(f.requests))
			}
		})
	}
	t.Run("the summary before stands for a history that was refused", func(t *testing.T) {
		msgs := turns(3, 6)
		msgs = append(msgs[:1:1], append([]abi.Message{earlier("## Goal\nship the parser")}, msgs[1:]...)...)
		s := strategies.Summarize{Config: strategies.SummarizeConfig{PreserveRecent: 3}, Model: splitTurn("run 0.1")}
		plan, err := s.Plan(t.Context(), toSummarize(msgs, 100), strategies.Budget{})
		if err != nil || !strings.HasPrefix(plan.Summary, "## Goal\nship the parser") ||
			!strings.Contains(plan.Summary, turnContext) {
			t.Errorf("%v: the summary is\n%s", err, plan.Summary)
		}
	})
	t.Run("where both are refused there is no plan", func(t *testing.T) {
		s := strategies.Summarize{Config: strategies.SummarizeConfig{PreserveRecent: 3}, Model: says("no idea")}
		if _, err := s.Plan(t.Context(), toSummarize(turns(3, 6), 100), strategies.Budget{}); err == nil {
			t.Error("a plan of nothing")
		}
	})
}

// TestPromptOfBothHalves: the operator's prompt is for both parts of a split turn.
func TestPromptOfBothHalves(t *testing.T) {
	features.Proves(t, "K24", "T5")
	edited := strings.Replace(strategies.DefaultPrompt(), "Points, not prose.", "Rhymes, not prose.", 1)
	for name, tc := range map[string]struct{ prompt, words string }{
		"its own form":          {"Summarize it as a haiku.", "as a haiku"},
		"the default, modified": {edited, "Rhymes, not prose"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := strategies.Config{PreserveRecent: 3, Prompt: tc.prompt}
			f := &fake{}
			r := mustRun(t, f, mustPrepare(t, turns(3, 6), 100, cfg), cfg)
			if len(f.requests) != 2 || !r.SplitTurn {
				t.Fatalf("%d requests", len(f.requests))
			}
			for _, req := range f.requests {
				if !strings.Contains(req.System, tc.words) {
					t.Errorf("asked with\n%s", req.System)
				}
				prefix := strings.Contains(req.Prompt, "output of 1.1")
				if told := strings.Contains(req.System, "You\nget its first part"); told != prefix {
					t.Errorf("of the turn's first part: %v, told so: %v", prefix, told)
				}
			}
		})
	}
}

// TestArgumentsStay: a further try shows less of results. What was called stays there
// to read, and nothing gives way to a mark that is longer than it.
func TestArgumentsStay(t *testing.T) {
	features.Proves(t, "A10")
	command := `{"command":"` + strings.Repeat("make check; ", 13) + `"}` // 170 characters
	msgs := turns(9)
	for i := range msgs {
		if len(msgs[i].ToolCalls) > 0 {
			msgs[i].ToolCalls[0].Arguments = command
		}
		if msgs[i].ID == "r0.2" {
			msgs[i].Content = abi.Text("exit status 2")
		}
	}
	f := says("no idea")
	cfg := strategies.Config{PreserveRecent: 3}
	_, _ = strategies.Write(t.Context(), f, mustPrepare(t, msgs, 100, cfg), cfg)
	if len(f.requests) != 5 {
		t.Fatalf("%d tries", len(f.requests))
	}
	for i, req := range f.requests {
		t.Run(fmt.Sprintf("try %d", i+1), func(t *testing.T) {
			if !strings.Contains(req.Prompt, command) || !strings.Contains(req.Prompt, "exit status 2") {
				t.Errorf("asked\n%s", req.Prompt)
			}
			if i > 0 && len(req.Prompt) >= len(f.requests[i-1].Prompt)+100 {
				t.Errorf("%d bytes, after %d", len(req.Prompt), len(f.requests[i-1].Prompt))
			}
		})
	}
}

// TestHintOfASummarizer: a summarizer whose request does not fit is part of a compaction.
// To compact the session is no advice there.
func TestHintOfASummarizer(t *testing.T) {
	features.Proves(t, "complaint 4")
	f := &fake{reply: func(context.Context, int, abi.ModelRequest) (abi.ModelResponse, error) {
		return abi.ModelResponse{}, &abi.Error{Code: abi.CodeContextLength, Message: "prompt is too long",
			Hint: "compact the session, or use a model with a larger window"}
	}}
	_, err := strategies.Write(t.Context(), f, mustPrepare(t, sessiongen.Long(60, 300), 1000, strategies.Config{}),
		strategies.Config{})
	hint := abi.AsError(err).Hint
	if strings.Contains(hint, "compact the session") || !strings.Contains(hint, "for summaries") {
		t.Errorf("the hint is %q", hint)
	}
}
