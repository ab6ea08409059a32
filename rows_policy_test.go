package kagewasm_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/hosttest"
	"github.com/kagewasm/kagewasm/internal/modeltest"
	"github.com/kagewasm/kagewasm/models"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/strategies/note"
	"github.com/kagewasm/kagewasm/tokens"
)

// TestFamilies: the thresholds of each family, by the model's name, and
// conservative ones for whoever wants them.
func TestFamilies(t *testing.T) {
	features.Proves(t, "I3")
	for _, tc := range []struct {
		profile, model string
		upper, lower   float64
	}{
		{"", "google/gemini-3-pro", 0.85, 0.60},
		{"auto", "openai/gpt-5.2", 0.85, 0.60},
		{"auto", "anthropic/claude-opus-4.5", 0.85, 0.60},
		{"auto", "deepseek/deepseek-v3.2", 0.70, 0.60},
		{"auto", "xai/grok-4.20", 0.70, 0.60},
		{"auto", "google/gemini-3-pro", 0.50, 0.40},
		{"conservative", "google/gemini-3-pro", 0.55, 0.45},
		{"gemini", "unknown", 0.50, 0.40},
	} {
		t.Run(fmt.Sprintf("profile %q, %s", tc.profile, tc.model), func(t *testing.T) {
			if upper, lower := (kagewasm.When{Profile: tc.profile}).Thresholds(tc.model); upper != tc.upper ||
				lower != tc.lower {
				t.Errorf("profile %q, %s: %v and %v, want %v and %v", tc.profile, tc.model, upper, lower, tc.upper, tc.lower)
			}
		})
	}
}

// TestInTheSession: the eight sections are asked for, and are there, the ones
// the model left out marked as empty.
func TestInTheSession(t *testing.T) {
	features.Proves(t, "I4")
	m := modeltest.ScriptFunc(func(r modeltest.Request) modeltest.Answer {
		text := note.Outlines()[1].Render(func(s note.Section) string { return "about " + strings.ToLower(s.Title) })
		return modeltest.Answer{Text: strings.Replace(text, "## Failed Approaches", "## Other", 1)}
	})
	policy := kagewasm.Policy{Summarize: strategies.SummarizeConfig{Outline: note.Outlines()[1].Name}}
	r := compact(t, newCompactor(t, kagewasm.Options{Model: m, Policy: policy}), request(longWindow, long())).Report
	if r.Strategy != "summarize" {
		t.Fatal(r.Failures)
	}
	for _, title := range []string{"Session Intent", "Current Task", "Files Modified", "Files Read", "Key Decisions",
		"Failed Approaches", "Errors Encountered", "Next Steps"} {
		t.Run(title, func(t *testing.T) {
			_, after, ok := strings.Cut(r.Summary, "## "+title)
			if !ok || !strings.Contains(m.Requests()[0].System, "## "+title) {
				t.Errorf("no section %s asked for, or none there", title)
			}
			if title == "Failed Approaches" && !strings.HasPrefix(strings.TrimSpace(after), "(none)") {
				t.Errorf("a section that is missing says %.40q", after)
			}
		})
	}
}

// TestEachStrategy: each of the four, chosen by name, makes the plan, and the
// record says which.
func TestEachStrategy(t *testing.T) {
	features.Proves(t, "K4")
	for _, name := range kagewasm.Strategies() {
		opts := kagewasm.Options{Policy: kagewasm.Policy{Strategy: name,
			Summarize: strategies.SummarizeConfig{Off: name == kagewasm.StrategyDrop}}, Model: writes("all is well")}
		want := name
		switch name {
		case kagewasm.StrategyDelegate:
			opts.Plugins = plugins(compactor(keepOnly("all of it", fixed)))
		case kagewasm.StrategyCheckpoint:
			want = kagewasm.StrategySummarize // is what makes the plan that waits
		}
		r := compact(t, newCompactor(t, opts), request(longWindow, long()))
		record := r.Record
		if r.Pending != nil {
			record = r.Pending.Record
		}
		if (r.Pending != nil) != (name == kagewasm.StrategyCheckpoint) || record == nil || record.Strategy != want ||
			!record.Success {
			t.Errorf("%s: checkpoint %v, record %+v", name, r.Pending != nil, record)
		}
	}
	if r := compact(t, newCompactor(t, kagewasm.Options{}),
		request(longWindow, long())); r.Record.Strategy != kagewasm.StrategyDrop ||
		r.Record.Source.Type != abi.SourceStrategy {
		t.Errorf("the default: %+v", r.Record)
	}
}

// TestEveryCompaction carries the ledger: with a model, a plugin's summary, a
// plugin's list, and with none of them.
func TestEveryCompaction(t *testing.T) {
	features.Proves(t, "N8")
	for why, opts := range map[string]kagewasm.Options{
		"drop":      {},
		"a model":   {Model: writes("all is well")},
		"a list":    {Plugins: plugins(compactor(keepOnly("Short.", fixed)))},
		"a summary": {Plugins: plugins(granted("obs", answers(&abi.Output{Summary: "Short."})))},
	} {
		t.Run(why, func(t *testing.T) {
			r := compact(t, newCompactor(t, opts), request(longWindow, long()))
			gone, budget := r.Report.Metrics.NoteTokens, longWindow
			text := r.Messages[2].Text()
			named := strings.Contains(text, "step0/run.go") || strings.Contains(text, "step300/run.go")
			if gone == 0 || gone > budget/8 || !named || !strings.Contains(text, "pkg/") {
				t.Errorf("a ledger of %d tokens: %.200s", gone, r.Messages[2].Text())
			}
		})
	}
	off := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Note: strategies.NoteConfig{Tokens: -1}}})
	if r := compact(t, off, request(longWindow, long())).Report; r.Metrics.NoteTokens != 0 {
		t.Errorf("switched off, and %d tokens", r.Metrics.NoteTokens)
	}
}

// TestInDollars: where the prices are known the receipt is in dollars, with
// what the summarizing model cost, and says when it pays.
func TestInDollars(t *testing.T) {
	features.Proves(t, "N10")
	const name = "anthropic/claude-3-5-haiku-20241022"
	m := tokens.Default().Resolve(name)
	rates := m.Prices.Rates // for a token of the model, of which there are more than are counted
	req := request(longWindow, long())
	req.Session.Model = name
	r := compact(t, newCompactor(t, kagewasm.Options{Model: writes("all is well")}), req).Report
	rc, cache := r.Receipt, r.Metrics.Cache
	written := float64(r.TokensAfter-cache.PrefixTokens) * m.TokenScale
	once := r.Cost.Compactor + written*(rates.CacheWrite-rates.CacheRead)/1e6
	saved := float64(r.TokensBefore-r.TokensAfter) * rates.CacheRead * m.TokenScale / 1e6
	if rc.Unit != abi.UnitUSD || r.Cost.Compactor == 0 || math.Abs(rc.Cost-once) > 1e-9 ||
		math.Abs(rc.SavedPerCall-saved) > 1e-9 || rc.PaybackCalls != int(math.Ceil(rc.Cost/rc.SavedPerCall)) {
		t.Errorf("receipt %+v, want $%v once and $%v a call", rc, once, saved)
	}
}

// TestModelFailedWithoutAFloor: where the floor is switched off and the model fails, a session that does not fit is
// told with what failed. Nothing is pinned, and nobody is told to pin less.
func TestModelFailedWithoutAFloor(t *testing.T) {
	features.Proves(t, "A8")
	m := modeltest.ScriptFunc(func(modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Err: &abi.Error{Code: abi.CodeOverloaded, Op: "complete", Message: "status 503: come back"}}
	})
	c := newCompactor(t, kagewasm.Options{Model: m, Policy: kagewasm.Policy{NoFloor: true}})
	r, err := c.Compact(t.Context(), request(longWindow/2, long()))
	if abi.CodeOf(err) != abi.CodeExceedsWindow || r.Report.Compacted {
		t.Fatalf("%v: %s", err, r.Report.Reason)
	}
	for _, said := range []string{r.Report.Warning, err.Error() + "; " + abi.AsError(err).Hint} {
		if strings.Contains(said, "pin less") || strings.Contains(said, "may not go") ||
			!strings.Contains(said, "status 503: come back") || !strings.Contains(said, "no_floor") {
			t.Errorf("it says %q", said)
		}
	}
}

// TestFailedModelHasItsName: a model whose calls all failed is listed under the same name as one that answered, where
// it says its name.
func TestFailedModelHasItsName(t *testing.T) {
	features.Proves(t, "K14")
	for _, status := range []int{200, 500} {
		s := modeltest.New(t, modeltest.Answer{Status: status, Error: "down", Text: hosttest.Summary("all is well")})
		m, err := models.New(models.Config{Provider: models.OpenAI, Model: "small-1", BaseURL: s.URL(modeltest.OpenAI),
			Retries: -1})
		if err != nil {
			t.Fatal(err)
		}
		set, err := models.NewSet("", map[string]abi.Model{"fast": m})
		if err != nil {
			t.Fatal(err)
		}
		policy := kagewasm.Policy{Summarize: strategies.SummarizeConfig{Model: "fast"}}
		r := compact(t, newCompactor(t, kagewasm.Options{Model: set, Policy: policy}), request(longWindow, long())).Report
		if r.Cost.Model != "small-1" || r.Cost.Usage == nil || r.Cost.Usage.Calls == 0 ||
			(r.Strategy == "drop") != (status == 500) {
			t.Errorf("status %d: %s by %q, %+v", status, r.Strategy, r.Cost.Model, r.Cost.Usage)
		}
	}
}
