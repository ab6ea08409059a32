package kagewasm_test

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/strategies"
)

// TestWhenItStarts: every mode, at the last token below the line and the first
// one over it.
func TestWhenItStarts(t *testing.T) {
	features.Proves(t, "K2", "K21", "A2", "T1", "I2", "I3", "complaint 6")
	msgs := chat(60)
	total := compact(t, newCompactor(t, kagewasm.Options{}), request(1_000_000, msgs)).Report.TokensBefore
	none := (*int)(nil)
	for _, tc := range []struct {
		row, why string
		policy   kagewasm.Policy
		model    string
		window   *int
		starts   bool
		target   int // 0: whatever
	}{
		{"K2", "at 85% nothing yet", kagewasm.Policy{}, "", new(total*100/85 + 2), false, 0},
		{"K2", "over it", kagewasm.Policy{}, "", new(total*100/85 - 2), true, int(0.6 * float64(total*100/85-2))},
		{"K2", "exactly at it", kagewasm.Policy{When: kagewasm.When{Upper: 0.5}}, "", new(total * 2), true, 0},
		{"K2", "one token below", kagewasm.Policy{When: kagewasm.When{Upper: 0.5}}, "", new(total*2 + 2), false, 0},
		{"K2", "both are the policy's", kagewasm.Policy{When: kagewasm.When{Upper: 0.5, Lower: 0.3}}, "",
			new(total*2 - 2), true, int(0.3 * float64(total*2-2))},
		{"K21", "an unknown window is 128,000", kagewasm.Policy{}, "", none, false, 0},
		{"A2", "an absolute number of tokens", kagewasm.Policy{When: kagewasm.When{MaxTokens: total - 1}}, "",
			new(1_000_000), true, 0},
		{"A2", "exactly that number is not over it", kagewasm.Policy{When: kagewasm.When{MaxTokens: total}}, "",
			new(1_000_000), false, 0},
		{"A2", "it wins over the fraction", kagewasm.Policy{When: kagewasm.When{MaxTokens: total}}, "", new(total + 10),
			false, 0},
		{"A2", "it needs no window", kagewasm.Policy{When: kagewasm.When{MaxTokens: total - 1, StrictWindow: true}}, "",
			none, true, 0},
		{"T1", "when the reserve is touched", kagewasm.Policy{When: kagewasm.When{ReserveTokens: 100}}, "",
			new(total + 99), true, 0},
		{"T1", "exactly the reserve left is not yet", kagewasm.Policy{When: kagewasm.When{ReserveTokens: 100}}, "",
			new(total + 100), false, 0},
		{"A2", "the number wins over the reserve",
			kagewasm.Policy{When: kagewasm.When{ReserveTokens: 100, MaxTokens: total}}, "", new(total + 50), false, 0},
		{"T1", "switched off", kagewasm.Policy{Disabled: true}, "", new(400), false, 0},
		{"I2", "what is reserved for the answer is not there", kagewasm.Policy{When: kagewasm.When{OutputReserve: 200}},
			"", new(total*100/85 + 100), true, 0},
		{"I3", "a profile by name", kagewasm.Policy{When: kagewasm.When{Profile: "conservative"}}, "",
			new(total * 10 / 6), true, int(0.45 * float64(total*10/6))},
		{"I3", "the same without it", kagewasm.Policy{}, "", new(total * 10 / 6), false, 0},
		{"I3", "the model's own", kagewasm.Policy{When: kagewasm.When{Profile: "auto"}}, "google/gemini-2.5-pro",
			new(total * 10 / 6), true, int(0.40 * float64(total*10/6))},
		{"I3", "70/60 for deepseek", kagewasm.Policy{When: kagewasm.When{Profile: "auto"}}, "deepseek-chat",
			new(total * 10 / 6), false, 0},
		{"I3", "for others the default", kagewasm.Policy{When: kagewasm.When{Profile: "auto"}}, "gpt-4o",
			new(total * 10 / 6), false, 0},
		{"I3", "what is set wins over the profile",
			kagewasm.Policy{When: kagewasm.When{Profile: "conservative", Upper: 0.9, Lower: 0.6}}, "",
			new(total * 10 / 6), false, 0},
		{"complaint 6", "bytes count where they are bounded", kagewasm.Policy{When: kagewasm.When{MaxBytes: 3000}}, "",
			new(1_000_000), true, 0},
	} {
		t.Run(tc.why, func(t *testing.T) {
			req := kagewasm.Request{Session: abi.Session{ID: "s", Model: tc.model, ContextWindow: tc.window}, Messages: msgs}
			r := compact(t, newCompactor(t, kagewasm.Options{Policy: tc.policy}), req).Report
			if r.Compacted != tc.starts || tc.target > 0 && r.Target != tc.target {
				t.Errorf("%s: %s: compacted %v, target %d (want %d), %s", tc.row, tc.why, r.Compacted, r.Target,
					tc.target, r.Reason)
			}
			if tc.window == nil && r.ContextWindow != nil || tc.window == nil && r.Window != abi.FallbackWindow {
				t.Errorf("%s: %s: context window %v, window %d", tc.row, tc.why, r.ContextWindow, r.Window)
			}
			if tc.starts && r.TokensAfter > r.Target {
				t.Errorf("%s: %s: %d tokens after, target %d", tc.row, tc.why, r.TokensAfter, r.Target)
			}
		})
	}
}

// TestARequestReservesRoom: what a request wants to have for the answer is not there, beside what the policy reserves.
// The model's own window is told as it is, and stays unknown where nobody knows it.
func TestARequestReservesRoom(t *testing.T) {
	features.Proves(t, "I2", "K21")
	const own, asked = 1_000, 2_000
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{When: kagewasm.When{OutputReserve: own}}})
	for _, known := range []*int{nil, new(50_000)} {
		r := compact(t, c, kagewasm.Request{Session: abi.Session{ID: "s", Model: "mystery", ContextWindow: known},
			Messages: chat(2), OutputReserve: asked}).Report
		window := abi.FallbackWindow
		if known != nil {
			window = *known
		}
		told := r.ContextWindow
		if r.Window != window-own-asked || (told == nil) != (known == nil) || known != nil && *told != *known {
			t.Errorf("%d: window %d, context window %v", window, r.Window, told)
		}
	}
	for _, n := range []int{-1, 60_000} {
		_, err := c.Compact(t.Context(), kagewasm.Request{Session: abi.Session{ID: "s", ContextWindow: new(50_000)},
			Messages: chat(2), OutputReserve: n})
		if abi.CodeOf(err) != abi.CodeUsage {
			t.Errorf("%d: %v", n, err)
		}
	}
}

// TestStrictWindow: nothing says how large the window is, and that is an
// error that says what to do.
func TestStrictWindow(t *testing.T) {
	features.Proves(t, "A7")
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{When: kagewasm.When{StrictWindow: true}}})
	_, err := c.Compact(t.Context(), kagewasm.Request{Session: abi.Session{ID: "s", Model: "mystery"}, Messages: chat(2)})
	if abi.CodeOf(err) != abi.CodeUsage || !strings.Contains(abi.AsError(err).Hint, "max_tokens") ||
		!strings.Contains(err.Error(), "mystery") {
		t.Errorf("%v", err)
	}
}

func TestPoliciesThatMakeNoSense(t *testing.T) {
	for why, p := range map[string]kagewasm.Policy{
		"an unknown strategy":     {Strategy: "magic"},
		"an unknown profile":      {When: kagewasm.When{Profile: "lucky"}},
		"an unknown outline":      {Summarize: strategies.SummarizeConfig{Outline: "haiku"}},
		"lower over upper":        {When: kagewasm.When{Upper: 0.5, Lower: 0.6}},
		"upper over one":          {When: kagewasm.When{Upper: 1.5}},
		"a trim over one":         {Prune: strategies.PruneConfig{Trim: strategies.TrimConfig{Threshold: 2}}},
		"a negative number":       {When: kagewasm.When{MaxTokens: -1}},
		"an idle fraction over 1": {When: kagewasm.When{IdleUpper: 1.5}},
	} {
		t.Run(why, func(t *testing.T) {
			if _, err := kagewasm.New(kagewasm.Options{Counter: wordCounter{}, Policy: p}); abi.CodeOf(err) != abi.CodeUsage {
				t.Errorf("%v", err)
			}
			live := newCompactor(t, kagewasm.Options{Live: func(abi.Session) kagewasm.Policy { return p }})
			if _, err := live.Compact(t.Context(), request(400, chat(2))); abi.CodeOf(err) != abi.CodeUsage {
				t.Errorf("%s, live: %v", why, err)
			}
		})
	}
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{When: kagewasm.When{ReserveTokens: 500}}})
	if _, err := c.Compact(t.Context(), request(400, chat(2))); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("a reserve larger than the window: %v", err)
	}
	for _, name := range kagewasm.Strategies() {
		if err := (kagewasm.Policy{Strategy: name}).Check(); err != nil {
			t.Errorf("K4: %v", err)
		}
	}
	for _, p := range kagewasm.Profiles() {
		if err := (kagewasm.Policy{When: kagewasm.When{Profile: p.Name}}).Check(); err != nil {
			t.Errorf("I3: %v", err)
		}
	}
}

// TestLivePolicy: a change takes effect at the next look, and each agent has
// its own.
func TestLivePolicy(t *testing.T) {
	features.Proves(t, "T11", "K5")
	upper := 0.85
	c := newCompactor(t, kagewasm.Options{Live: func(s abi.Session) kagewasm.Policy {
		if s.AgentPath == "main/careful" {
			return kagewasm.Policy{When: kagewasm.When{Upper: 0.2}}
		}
		return kagewasm.Policy{When: kagewasm.When{Upper: upper}}
	}})
	req := request(3000, chat(60))
	if r := compact(t, c, req).Report; r.Compacted || r.Upper != 0.85 {
		t.Fatalf("%s", r.Reason)
	}
	upper = 0.3
	if r := compact(t, c, req).Report; !r.Compacted || r.Upper != 0.3 {
		t.Errorf("a changed threshold is not looked at: %s", r.Reason)
	}
	upper = 0.9
	req.Session.AgentPath = "main/careful"
	if r := compact(t, c, req).Report; !r.Compacted || r.Upper != 0.2 {
		t.Errorf("the agent's own threshold is not looked at: %s", r.Reason)
	}
}

// TestOverrides are for one compaction, and change nothing for the next.
func TestOverrides(t *testing.T) {
	features.Proves(t, "K26")
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{When: kagewasm.When{MaxTokens: 100_000}}})
	req := request(3000, chat(60))
	req.Overrides = &kagewasm.Overrides{Upper: 0.3, Lower: 0.1}
	r := compact(t, c, req)
	if !r.Report.Compacted || r.Report.Upper != 0.3 || r.Report.Lower != 0.1 || r.Report.TokensAfter > 300 {
		t.Errorf("thresholds: %s", r.Report.Reason)
	}
	req.Overrides = nil
	if r := compact(t, c, req).Report; r.Compacted {
		t.Errorf("the next one: %s", r.Reason)
	}
	req.Overrides = &kagewasm.Overrides{Strategy: kagewasm.StrategyCheckpoint, Upper: 0.3}
	if r := compact(t, c, req); r.Pending == nil || r.Report.Compacted {
		t.Errorf("strategy: %s", r.Report.Reason)
	}
	req.Overrides = &kagewasm.Overrides{Lower: 1.5}
	if _, err := c.Compact(t.Context(), req); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("overrides that make no sense: %v", err)
	}
	manual := request(3000, chat(60))
	manual.Force = true
	if r := compact(t, c, manual); r.Record.Trigger != abi.TriggerManual {
		t.Errorf("the source is recorded as %s", r.Record.Trigger)
	}
}

// TestA3KeepLast: the last messages stay word for word, and everything older
// goes, though there was room for more; internal ones do not count.
func TestKeepLast(t *testing.T) {
	features.Proves(t, "A3", "A5", "A11")
	msgs := chat(60)
	msgs[len(msgs)-2].Kind = "" // a tool result
	msgs = append(msgs, abi.Message{ID: "mark", Role: abi.RoleUser, Kind: abi.KindBookmark, Content: abi.Text("here")})
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Keep: strategies.KeepConfig{Messages: 11}}})
	r := compact(t, c, request(1000, msgs))
	want := append([]string{"sys", "goal", r.Report.Inserted[0]}, strings.Fields(ids(msgs[len(msgs)-12:]))...)
	if got := ids(r.Messages); got != strings.Join(want, " ") {
		t.Errorf("system prompt, goal, summary and the last eleven, not counting the bookmark:\n got %s\nwant %s", got,
			strings.Join(want, " "))
	}
	// Where they do not fit fewer stay, down to none.
	small := compact(t, c, request(200, msgs))
	if small.Report.TokensAfter > small.Report.Target || !has(small.Messages, "goal") {
		t.Errorf("A11: %s", small.Report.Reason)
	}
}

// TestKeepRecentTokens: in the reserve's mode the last tokens stay.
func TestKeepRecentTokens(t *testing.T) {
	features.Proves(t, "T1")
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{When: kagewasm.When{ReserveTokens: 500},
		Keep: strategies.KeepConfig{Tokens: 100}}})
	r := compact(t, c, request(1300, chat(60)))
	recent := 0
	for _, m := range r.Messages[3:] {
		recent += wordCounter{}.Message(&m)
	}
	if !r.Report.Compacted || recent < 100 || recent > 140 {
		t.Errorf("%d recent tokens, 100 and the unit that crosses the line wanted: %s", recent, r.Report.Reason)
	}
}

// TestRecentRegion: whole exchanges stay, tool output in them is cut.
func TestRecentRegion(t *testing.T) {
	features.Proves(t, "I2")
	msgs := chat(30)
	for i := range 3 {
		at := 32 + 10*i
		msgs[at] = abi.Message{ID: fmt.Sprintf("person%d", i), Role: abi.RoleUser, Content: abi.Text("Now the next thing.")}
		msgs[at+1].ToolCallID = "" // its call is gone
	}
	big := abi.Message{ID: "big", Role: abi.RoleTool, ToolCallID: "cb",
		Content: abi.Text(strings.Repeat("line of output\n", 80))}
	msgs = append(msgs[:len(msgs)-1], abi.Message{ID: "call", Role: abi.RoleAssistant,
		ToolCalls: []abi.ToolCall{{ID: "cb", Name: "run", Arguments: "{}"}}}, big,
		abi.Message{ID: "after", Role: abi.RoleAssistant, Content: abi.Text("So.")})
	c := newCompactor(t, kagewasm.Options{
		Policy: kagewasm.Policy{Keep: strategies.KeepConfig{Exchanges: 2, ToolTokens: 30}}})
	r := compact(t, c, request(800, msgs))
	if !has(r.Messages, "person1") || has(r.Messages, "a14") || !has(r.Messages, "big") {
		t.Errorf("two exchanges stay: %s", ids(r.Messages))
	}
	for _, m := range r.Messages {
		if m.ID == "big" && (wordCounter{}.Message(&m) > 60 || !strings.Contains(m.Text(), "line of output")) {
			t.Errorf("tool output in the recent region has %d tokens", wordCounter{}.Message(&m))
		}
	}
	if len(r.Report.Edited) != 1 || r.Report.Edited[0] != "big" {
		t.Errorf("edited %v", r.Report.Edited)
	}
}

// TestGiants: a giant result at the end does not cost the session
// its other messages, nor the target; arguments count, and are cut too.
func TestGiants(t *testing.T) {
	features.Proves(t, "complaint 5")
	msgs := chat(20)
	msgs = append(msgs, abi.Message{ID: "call", Role: abi.RoleAssistant,
		ToolCalls: []abi.ToolCall{{ID: "cg", Name: "write",
			Arguments: `{"path":"a.txt","text":"` + strings.Repeat("word ", 2000) + `"}`}}},
		abi.Message{ID: "giant", Role: abi.RoleTool, ToolCallID: "cg", Content: abi.Text(strings.Repeat("out put\n", 2000))})
	r := compact(t, newCompactor(t, kagewasm.Options{}), request(3000, msgs))
	if r.Report.TokensAfter > 1800 || r.Report.Compacted || len(r.Report.Pruned.IDs) != 2 ||
		!has(r.Messages, "giant") || !has(r.Messages, "a19") {
		t.Fatalf("%s: %s", r.Report.Reason, ids(r.Messages))
	}
	for _, m := range r.Messages {
		if n := (wordCounter{}.Message(&m)); n > 3000/4 {
			t.Errorf("%s still has %d tokens", m.ID, n)
		}
	}
	off := compact(t, newCompactor(t, kagewasm.Options{
		Policy: kagewasm.Policy{Keep: strategies.KeepConfig{MessageTokens: -1}}}), request(10_000, msgs))
	for _, m := range off.Messages {
		if m.ID == "giant" && m.Text() != msgs[len(msgs)-1].Text() {
			t.Error("it was cut though that is switched off")
		}
	}
}

// TestBytes: the byte budget is met beside the tokens'.
func TestBytes(t *testing.T) {
	features.Proves(t, "complaint 6")
	r := compact(t, newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{When: kagewasm.When{MaxBytes: 5000},
		Note: strategies.NoteConfig{Tokens: -1}}}), request(1_000_000, chat(60)))
	n := 0
	for i := range r.Messages {
		n += strategies.Bytes(&r.Messages[i])
	}
	if !r.Report.Compacted || n > 5000*6/8 {
		t.Errorf("%d bytes: %s", n, r.Report.Reason)
	}
}

// TestMediaByReference: of images that a byte budget takes away the note says what they
// were, how large, and in which message, and says it still after the next compaction.
func TestMediaByReference(t *testing.T) {
	features.Proves(t, "complaint 6")
	image := abi.RawPart("image", []byte(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"`+
		strings.Repeat("QUJD", 1000)+`"}}`))
	msgs := chat(20)
	for i := range msgs {
		if msgs[i].ID == "t4" {
			msgs[i].Content = abi.Parts(abi.TextPart("a screenshot"), image)
		}
	}
	msgs = append(msgs, abi.Message{ID: "shown", Role: abi.RoleUser, Content: abi.Parts(abi.TextPart("look"), image)})
	msgs = append(msgs, renamed(chat(40), "then")...)
	c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{When: kagewasm.When{MaxBytes: 9000}}})
	r := compact(t, c, request(1_000_000, msgs))
	for i := range 2 {
		note := r.Report.Summary
		for _, id := range []string{"t4", "shown"} {
			if want := "image image/png, 3 KB in message " + id; !r.Report.Compacted || !strings.Contains(note, want) {
				t.Fatalf("no %q in\n%s", want, note)
			}
		}
		r = compact(t, c, request(1_000_000, append(slices.Clone(r.Messages), renamed(chat(50), fmt.Sprint("next", i))...)))
	}
}

// TestTrim: duplicate synthetic messages go early, and that is no compaction.
func TestTrim(t *testing.T) {
	features.Proves(t, "A1")
	var msgs []abi.Message
	for i := range 10 {
		msgs = append(msgs, renamed(chat(2), fmt.Sprint("k", i))...)
		msgs = append(msgs, abi.Message{ID: fmt.Sprint("remind", i), Role: abi.RoleUser, Kind: abi.KindSynthetic,
			Content: abi.Text("Remember to keep the list of tasks up to date.")})
	}
	total := compact(t, newCompactor(t, kagewasm.Options{
		Policy: kagewasm.Policy{Prune: strategies.PruneConfig{Trim: strategies.TrimConfig{Off: true}}}}),
		request(1_000_000, msgs)).Report.TokensBefore
	for _, tc := range []struct {
		why    string
		trim   strategies.TrimConfig
		window int
		trims  bool
	}{
		{"over half of the window", strategies.TrimConfig{}, total*2 - 2, true},
		{"at half of it", strategies.TrimConfig{}, total * 2, false},
		{"over another share", strategies.TrimConfig{Threshold: 0.25}, total*4 - 4, true},
		{"over a number of tokens (A2)", strategies.TrimConfig{MaxTokens: total - 1}, 1_000_000, true},
		{"which wins over the share", strategies.TrimConfig{MaxTokens: total}, total * 3 / 2, false},
		{"switched off", strategies.TrimConfig{Off: true}, total * 3 / 2, false},
	} {
		t.Run(tc.why, func(t *testing.T) {
			r := compact(t, newCompactor(t,
				kagewasm.Options{Policy: kagewasm.Policy{Prune: strategies.PruneConfig{Trim: tc.trim}}}), request(tc.window, msgs))
			p := r.Report.Pruned
			if n := len(p.Removed); (n > 0) != tc.trims || r.Report.Compacted || r.Record != nil || len(p.Calls) > 0 ||
				p.Count != n {
				t.Errorf("%d removed, compacted %v, pruned %+v", n, r.Report.Compacted, p)
			}
			if tc.trims && (!has(r.Messages, "remind9") || has(r.Messages, "remind3")) {
				t.Errorf("left %s", ids(r.Messages))
			}
		})
	}
}

// TestArgumentsInThePipeline: before every call, or only when a compaction
// is due, which it may make needless.
func TestArgumentsInThePipeline(t *testing.T) {
	features.Proves(t, "A13")
	msgs := chat(10)
	for i := range msgs {
		for k := range msgs[i].ToolCalls {
			msgs[i].ToolCalls[k].Arguments = `{"path":"a.go","text":"` + strings.Repeat("word ", 300) + `"}`
		}
	}
	total := compact(t, newCompactor(t, kagewasm.Options{}), request(1_000_000, msgs)).Report.TokensBefore
	for _, tc := range []struct {
		mode   strategies.ArgumentMode
		window int
		prunes bool
	}{
		{strategies.ArgumentsOff, total * 3 / 2, false},
		{strategies.ArgumentsIteration, total * 3 / 2, true},
		{strategies.ArgumentsCompaction, total * 3 / 2, false},
		{strategies.ArgumentsCompaction, total * 11 / 10, true},
	} {
		t.Run(fmt.Sprintf("arguments %q in a window of %d", tc.mode, tc.window), func(t *testing.T) {
			c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{Prune: strategies.PruneConfig{Arguments: tc.mode}}})
			r := compact(t, c, request(tc.window, msgs)).Report
			if (r.Pruned.Count > 0) != tc.prunes || r.Compacted || len(r.Pruned.Calls) != r.Pruned.Count {
				t.Errorf("%q, %d tokens in %d: %d pruned, %s", tc.mode, total, tc.window, r.Pruned.Count, r.Reason)
			}
		})
	}
}

// TestReceiptAndGate: what it costs, what it saves, and a compaction that
// would not earn that back is refused, unless it has to be.
func TestReceiptAndGate(t *testing.T) {
	features.Proves(t, "N10")
	r := compact(t, newCompactor(t, kagewasm.Options{}), request(400, chat(60))).Report
	got := r.Receipt
	if got == nil || got.Unit != abi.UnitInputTokens || got.FreedTokens != r.TokensBefore-r.TokensAfter {
		t.Fatalf("receipt %+v", got)
	}
	head := 0
	for _, m := range chat(60)[:2] {
		head += wordCounter{}.Message(&m)
	}
	if r.Metrics.Cache.PrefixTokens != head || got.LostPrefixTokens == nil ||
		*got.LostPrefixTokens != r.TokensBefore-head {
		t.Errorf("prefix %d of %d, receipt %+v", r.Metrics.Cache.PrefixTokens, head, got)
	}
	once := float64(r.TokensAfter-head) * 1.15
	if saved := float64(got.FreedTokens) * 0.1; math.Abs(got.Cost-once) > 0.001 ||
		math.Abs(got.SavedPerCall-saved) > 0.001 || got.PaybackCalls < int(once/saved) ||
		got.PaybackCalls > int(once/saved)+1 {
		t.Errorf("receipt %+v, cost %v", got, once)
	}
	gate := func(calls int, force bool, window int) *kagewasm.Result {
		req := request(window, chat(60))
		req.Force = force
		return compact(t, newCompactor(t, kagewasm.Options{
			Policy: kagewasm.Policy{When: kagewasm.When{PaybackCalls: calls, Upper: 0.8, Lower: 0.79}}}), req)
	}
	total := r.TokensBefore
	if r := gate(3, false, total*10/9); r.Report.ReasonCode != abi.ReasonNotWorthIt || r.Report.Compacted ||
		r.Report.Receipt == nil {
		t.Errorf("it would take long, and ran: %s", r.Report.Reason)
	}
	if r := gate(10_000, false, total*10/9); !r.Report.Compacted {
		t.Errorf("soon enough, and refused: %s", r.Report.Reason)
	}
	if r := gate(3, true, total*10/9); !r.Report.Compacted {
		t.Errorf("asked for, and refused: %s", r.Report.Reason)
	}
	if r := gate(3, false, total*9/10); !r.Report.Compacted {
		t.Errorf("over the window, and refused: %s", r.Report.Reason)
	}
}

// TestStablePrefix: from call to call everything before the summary is the
// same to the byte, and the report says how much of the request before stands.
func TestStablePrefix(t *testing.T) {
	features.Proves(t, "I1")
	c := newCompactor(t, kagewasm.Options{})
	list := chat(5)
	for k := range 30 {
		r := compact(t, c, request(500, list))
		if ids(r.Messages[:2]) != "sys goal" || r.Messages[0].Text() != list[0].Text() ||
			r.Messages[1].Text() != list[1].Text() {
			t.Fatalf("call %d begins %s", k, ids(r.Messages[:2]))
		}
		cache := r.Report.Metrics.Cache
		switch {
		case k == 0:
		case r.Report.Compacted && cache.HitRate > 0.5, !r.Report.Compacted && cache.PrefixTokens != cache.PreviousTokens:
			t.Errorf("call %d: compacted %v, cache %+v", k, r.Report.Compacted, cache)
		}
		list = append(r.Messages[:len(r.Messages):len(r.Messages)], renamed(chat(1)[2:], fmt.Sprint("n", k))...)
	}
}

// TestK7K22Audit: one event says that it was triggered, one how it ended, with
// the whole chain; a look that did nothing is no event, a no-op is one.
func TestAudit(t *testing.T) {
	features.Proves(t, "K7", "K15", "K22")
	var events []kagewasm.Event
	c := newCompactor(t, kagewasm.Options{Audit: func(e kagewasm.Event) { events = append(events, e) },
		Plugins: plugins(compactor(fails(abi.CodeTrap)))})
	compact(t, c, request(100_000, chat(60)))
	if len(events) > 0 {
		t.Fatalf("below the threshold: %v", events)
	}
	compact(t, c, request(400, chat(60)))
	if len(events) != 2 || events[0].Type != kagewasm.EventTriggered || events[1].Type != kagewasm.EventCompleted {
		t.Fatalf("%v", events)
	}
	if r := events[1].Report; len(r.Failures) != 1 || r.Failures[0].Code != abi.CodeTrap || !r.Fallback ||
		r.Strategy != "drop" {
		t.Errorf("the chain: %+v", r)
	}
	events = nil
	_, _ = c.Compact(t.Context(), request(10, chat(0)))
	if len(events) != 2 || events[1].Type != kagewasm.EventNoop ||
		events[1].Report.ReasonCode != abi.ReasonNothingToSupersede {
		t.Errorf("nothing could go: %v", events)
	}
}

// TestMaxTokensOfAnUnknownWindow: a number of tokens is absolute where nothing says how
// large the window is: the 128,000 that stand for it do not make it less.
func TestMaxTokensOfAnUnknownWindow(t *testing.T) {
	features.Proves(t, "A2", "K21")
	msgs := chat(8000)
	req := kagewasm.Request{Session: abi.Session{ID: "s"}, Messages: msgs}
	for name, tc := range map[string]struct {
		most   int
		starts bool
	}{"below it": {200_000, false}, "over it": {150_000, true}} {
		t.Run(name, func(t *testing.T) {
			c := newCompactor(t, kagewasm.Options{Policy: kagewasm.Policy{When: kagewasm.When{MaxTokens: tc.most}}})
			r := compact(t, c, req).Report
			if r.TokensBefore < 150_000 || r.TokensBefore > 200_000 {
				t.Fatalf("a session of %d tokens", r.TokensBefore)
			}
			if r.Compacted != tc.starts || r.Warning != "" || r.ContextWindow != nil {
				t.Errorf("%d tokens: %s (%s)", r.TokensBefore, r.Reason, r.Warning)
			}
			if want := int(float64(tc.most) * 0.6 / 0.85); r.Target != want {
				t.Errorf("target %d, want %d", r.Target, want)
			}
		})
	}
}

// TestDecidingAgainIsLight: of a session of two million tokens to which one message came, a
// decision allocates less than 64 KiB in the mean: lists grow in leaps.
func TestDecidingAgainIsLight(t *testing.T) {
	const looks, limit = 64, 64 << 10
	c := newCompactor(t, kagewasm.Options{Counter: sessiongen.Counter{}})
	window := 10_000_000
	req := kagewasm.Request{Session: abi.Session{ID: "s", ContextWindow: &window}, Messages: sessiongen.Long(5_000, 235)}
	decide := func() {
		r := compact(t, c, req)
		if r.Report.ReasonCode != abi.ReasonBelowThreshold || len(r.Report.Kept) != len(req.Messages) {
			t.Fatalf("%s, %d of %d kept", r.Report.Reason, len(r.Report.Kept), len(req.Messages))
		}
		req.Messages = append(r.Messages, abi.Message{ID: fmt.Sprintf("n%d", len(r.Messages)),
			Role: abi.RoleUser, Content: abi.Text("go on")})
	}
	decide()
	req.Messages = slices.Grow(req.Messages, looks)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range looks {
		decide()
	}
	runtime.ReadMemStats(&after)
	if n := (after.TotalAlloc - before.TotalAlloc) / looks; n > limit {
		t.Errorf("%d bytes, %d allowed", n, limit)
	}
}
