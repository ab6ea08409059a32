package strategies_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/strategies"
)

// requestTokens is what a request costs at least.
func requestTokens(r abi.ModelRequest) int { return counter.Text(r.System) + counter.Text(r.Prompt) }

// TestBounded: for any session and any window of the summarizer no
// request is longer than allowed, and the error says so where there is no way.
func TestBounded(t *testing.T) {
	features.Proves(t, "complaint 4")
	var done, several, noRoom int
	rapid.Check(t, func(t *rapid.T) {
		msgs := sessiongen.Messages(80).Draw(t, "session")
		cfg := strategies.Config{
			InputTokens:      rapid.IntRange(600, 3000).Draw(t, "input"),
			MaxSummaryTokens: rapid.IntRange(50, 400).Draw(t, "cap"),
			ToolResultChars:  rapid.IntRange(-1, 400).Draw(t, "chars"),
			Chunks:           rapid.IntRange(0, 4).Draw(t, "chunks"),
			Focus:            rapid.StringN(0, 40, -1).Draw(t, "focus"),
		}
		if rapid.IntRange(0, 3).Draw(t, "giant") == 3 && len(msgs) > 2 {
			i := rapid.IntRange(0, len(msgs)-1).Draw(t, "which")
			msgs[i].Content = abi.Text(strings.Repeat("a giant message. ", 2000))
		}
		p, err := strategies.Prepare(toSummarize(msgs, 0), cfg, 2)
		if err != nil {
			return
		}
		p.Todo = rapid.StringN(0, 2000, -1).Draw(t, "todo")
		f := &fake{reply: func(_ context.Context, n int, r abi.ModelRequest) (abi.ModelResponse, error) {
			return answer(r, fmt.Sprint(n)), nil
		}}
		r, err := strategies.Write(context.Background(), f, p, cfg)
		for _, req := range f.requests {
			if n := requestTokens(req); n > cfg.InputTokens {
				t.Fatalf("a request of %d tokens, %d allowed", n, cfg.InputTokens)
			}
		}
		switch code := abi.CodeOf(err); {
		case code == "":
			done++
			if r.Chunks > 1 {
				several++
			}
		case code == abi.CodeContextLength:
			noRoom++
		case code != abi.CodeBadSummary: // longer than what it replaces
			t.Fatal(err)
		}
	})
	if done == 0 || several == 0 || noRoom == 0 {
		t.Errorf("%d done, %d in several parts, %d without room: some were not tested", done, several, noRoom)
	}
}

// TestGiant: one message larger than the summarizer's window does
// not keep the rest from being read.
func TestGiant(t *testing.T) {
	features.Proves(t, "complaint 4")
	msgs := turns(6)
	msgs[2].Content = abi.Text("it begins here " + strings.Repeat("and goes on ", 1<<16) + "it ends here")
	cfg := strategies.Config{InputTokens: 4000, MaxSummaryTokens: 500, PreserveRecent: 2}
	f := &fake{}
	mustRun(t, f, mustPrepare(t, msgs, 100, cfg), cfg)
	for _, want := range []string{"it begins here", "it ends here", "characters left out", "run 0.3"} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(f.texts(), want) {
				t.Errorf("%q was not read", want)
			}
		})
	}
}

// TestProvider: where the real window is smaller than was believed,
// the provider's refusals lead to requests that fit it, tool results or not.
func TestProvider(t *testing.T) {
	features.Proves(t, "complaint 4")
	talk := turns(0)
	for i := range 120 {
		talk = append(talk, abi.Message{ID: fmt.Sprintf("t%d", i), Role: abi.RoleAssistant,
			Content: abi.Text(fmt.Sprintf("thought %d: ", i) + distinct(40))})
	}
	for _, tc := range []struct {
		why    string
		msgs   []abi.Message
		window int
	}{
		{"tool results", turns(120), 5000},
		{"only words", talk, 5000},
	} {
		t.Run(tc.why, func(t *testing.T) {
			f := &fake{}
			f.reply = func(_ context.Context, _ int, r abi.ModelRequest) (abi.ModelResponse, error) {
				if requestTokens(r) > tc.window {
					return abi.ModelResponse{}, &abi.Error{Code: abi.CodeContextLength, Message: "prompt is too long"}
				}
				return answer(r, "fine"), nil
			}
			cfg := strategies.Config{MaxSummaryTokens: 300, PreserveRecent: 2}
			p := mustPrepare(t, tc.msgs, 100, cfg)
			r, err := strategies.Write(t.Context(), f, p, cfg)
			if err != nil || r.Attempts[0].Code != abi.CodeContextLength {
				t.Errorf("%v, attempts %+v", err, r.Attempts)
			}
		})
	}
}

// TestManyChunks: as many steps as the configuration allows are made.
func TestManyChunks(t *testing.T) {
	features.Proves(t, "A9")
	talk := turns(0)
	for i := range 400 {
		talk = append(talk, abi.Message{ID: fmt.Sprintf("t%d", i), Role: abi.RoleAssistant,
			Content: abi.Text(fmt.Sprintf("thought %d: ", i) + distinct(40))})
	}
	cfg := strategies.Config{MaxSummaryTokens: 300, PreserveRecent: 2, Chunks: 64}
	f := &fake{}
	if r := mustRun(t, f, mustPrepare(t, talk, 100, cfg), cfg); r.Chunks != 64 || len(f.requests) != 64 {
		t.Errorf("%d steps in %d requests", r.Chunks, len(f.requests))
	}
}

// TestHalvedTooOften: where halves of what the provider refused would be more requests than are
// made, larger ones are tried that are as many. Where those are refused too the error says how
// many it would take, of how much, and what was refused.
func TestHalvedTooOften(t *testing.T) {
	features.Proves(t, "complaint 4")
	talk := turns(0)
	for i := range 400 {
		talk = append(talk, abi.Message{ID: fmt.Sprintf("t%d", i), Role: abi.RoleAssistant,
			Content: abi.Text(fmt.Sprintf("thought %d: ", i) + distinct(40))})
	}
	cfg := strategies.Config{MaxSummaryTokens: 300, PreserveRecent: 2, Chunks: 20}
	p := mustPrepare(t, talk, 100, cfg)
	for _, tc := range []struct {
		why  string
		most int // tokens of a request that the provider takes
		fits bool
	}{{"they fit", 1600, true}, {"they do not", 900, false}} {
		t.Run(tc.why, func(t *testing.T) {
			f := &fake{reply: func(_ context.Context, _ int, r abi.ModelRequest) (abi.ModelResponse, error) {
				if requestTokens(r) > tc.most {
					return abi.ModelResponse{}, &abi.Error{Code: abi.CodeContextLength, Message: "prompt is too long"}
				}
				return answer(r, "fine"), nil
			}}
			r, err := strategies.Write(t.Context(), f, p, cfg)
			if tc.fits {
				if err != nil || r.Chunks <= 20 || r.Chunks > 32 || len(r.Attempts) == r.Chunks { // none was refused
					t.Errorf("%d attempts, %d requests: %v", len(r.Attempts), r.Chunks, err)
				}
				return
			}
			var requests, each, most, refused int
			_, bad := fmt.Sscanf(abi.AsError(err).Message, "turn prefix: it takes %d requests of at most %d tokens of the "+
				"session each, and at most %d are made: the model refused one of %d", &requests, &each, &most, &refused)
			if bad != nil || most != 32 || requests <= most || each >= refused {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// BenchmarkPrepare and BenchmarkRun are of 10,000 messages and 2 million
// tokens, of which half goes; the model takes no time.
func BenchmarkPrepare(b *testing.B) {
	v := longView()
	for b.Loop() {
		if _, err := strategies.Prepare(v, strategies.Config{}, 10); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	p, err := strategies.Prepare(longView(), strategies.Config{}, 10)
	if err != nil {
		b.Fatal(err)
	}
	cfg := strategies.Config{InputTokens: 180_000}
	for b.Loop() {
		if _, err := strategies.Write(context.Background(), &fake{}, p, cfg); err != nil {
			b.Fatal(err)
		}
	}
}

func longView() *strategies.View {
	v := toSummarize(sessiongen.Long(5000, 230), 0)
	v.Target = v.Total / 2
	return v
}
