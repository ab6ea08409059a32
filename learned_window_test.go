package kagewasm_test

import (
	"cmp"
	"context"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/modeltest"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/tokens"
)

// limited is a model of whose window nobody knows, and whose provider says what it takes.
type limited struct {
	takes             int
	limitAlone        bool // it does not say what the request took
	says              int  // what it says it takes, where that is another number
	prompts           []string
	refused, answered int
}

// refusal is an error with the provider's figures.
type refusal struct{ by abi.Exceeded }

func (r refusal) Error() string          { return "it is too long" }
func (r refusal) Exceeded() abi.Exceeded { return r.by }

func (m *limited) Complete(_ context.Context, r abi.ModelRequest) (abi.ModelResponse, error) {
	n := (wordCounter{}).Text(r.System+" "+r.Prompt) + r.MaxTokens
	if n <= m.takes {
		m.answered++
		return abi.ModelResponse{Text: inForm(modeltest.Request{ModelRequest: r}, "all is well"), StopReason: abi.StopEnd},
			nil
	}
	m.refused++
	m.prompts = append(m.prompts, r.Prompt)
	by := abi.Exceeded{Tokens: n, Limit: cmp.Or(m.says, m.takes)}
	if m.limitAlone {
		by.Tokens = 0
	}
	return abi.ModelResponse{}, &abi.Error{Code: abi.CodeContextLength, Message: "it is too long", Err: refusal{by}}
}

// TestTheStatedWindowIsLearned: where nobody knows the window of the summarizer, and its
// provider names it with a refusal, the next request keeps to it, and so does every later
// compaction, of other sessions too.
func TestTheStatedWindowIsLearned(t *testing.T) {
	features.Proves(t, "complaint 4")
	for name, limitAlone := range map[string]bool{"with what the request took": false, "the limit alone": true} {
		t.Run(name, func(t *testing.T) {
			m := &limited{takes: 3000, limitAlone: limitAlone}
			c := newCompactor(t, kagewasm.Options{Model: m, Lookup: func(string) tokens.Model { return tokens.Model{} },
				Policy: kagewasm.Policy{Summarize: strategies.SummarizeConfig{Model: "small"}}})
			for i, session := range []string{"s1", "s1", "s2"} {
				req := request(longWindow, renamed(long(), session))
				req.Session.ID = session
				r := compact(t, c, req).Report
				if r.Strategy != "summarize" || r.Cost.Usage == nil || r.Cost.Usage.Calls != m.answered+m.refused {
					t.Errorf("compaction %d: by %s, %+v: %v", i, r.Strategy, r.Cost.Usage, r.Failures)
				}
				if refused := map[bool]int{true: 1}[i == 0]; m.refused != refused {
					t.Errorf("compaction %d: refused %d times, want %d", i, m.refused, refused)
				}
				m.refused, m.answered = 0, 0
			}
		})
	}
}

// TestARefusedRequestIsNotSentAgain: where the window that a provider names is larger than what is counted of the
// request that it refused, what is sent next is shorter all the same.
func TestARefusedRequestIsNotSentAgain(t *testing.T) {
	features.Proves(t, "A10")
	m := &limited{takes: 3000, limitAlone: true, says: 50_000}
	c := newCompactor(t, kagewasm.Options{Model: m, Lookup: func(string) tokens.Model { return tokens.Model{} },
		Policy: kagewasm.Policy{Summarize: strategies.SummarizeConfig{Model: "small"}}})
	r := compact(t, c, request(longWindow, long())).Report
	if m.refused == 0 || r.Cost.Usage == nil {
		t.Fatalf("by %s: %+v", r.Strategy, r.Failures)
	}
	for i, prompt := range m.prompts[1:] {
		if len(prompt) >= len(m.prompts[i]) {
			t.Errorf("refusal %d: %d bytes, after %d", i+1, len(prompt), len(m.prompts[i]))
		}
	}
}

// TestTheStatedWindowOfOneHalf: where the provider takes one half of a split turn and names its
// window as it refuses the other, that one is asked for again within it: the summary is whole.
func TestTheStatedWindowOfOneHalf(t *testing.T) {
	features.Proves(t, "complaint 4", "T5")
	msgs := long()
	msgs[220] = abi.Message{ID: "turn", Role: abi.RoleUser, Content: abi.Text("Now fix the store.")}
	msgs[221].ToolCallID = "" // its call is gone
	m := &limited{takes: 3000}
	c := newCompactor(t, kagewasm.Options{Model: m, Lookup: func(string) tokens.Model { return tokens.Model{} },
		Policy: kagewasm.Policy{Summarize: strategies.SummarizeConfig{Model: "small", Serial: true}}})
	r := compact(t, c, request(longWindow, msgs)).Report
	if m.refused != 1 || m.answered < 3 {
		t.Fatalf("%d requests were refused, %d answered", m.refused, m.answered)
	}
	if r.Strategy != "summarize" || len(r.Failures) > 0 || !strings.Contains(r.Summary, "Turn Context") ||
		!strings.Contains(r.Summary, "## Goal") || r.Cost.Usage.Calls != m.refused+m.answered {
		t.Errorf("by %s, %+v, %v: %s", r.Strategy, r.Cost.Usage, r.Failures, r.Summary)
	}
}

// TestTheWindowOfTheAgentIsLearned: what a provider says of a model when it refuses a request
// of an agent holds for the other sessions of that model whose window nobody knows.
func TestTheWindowOfTheAgentIsLearned(t *testing.T) {
	features.Proves(t, "complaint 4")
	c := newCompactor(t, kagewasm.Options{})
	look := func(session, model string, exceeded *abi.Exceeded) kagewasm.Report {
		req := kagewasm.Request{Session: abi.Session{ID: session, Model: model}, Messages: chat(60), Exceeded: exceeded}
		if exceeded != nil {
			req.Reason = abi.TriggerOverflow
		}
		return compact(t, c, req).Report
	}
	if r := look("s1", "own", nil); r.Compacted {
		t.Fatalf("%s", r.Reason)
	}
	look("s1", "own", &abi.Exceeded{Tokens: 1400, Limit: 900})
	if r := look("s2", "own", nil); !r.Compacted || r.Window > 1000 {
		t.Errorf("another session of the model: a window of %d, %s", r.Window, r.Reason)
	}
	if r := look("s3", "another", nil); r.Compacted || r.Window != abi.FallbackWindow {
		t.Errorf("another model: a window of %d, %s", r.Window, r.Reason)
	}
}
