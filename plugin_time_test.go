package kagewasm_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
)

// limitedPlugin is a plugin whose calls have a time limit.
type limitedPlugin struct {
	*fakePlugin
	timeoutMS int
}

// Call implements hooks.Plugin.
func (p limitedPlugin) Call(ctx context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
	out, stats, err := p.fakePlugin.Call(ctx, in)
	stats.Limits.TimeoutMS = p.timeoutMS
	return out, stats, err
}

// slowCounter takes a millisecond for a kilobyte, and remembers the longest text.
type slowCounter struct {
	wordCounter
	longest *int
}

// TextContext implements abi.ContextCounter.
func (c slowCounter) TextContext(ctx context.Context, s string) (int, error) {
	*c.longest = max(*c.longest, len(s))
	for range len(s) >> 10 {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		time.Sleep(time.Millisecond)
	}
	return c.Text(s), nil
}

// MessageContext implements abi.ContextCounter.
func (c slowCounter) MessageContext(ctx context.Context, m *abi.Message) (int, error) {
	if _, err := c.TextContext(ctx, m.Text()); err != nil {
		return 0, err
	}
	return c.Message(m), nil
}

// lastingPlugin is one whose calls take a while, if nothing ends them.
type lastingPlugin struct {
	*fakePlugin
	takes time.Duration
}

// Call implements hooks.Plugin.
func (p lastingPlugin) Call(ctx context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
	select {
	case <-ctx.Done():
		return nil, abi.CallStats{}, context.Cause(ctx)
	case <-time.After(p.takes):
		return p.fakePlugin.Call(ctx, in)
	}
}

// TestPlansOfPluginsHaveTheTimeOfASummary: a plugin that makes the compaction has the same time as a model, also where
// that is more than the default.
func TestPlansOfPluginsHaveTheTimeOfASummary(t *testing.T) {
	features.Proves(t, "O6")
	for minutes, want := range map[int]string{20: "plugin", 6: "strategy"} {
		synctest.Test(t, func(t *testing.T) {
			policy := kagewasm.Policy{Strategy: kagewasm.StrategyDrop}
			policy.Summarize.TimeoutMS = minutes * 60_000
			r := compact(t, newCompactor(t, kagewasm.Options{Policy: policy, Plugins: []hooks.Plugin{
				lastingPlugin{compactor(keepOnly("", fixed)), 8 * time.Minute}}}), request(1200, chat(90))).Report
			if string(r.Source.Type) != want {
				t.Errorf("%d minutes: compacted by %q, want %q: %v", minutes, r.Source.Type, want, r.Failures)
			}
		})
	}
}

// TestAnswersTakePluginTime: what a plugin's answer makes the host do is done in the
// plugin's time, and of what is too long by its bytes alone nothing is done.
func TestAnswersTakePluginTime(t *testing.T) {
	const megabytes = 4 << 20
	slow := strings.Repeat("<", 10<<10)
	lists := func(text string, n int) func(*abi.Input) (*abi.Output, error) {
		return func(in *abi.Input) (*abi.Output, error) {
			out, err := keepOnly("", fixed)(in)
			for range n {
				out.Messages = append(out.Messages, abi.OutputMessage{Message: abi.Message{Role: abi.RoleUser,
					Kind: abi.KindInjected, Content: abi.Text(text)}})
			}
			return out, err
		}
	}
	for _, c := range []struct {
		name    string
		plugin  *fakePlugin
		code    abi.Code // of the failure; "" where there is none
		warns   string
		longest int // text that is counted
	}{
		{"a summary that is slow to count", compactor(answers(&abi.Output{Summary: slow})), abi.CodeDeadline, "", 32 << 10},
		{"a summary that is longer than the session",
			compactor(answers(&abi.Output{Summary: strings.Repeat("<", megabytes)})),
			abi.CodeGrew, "", 32 << 10},
		{"one in a list", compactor(keepOnly(strings.Repeat("<", megabytes), fixed)), abi.CodeGrew, "", 32 << 10},
		{"a long injection", &fakePlugin{Name: "comp", Pre: answers(&abi.Output{Inject: strings.Repeat("<", megabytes)})}, "",
			"cut to its token budget", 32 << 10},
		{"many injections", compactor(lists("x", 10_000)), "", "injected texts: they were left out", 32 << 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			longest, limit := 0, 2000
			if c.code == abi.CodeDeadline {
				limit = 5
			}
			r := compact(t, newCompactor(t, kagewasm.Options{Counter: slowCounter{longest: &longest},
				Plugins: []hooks.Plugin{limitedPlugin{c.plugin, limit}}}), request(1200, chat(90))).Report
			if !r.Compacted {
				t.Fatal(r.Reason)
			}
			if (c.code == "") != (len(r.Failures) == 0) || c.code != "" && r.Failures[0].Code != c.code {
				t.Errorf("failures %v, want code %q", r.Failures, c.code)
			}
			if warnings := strings.Join(r.Hooks[0].Warnings, "; "); !strings.Contains(warnings, c.warns) ||
				len(warnings) > 1000 {
				t.Errorf("warnings %.200q, want %q", warnings, c.warns)
			}
			if longest > c.longest {
				t.Errorf("a text of %d bytes was counted", longest)
			}
		})
	}
}
