package strategies_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestSummarize: from a session to a plan.
func TestSummarize(t *testing.T) {
	features.Proves(t, "K4")
	cfg := strategies.Config{Model: "fast"}
	p, f := prepared(t, cfg), &fake{}
	r := mustRun(t, f, p, cfg)
	if m := note.Outlines()[0].Missing(r.Summary); len(m) > 0 || !strings.Contains(r.Summary, "answer 0") {
		t.Errorf("the summary is\n%s", r.Summary)
	}
	want := abi.ModelUsage{Calls: 1, InputTokens: 100, OutputTokens: 10, Cost: 0.5}
	if r.Usage != want || r.Model != "fake-1" || r.Chunks != 1 || !r.SplitTurn || r.ToolResultChars != 200 {
		t.Errorf("result %+v", r)
	}
	if f.requests[0].Model != "fast" {
		t.Errorf("asked %q", f.requests[0].Model)
	}
	s := strategies.Summarize{Config: strategies.SummarizeConfig{Model: "fast"}, Model: &fake{}}
	plan, err := s.Plan(t.Context(), toSummarize(sessiongen.Long(40, 150), 4000), strategies.Budget{})
	if err != nil || plan.Source != (abi.Source{Type: abi.SourceModel, Name: "fake-1"}) || plan.Summary != r.Summary ||
		*plan.Usage != want || len(plan.Supersede) != len(p.Supersede) || len(plan.Edit)+len(plan.Insert) > 0 {
		t.Errorf("%v: plan %+v", err, plan)
	}
}

// TestSplitTurn: the history and the turn's first part are summarized side
// by side, and joined.
func TestSplitTurn(t *testing.T) {
	features.Proves(t, "T5")
	cfg := strategies.Config{PreserveRecent: 3}
	p := mustPrepare(t, turns(3, 6), 100, cfg)
	var r strategies.Written
	f := &fake{reply: func(_ context.Context, _ int, r abi.ModelRequest) (abi.ModelResponse, error) {
		time.Sleep(time.Minute) // the other comes in meanwhile
		return answer(r, "x"), nil
	}}
	synctest.Test(t, func(t *testing.T) { r = mustRun(t, f, p, cfg) })
	if len(f.requests) != 2 || f.atOnce != 2 {
		t.Fatalf("%d requests, %d at once", len(f.requests), f.atOnce)
	}
	history, turn, ok := strings.Cut(r.Summary, "\n\n---\n\n**Turn Context (split turn):**\n\n")
	if !ok || !r.SplitTurn || len(note.Outlines()[0].Missing(history)) > 0 ||
		!strings.Contains(turn, "## Done So Far\nx") {
		t.Errorf("the summary is\n%s", r.Summary)
	}
	for _, req := range f.requests {
		prefix := strings.Contains(req.System, "## Done So Far")
		if has := strings.Contains(req.Prompt, "output of 0.1"); has == prefix {
			t.Errorf("the history is read by the wrong one (turn: %v)", prefix)
		}
		if has := strings.Contains(req.Prompt, "output of 1.1"); has != prefix {
			t.Errorf("the turn is read by the wrong one (turn: %v)", prefix)
		}
		if prefix && !strings.Contains(req.Prompt, "request 1") {
			t.Error("the turn is read without what was asked in it")
		}
	}
	if a := r.Attempts; len(a) != 2 || !strings.HasPrefix(a[0].What, "history,") ||
		!strings.HasPrefix(a[1].What, "turn prefix,") {
		t.Errorf("attempts %+v", a)
	}
	if n := f.requests[0].MaxTokens + f.requests[1].MaxTokens; n > 1500 {
		t.Errorf("the two may have %d tokens", n)
	}
}

// TestSerial: where one request at a time is allowed there is never another.
func TestSerial(t *testing.T) {
	features.Proves(t, "T5")
	cfg := strategies.Config{PreserveRecent: 3, Serial: true}
	p := mustPrepare(t, turns(3, 6), 100, cfg)
	synctest.Test(t, func(t *testing.T) {
		f := &fake{reply: func(_ context.Context, _ int, r abi.ModelRequest) (abi.ModelResponse, error) {
			time.Sleep(time.Minute) // another would come in meanwhile
			return answer(r, "x"), nil
		}}
		r := mustRun(t, f, p, cfg)
		if len(f.requests) != 2 || f.atOnce != 1 || !r.SplitTurn {
			t.Errorf("%d requests, %d at once", len(f.requests), f.atOnce)
		}
	})
}

// TestFatalEndsBoth: where one of the two cannot be had, nobody waits for
// the other, and the error is the cause.
func TestFatalEndsBoth(t *testing.T) {
	features.Proves(t, "T5")
	for _, failing := range []string{"## Goal", "## Done So Far"} {
		t.Run(failing, func(t *testing.T) {
			f := &fake{reply: func(ctx context.Context, _ int, r abi.ModelRequest) (abi.ModelResponse, error) {
				if strings.Contains(r.System, failing) {
					return abi.ModelResponse{InputTokens: 3}, &abi.Error{Code: abi.CodeUnauthorized, Message: "no such key"}
				}
				<-ctx.Done()
				return abi.ModelResponse{}, ctx.Err()
			}}
			cfg := strategies.Config{PreserveRecent: 3}
			r, err := strategies.Write(t.Context(), f, mustPrepare(t, turns(3, 6), 100, cfg), cfg)
			if abi.CodeOf(err) != abi.CodeUnauthorized || r.Usage.InputTokens != 3 || len(f.requests) > 2 {
				t.Errorf("%s fails: %v, %+v", failing, err, r)
			}
		})
	}
}

// TestGoodHalf: where one of the two is no good the other is not asked for
// again, nor told of faults that are not its own.
func TestGoodHalf(t *testing.T) {
	features.Proves(t, "T5")
	bad := 2
	f := &fake{reply: func(_ context.Context, _ int, r abi.ModelRequest) (abi.ModelResponse, error) {
		if strings.Contains(r.System, "## Done So Far") && bad > 0 {
			bad--
			return abi.ModelResponse{Text: "no idea", OutputTokens: 2}, nil
		}
		return answer(r, "x"), nil
	}}
	cfg := strategies.Config{PreserveRecent: 3, Serial: true}
	r := mustRun(t, f, mustPrepare(t, turns(3, 6), 100, cfg), cfg)
	history := 0
	for _, req := range f.requests {
		if !strings.Contains(req.System, "## Done So Far") {
			history++
		}
	}
	if history != 1 || len(f.requests) != 4 || r.Chunks != 1 || !strings.Contains(r.Summary, "## Done So Far") {
		t.Errorf("%d requests, %d of them for the history; %+v", len(f.requests), history, r)
	}
}

// TestNoHistory: where nothing is before the turn that is split there is no history to summarize, and what is
// written of the turn's first part is its context: with all sections, as nothing else has them. The next
// compaction in the same turn renews it.
func TestNoHistory(t *testing.T) {
	features.Proves(t, "T5")
	const heading = "**Turn Context (split turn):**\n\n"
	for name, prompt := range map[string]string{"the prompt that ships": "", "the operator's": "Say it in rhymes."} {
		t.Run(name, func(t *testing.T) {
			cfg := strategies.Config{PreserveRecent: 3, Prompt: prompt}
			f := &fake{}
			r := mustRun(t, f, mustPrepare(t, turns(8), 100, cfg), cfg)
			if len(f.requests) != 1 || !r.SplitTurn || !strings.Contains(f.requests[0].Prompt, "request 0") {
				t.Fatalf("%d requests, split %v", len(f.requests), r.SplitTurn)
			}
			if asked := f.requests[0].System; !strings.Contains(asked, "You\nget its first part") ||
				!strings.HasPrefix(asked, prompt) {
				t.Errorf("asked with\n%s", asked)
			}
			said, ok := strings.CutPrefix(r.Summary, heading)
			if !ok || strings.Contains(said, "---") || len(note.Outlines()[0].Missing(said)) > 0 {
				t.Errorf("the summary is\n%s", r.Summary)
			}
			if a := r.Attempts; len(a) != 1 || !strings.HasPrefix(a[0].What, "turn prefix,") {
				t.Errorf("attempts %+v", a)
			}
			f = &fake{}
			r = mustRun(t, f, mustPrepare(t, after(turns(8), 2, earlier(r.Summary)), 100, cfg), cfg)
			if asked := f.requests[0].Prompt; len(f.requests) != 1 || strings.Contains(asked, "Turn Context (") ||
				!strings.Contains(asked, "answer 0") || strings.Count(r.Summary, heading) != 1 ||
				!strings.HasPrefix(r.Summary, heading) {
				t.Errorf("renewed with\n%s\nto\n%s", asked, r.Summary)
			}
		})
	}
	t.Run("an earlier summary of other turns is history", func(t *testing.T) {
		cfg, f := strategies.Config{PreserveRecent: 3}, &fake{}
		r := mustRun(t, f, mustPrepare(t, after(turns(8), 2, earlier("## Goal\nship")), 100, cfg), cfg)
		if len(f.requests) != 1 || r.SplitTurn || strings.Contains(r.Summary, heading) ||
			f.requests[0].System != strategies.DefaultPrompt() {
			t.Errorf("%d requests, split %v:\n%s", len(f.requests), r.SplitTurn, r.Summary)
		}
	})
}

// TestUpdate: an earlier summary goes into a prompt that asks to renew it,
// without its frame and ledger.
func TestUpdate(t *testing.T) {
	features.Proves(t, "T6")
	cfg := strategies.Config{}
	f := &fake{}
	p := mustPrepare(t, after(sessiongen.Long(30, 100), 2, earlier("## Goal\nship the parser")), 1000, cfg)
	mustRun(t, f, p, cfg)
	prompt := f.requests[0].Prompt
	so, conversation, _ := strings.Cut(prompt, "<conversation-")
	if !strings.HasPrefix(so, "<summary-so-far-") || !strings.Contains(so, "ship the parser") {
		t.Errorf("no summary so far:\n%s", so)
	}
	if strings.Contains(prompt, "Exact names") || strings.Contains(conversation, "ship the parser") ||
		strings.Contains(prompt, "Record of earlier messages") {
		t.Error("the frame, the ledger, or a second copy is in the prompt")
	}
	if !strings.Contains(prompt, "Write one summary of both, which\nreplaces it") {
		t.Error("it is not asked to renew it")
	}
}

// TestHostsPart: of an earlier note the model gets to read what was said, not
// the failures and tasks that the host keeps below it, which it keeps again;
// also where there is more than one note.
func TestHostsPart(t *testing.T) {
	features.Proves(t, "T6")
	framed := func(id, text string) abi.Message {
		m := earlier(text + "\n\nRead off the session by the host, without a model; what is quoted is word for " +
			"word.\n\n## Todos\n- [ ] an old task\n\nFailed, newest last:\n```\n$ make\nit broke\n```")
		m.ID = id
		return m
	}
	msgs := after(sessiongen.Long(30, 100), 2, framed("kw-1", "## Goal\nbegin the parser"),
		framed("kw-2", "## Goal\nship the parser"))
	p := mustPrepare(t, msgs, 1000, strategies.Config{})
	f := &fake{}
	mustRun(t, f, p, strategies.Config{})
	prompt := f.requests[0].Prompt
	for text, want := range map[string]bool{"begin the parser": true, "ship the parser": true,
		"Read off the session": false, "an old task": false, "it broke": false} {
		t.Run(text, func(t *testing.T) {
			if strings.Contains(prompt, text) != want {
				t.Errorf("%q is in the prompt: %v", text, !want)
			}
		})
	}
	mechanical, _ := note.Build(context.Background(), gone(sessiongen.Long(5, 100))).Write(
		note.Options{Budget: 2000, Count: counter.Text})
	p = mustPrepare(t, after(sessiongen.Long(30, 100), 2, earlier(mechanical)), 1000, strategies.Config{})
	if !strings.HasPrefix(p.Previous, "## Thread\n") || strings.Contains(p.Previous, "Exact names") {
		t.Errorf("of a note without a summary is read\n%s", p.Previous)
	}
}

// TestTasksRead: the model gets to read the tasks, and they are no part of
// what it wrote.
func TestTasksRead(t *testing.T) {
	features.Proves(t, "A6")
	p := prepared(t, strategies.Config{})
	p.Todo = "- [ ] write the docs"
	f := &fake{}
	if r := mustRun(t, f, p, strategies.Config{}); strings.Contains(r.Summary, "write the docs") ||
		!strings.Contains(f.requests[0].Prompt, "- [ ] write the docs") {
		t.Errorf("asked\n%s\nfor\n%s", f.requests[0].Prompt, r.Summary)
	}
}

// TestChunks: history in parts, one after the other, each with the summary
// of those before it, and the tasks in the last alone.
func TestChunks(t *testing.T) {
	features.Proves(t, "A9")
	cfg := strategies.Config{Chunks: 3}
	p := prepared(t, cfg)
	p.Todo = "- [ ] write the docs"
	f := &fake{}
	r := mustRun(t, f, p, cfg)
	if len(f.requests) != 3 || f.atOnce != 1 || r.Chunks != 3 || !strings.Contains(r.Summary, "answer 2") ||
		strings.Contains(r.Summary, "answer 1") {
		t.Fatalf("%d requests, %d at once: %s", len(f.requests), f.atOnce, r.Summary)
	}
	for i, req := range f.requests {
		so, conversation, _ := strings.Cut(req.Prompt, "<conversation-")
		if i > 0 && !strings.Contains(so, "answer "+string(rune('0'+i-1))) {
			t.Errorf("part %d has no summary so far", i+1)
		}
		if has := strings.Contains(req.Prompt, "write the docs"); has != (i == 2) {
			t.Errorf("part %d has the tasks: %v", i+1, has)
		}
		if calls, results := strings.Count(conversation, "-> bash"),
			strings.Count(conversation, "[tool bash]"); calls != results || calls == 0 {
			t.Errorf("part %d has %d calls and %d results (K9)", i+1, calls, results)
		}
	}
	for i := range len(p.TurnPrefix) {
		name := "file_" + string(rune('0'+i%10)) + ".go"
		if !strings.Contains(f.texts(), name) {
			t.Errorf("%s was not read", name)
		}
	}
	if a := r.Attempts; a[0].What != "turn prefix 1/3, 200 characters of a result" ||
		a[2].What != "turn prefix 3/3, 200 characters of a result" {
		t.Errorf("attempts %+v", a)
	}
}

// TestRetry: shorter and shorter tool results, the whole sequence each
// time, and what every try cost is counted.
func TestRetry(t *testing.T) {
	features.Proves(t, "A10", "K14")
	tooLong := &abi.Error{Code: abi.CodeContextLength, Message: "context_length_exceeded"}
	for _, tc := range []struct {
		why   string
		cfg   strategies.Config
		fails func(n int) error // of call n
		want  string            // the characters of each try
		calls int
		code  abi.Code
	}{
		{"none where the first will do", strategies.Config{}, func(int) error { return nil }, "200", 1, ""},
		{"two were too long", strategies.Config{}, func(n int) error {
			if n < 2 {
				return tooLong
			}
			return nil
		}, "200 150 100", 3, ""},
		{"all were too long", strategies.Config{}, func(int) error {
			return tooLong
		}, "200 150 100 50 0", 5, abi.CodeContextLength},
		{"in steps of what is configured", strategies.Config{ToolResultChars: 1000}, func(int) error {
			return tooLong
		}, "1000 750 500 250 0", 5, abi.CodeContextLength},
		{"of three parts the second fails: all are read again", strategies.Config{Chunks: 3}, func(n int) error {
			if n == 1 {
				return tooLong
			}
			return nil
		}, "200 200 150 150 150", 5, ""},
		{"not when access is denied", strategies.Config{}, func(int) error {
			return &abi.Error{Code: abi.CodeUnauthorized, Message: "no"}
		}, "200", 1, abi.CodeUnauthorized},
		{"when the provider fails", strategies.Config{}, func(int) error {
			return &abi.Error{Code: abi.CodeModel, Message: "busy"}
		}, "200 150 100 50 0", 5, abi.CodeModel},
		{"on an error of no code", strategies.Config{}, func(n int) error {
			if n < 3 {
				return errors.New("boom")
			}
			return nil
		}, "200 150 100 50", 4, ""},
		{"when it was slow", strategies.Config{}, func(n int) error {
			if n == 0 {
				return &abi.Error{Code: abi.CodeDeadline, Message: "no answer within 9s"}
			}
			return nil
		}, "200 150", 2, ""},
		{"of three parts the third has a provider that fails: all are read again", strategies.Config{Chunks: 3},
			func(n int) error {
				if n == 2 {
					return &abi.Error{Code: abi.CodeRateLimited, Message: "slow down"}
				}
				return nil
			}, "200 200 200 150 150 150", 6, ""},
		{"not where less cannot help", strategies.Config{}, func(int) error {
			return &abi.Error{Code: abi.CodeModel, Message: "no such model", Err: final{}}
		}, "200", 1, abi.CodeModel},
	} {
		t.Run(tc.why, func(t *testing.T) {
			f := &fake{reply: func(_ context.Context, n int, r abi.ModelRequest) (abi.ModelResponse, error) {
				if err := tc.fails(n); err != nil {
					return abi.ModelResponse{InputTokens: 5}, err
				}
				return answer(r, "fine"), nil
			}}
			p := mustPrepare(t, sessiongen.Long(60, 300), 1000, tc.cfg)
			r, err := strategies.Write(t.Context(), f, p, tc.cfg)
			if abi.CodeOf(err) != tc.code || r.Usage.Calls != tc.calls || len(f.requests) != tc.calls {
				t.Errorf("%v after %d calls", err, r.Usage.Calls)
			}
			var chars []string
			for _, a := range r.Attempts {
				_, n, _ := strings.Cut(a.What, ", ")
				chars = append(chars, strings.TrimSuffix(n, " characters of a result"))
			}
			if got := strings.Join(chars, " "); got != tc.want {
				t.Errorf("tried with %s, want %s", got, tc.want)
			}
			for i, req := range f.requests {
				if shown := strings.Contains(req.Prompt, "word3"); shown == strings.HasPrefix(chars[i], "0") {
					t.Errorf("try %d shows results: %v", i, shown)
				}
			}
			for i, a := range r.Attempts {
				want := abi.CodeOf(tc.fails(i))
				if want == abi.CodeInternal {
					want = abi.CodeModel
				}
				if a.Code != want {
					t.Errorf("attempt %d has code %q, want %q", i, a.Code, want)
				}
			}
			if e := abi.AsError(err); err != nil && (e.Op != "summarize" || e.Phase == "" || e.Message == "") {
				t.Errorf("the error says too little: %+v", e)
			}
		})
	}
}

// final is a failure that stays.
type final struct{}

func (final) Error() string { return "final" }
func (final) Final() bool   { return true }

// TestRetryEnds: a provider that fails is not asked the same once more, and not for minutes.
func TestRetryEnds(t *testing.T) {
	features.Proves(t, "A10")
	fails := func(after time.Duration) *fake {
		return &fake{reply: func(context.Context, int, abi.ModelRequest) (abi.ModelResponse, error) {
			time.Sleep(after)
			return abi.ModelResponse{}, &abi.Error{Code: abi.CodeOverloaded, Message: "busy"}
		}}
	}
	short := []abi.Message{{ID: "sys", Role: abi.RoleSystem, Content: abi.Text("You are a coding agent.")}}
	for i := range 40 {
		short = append(short,
			abi.Message{ID: fmt.Sprint("u", i), Role: abi.RoleUser, Content: abi.Text("Go on with the next.")},
			abi.Message{ID: fmt.Sprint("a", i), Role: abi.RoleAssistant, Content: abi.Text(strings.Repeat("it is done ", 20))})
	}
	for _, tc := range []struct {
		why   string
		msgs  []abi.Message
		after time.Duration
		calls int
	}{
		{"results to leave out", sessiongen.Long(60, 300), time.Second, 5},
		{"nothing to leave out", short, time.Second, 1},
		{"slow", sessiongen.Long(60, 300), 12 * time.Second, 3},
		{"slower", sessiongen.Long(60, 300), time.Minute, 1},
	} {
		t.Run(tc.why, func(t *testing.T) {
			p := mustPrepare(t, tc.msgs, 1000, strategies.Config{})
			synctest.Test(t, func(t *testing.T) {
				f := fails(tc.after)
				if _, err := strategies.Write(t.Context(), f, p, strategies.Config{}); abi.CodeOf(err) != abi.CodeOverloaded ||
					len(f.requests) != tc.calls {
					t.Errorf("%d calls, want %d: %v", len(f.requests), tc.calls, err)
				}
			})
		})
	}
}

// TestSaysWhy: after an answer that was no good the model is told why.
func TestSaysWhy(t *testing.T) {
	features.Proves(t, "A10")
	f := &fake{reply: func(_ context.Context, n int, r abi.ModelRequest) (abi.ModelResponse, error) {
		resp := answer(r, "fine")
		if n == 0 {
			resp.StopReason = abi.StopLength
		}
		return resp, nil
	}}
	r := mustRun(t, f, prepared(t, strategies.Config{}), strategies.Config{})
	if !strings.Contains(f.requests[1].Prompt,
		"An earlier answer could not be used: it ended before it was complete (length).") {
		t.Errorf("the second prompt ends in %q", f.requests[1].Prompt[len(f.requests[1].Prompt)-100:])
	}
	if want := (abi.ModelUsage{Calls: 2, InputTokens: 200, OutputTokens: 20, Cost: 1}); r.Usage != want {
		t.Errorf("usage %+v (K14)", r.Usage)
	}
}

// TestEnds: a call that hangs ends with its context, whichever way
// that ends, and at once where it has ended before.
func TestEnds(t *testing.T) {
	features.Proves(t, "complaint 17")
	p := prepared(t, strategies.Config{})
	synctest.Test(t, func(t *testing.T) {
		hang := &fake{reply: func(ctx context.Context, _ int, _ abi.ModelRequest) (abi.ModelResponse, error) {
			<-ctx.Done()
			return abi.ModelResponse{InputTokens: 9}, ctx.Err()
		}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r, err := strategies.Write(ctx, hang, p, strategies.Config{})
		if abi.CodeOf(err) != abi.CodeDeadline || !errors.Is(err, context.DeadlineExceeded) ||
			r.Usage.InputTokens != 9 || len(hang.requests) != 1 {
			t.Errorf("out of time: %v, %+v", err, r.Usage)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := &fake{}
	r, err := strategies.Write(ctx, f, p, strategies.Config{})
	if abi.CodeOf(err) != abi.CodeCanceled || len(f.requests) != 0 || r.Usage.Calls != 0 {
		t.Errorf("canceled: %v, %d calls", err, len(f.requests))
	}
}

// TestThinkingModels: a model that thinks until max_tokens is used up, and says
// nothing, is asked the same once more with more of them, before it gets less to
// read; what is asked after that has them from the start.
func TestThinkingModels(t *testing.T) {
	features.Proves(t, "complaint 7")
	for name, thought := range map[string]string{"not shown": "", "shown": "<think>\nFirst I read",
		"whole": "<think>so</think>\n"} {
		t.Run(name, func(t *testing.T) {
			thinks := &fake{reply: func(_ context.Context, _ int, r abi.ModelRequest) (abi.ModelResponse, error) {
				if r.MaxTokens < 8000 {
					return abi.ModelResponse{Text: thought, StopReason: abi.StopLength, OutputTokens: r.MaxTokens}, nil
				}
				return answer(r, "fine"), nil
			}}
			cfg := strategies.Config{Chunks: 3}
			r := mustRun(t, thinks, prepared(t, cfg), cfg)
			if r.ToolResultChars != 200 || r.Usage.Calls != 4 || len(r.Attempts) != 3 {
				t.Errorf("%d characters of a result, %d calls, %d attempts", r.ToolResultChars, r.Usage.Calls, len(r.Attempts))
			}
			if first, second := thinks.requests[0], thinks.requests[1]; first.Prompt != second.Prompt ||
				second.MaxTokens <= first.MaxTokens {
				t.Errorf("asked with %d tokens, and then with %d", first.MaxTokens, second.MaxTokens)
			}
		})
	}
	never := &fake{reply: func(context.Context, int, abi.ModelRequest) (abi.ModelResponse, error) {
		return abi.ModelResponse{StopReason: abi.StopLength}, nil
	}}
	_, err := strategies.Write(t.Context(), never, prepared(t, strategies.Config{}), strategies.Config{})
	if n := len(never.requests); abi.CodeOf(err) != abi.CodeBadSummary || n != 6 {
		t.Errorf("a model that never comes to an answer: %v after %d requests, 6 expected", err, n)
	}
	said := &fake{reply: func(context.Context, int, abi.ModelRequest) (abi.ModelResponse, error) {
		return abi.ModelResponse{Text: "## Goal\nto be", StopReason: abi.StopLength}, nil
	}}
	if _, err := strategies.Write(t.Context(), said, prepared(t, strategies.Config{}),
		strategies.Config{}); err == nil || len(said.requests) != 5 {
		t.Errorf("an answer that was cut off is no thinking: %d requests", len(said.requests))
	}
}

// gone is a session of which everything goes.
func gone(msgs []abi.Message) note.Session {
	return note.Session{Messages: msgs, Gone: slices.Repeat([]bool{true}, len(msgs))}
}
