package strategies_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/tokens"
)

// load reads a session in neutral form.
func load(t *testing.T, path string) []abi.Message {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var msgs []abi.Message
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for lines.Scan() {
		var m abi.Message
		if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		msgs = append(msgs, m)
	}
	return msgs
}

// prepareToFit keeps fewer and fewer messages until the rest will fit.
func prepareToFit(v *strategies.View, cfg strategies.Config) *strategies.Ready {
	var p *strategies.Ready
	for keep := cfg.Recent(); keep >= 0 && (p == nil || !p.Fits); keep-- {
		p, _ = strategies.Prepare(v, cfg, keep)
	}
	return p
}

// TestRebuild: what the plan makes of the session is its beginning, the
// summary in its frame, and what stays.
func TestRebuild(t *testing.T) {
	features.Proves(t, "A5")
	msgs := turns(8, 2)
	v := toSummarize(msgs, 1000)
	cfg := strategies.Config{MaxSummaryTokens: 100, PreserveRecent: 3}
	p, err := strategies.Prepare(v, cfg, cfg.Recent())
	if err != nil {
		t.Fatal(err)
	}
	r := mustRun(t, &fake{}, p, cfg)
	plan := abi.Plan{Source: abi.Source{Type: abi.SourceModel, Name: r.Model}, Supersede: p.Supersede, Summary: r.Summary}
	plan.Insert = []abi.Insert{{Kind: abi.KindSummary, Text: r.Summary, Source: plan.Source}}
	verdict, err := firewall.Apply(firewall.Case{Messages: msgs, Pinned: v.Pinned, Turn: v.Turn, Target: v.Target,
		Count: counter}, plan)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for i, m := range verdict.Messages {
		if m.Kind == abi.KindSummary {
			if text, ok := abi.Unfence(m.Text()); !ok || text != r.Summary || m.Role != abi.RoleUser {
				t.Errorf("the summary is message %d:\n%s", i, m.Text())
			}
			m.ID = "summary"
		}
		ids = append(ids, m.ID)
	}
	if got := strings.Join(ids, " "); got != "sys u0 summary u1 a1.0 r1.0 a1.1 r1.1" {
		t.Errorf("the session is %s", got)
	}
}

// TestSessions: real sessions, real counts. The firewall takes
// the plan, and no request is longer than the summarizer's window.
func TestSessions(t *testing.T) {
	features.Proves(t, "K4", "K9", "complaint 4")
	counter, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	done := 0
	sessions := shared.Sessions(t)
	for _, path := range soak.Sample(sessions, 13, len(sessions)) {
		msgs := load(t, path)
		if len(msgs) > 400 {
			continue // enough of them are shorter; BenchmarkRun has a long one
		}
		costs := make([]int, len(msgs))
		for i := range msgs {
			costs[i] = counter.Message(&msgs[i])
		}
		v := strategies.NewView(strategies.NewList(msgs, costs, abi.Pinned(msgs), 0),
			strategies.Limits{Window: 1 << 20}, counter)
		if v.Target = v.Total / 2; v.Target < 500 {
			continue // any summary would be longer
		}
		cfg := strategies.Config{InputTokens: 12_000, MaxSummaryTokens: 800, Room: 200}
		p := prepareToFit(v, cfg)
		if p == nil {
			continue
		}
		f := &fake{}
		r, err := strategies.Write(t.Context(), f, p, cfg)
		for _, req := range f.requests {
			if n := counter.Text(req.System) + counter.Text(req.Prompt); n > cfg.InputTokens {
				t.Errorf("%s: a request of %d tokens", path, n)
			}
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		plan := abi.Plan{Source: abi.Source{Type: abi.SourceModel, Name: "fake"}, Supersede: p.Supersede, Summary: r.Summary}
		plan.Insert = []abi.Insert{{Kind: abi.KindSummary, Text: r.Summary, Source: plan.Source}}
		verdict, err := firewall.Apply(firewall.Case{Messages: msgs, Pinned: v.Pinned, Turn: v.Turn, Target: v.Target,
			Count: counter}, plan)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		} else if p.Fits && !verdict.Met {
			t.Errorf("%s: %d tokens, %d allowed", path, verdict.Tokens, v.Target)
		}
		done++
	}
	if done < soak.Count(4, 15, 15) {
		t.Errorf("%d sessions were summarized", done)
	}
}
