package main

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/modeltest"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/strategies/note"
	"github.com/kagewasm/kagewasm/tokens"
	"github.com/kagewasm/kagewasm/transcript"
)

// typed runs a command with the bytes on its standard input, on a state of its own.
func typed(t *testing.T, input []byte, args ...string) (code int, stdout []byte, stderr string) {
	t.Helper()
	var out, said bytes.Buffer
	code = doMain(context.Background(), args, env{
		stdin: bytes.NewReader(input), stdout: &out, stderr: &said, stateHome: filepath.Join(t.TempDir(), "state"),
	})
	return code, out.Bytes(), said.String()
}

// replayed is what replay says of the project's own session.
func replayed(t *testing.T, flags ...string) (r ui.Replay, printed []byte) {
	t.Helper()
	path := filepath.Join(shared.Root(t), "testdata", "demo.jsonl")
	args := append([]string{"replay", path, "--no-config", "--json", "--model", "claude-sonnet-4-5"}, flags...)
	code, out, stderr := typed(t, nil, args...)
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r, out
}

// TestReplaySideBySide: a recorded session goes through two strategies, a plugin and two thresholds. Each row has
// tokens, cost, cached share, compactions and what was kept, and the same comes out again.
func TestReplaySideBySide(t *testing.T) {
	features.Proves(t, "N3")
	plugin := filepath.Join(t.TempDir(), "observer.wasm")
	if err := os.WriteFile(plugin, misbehaving()["observer"], 0o600); err != nil {
		t.Fatal(err)
	}
	ways := []string{"none", "drop", "checkpoint", "drop,plugin=" + plugin, "drop,upper=0.6,lower=0.3",
		"drop,upper=0.95,lower=0.8"}
	flags := []string{"--window", "32000"}
	for _, w := range ways[1:] {
		flags = append(flags, "--with", w)
	}
	r, printed := replayed(t, flags...)
	if len(r.Sessions) != 1 || len(r.Ways) != len(ways) || len(r.Sessions[0].Ways) != len(ways) {
		t.Fatalf("%d sessions, %d ways: %s", len(r.Sessions), len(r.Ways), printed)
	}
	rows := r.Sessions[0].Ways
	none := &rows[0]
	for i := range rows {
		row := &rows[i]
		if row.Way != ways[i] || row.Calls != 60 || row.Window != 32_000 || row.Cost.Unknown || row.Cost.Primary <= 0 ||
			row.CachedTokens <= 0 || len(row.Points) != row.Compactions || row.Unsent != 0 {
			t.Errorf("%+v", row)
		}
		if sum := r.Ways[i]; sum.InputTokens != row.InputTokens || sum.Cost != row.Cost || sum.Way != row.Way {
			t.Errorf("the sum of one session is another one: %+v", sum)
		}
		if i > 0 && (row.Compactions == 0 || row.InputTokens >= none.InputTokens || row.LargestRequest > row.Window ||
			row.CachedShare >= none.CachedShare || row.WordsKept <= 0 || row.Continuation.Compactions == 0) {
			t.Errorf("%+v\nbeside none: %+v", row, none)
		}
	}
	if none.Compactions != 0 || none.OverWindow == 0 || none.Prunings != 0 {
		t.Errorf("nothing compacts: %+v", none)
	}
	if drop, approved := rows[1], rows[2]; approved.InputTokens != drop.InputTokens {
		t.Errorf("a checkpoint that is approved is what drop does: %d and %d", drop.InputTokens, approved.InputTokens)
	}
	if rows[3].InputTokens == rows[1].InputTokens {
		t.Error("what the plugin injects costs nothing")
	}
	if low, high := rows[4], rows[5]; low.LargestRequest >= high.LargestRequest {
		t.Errorf("the lower threshold has requests of %d tokens, the higher one of %d", low.LargestRequest,
			high.LargestRequest)
	}
	if _, again := replayed(t, flags...); !bytes.Equal(printed, again) {
		t.Error("the same replay says something else")
	}
}

// TestReplayWindow: a window that nobody knows is said to be assumed, and is null beside the one that was used. Sums
// are of no window.
func TestReplayWindow(t *testing.T) {
	features.Proves(t, "K21", "N3")
	path := filepath.Join(shared.Root(t), "testdata", "demo.jsonl")
	for _, tc := range []struct {
		flags       []string
		json, words string
	}{
		{nil, `"window":128000,"context_window":null`, "window 128,000 (assumed: the model's is not known)"},
		{[]string{"--window", "128000"}, `"window":128000,"context_window":128000`, "window 128,000\n"},
		{[]string{"--model", "claude-sonnet-4-5"}, `"window":200000,"context_window":200000`, "window 200,000\n"},
	} {
		args := append([]string{"replay", path, "--no-config"}, tc.flags...)
		code, words, stderr := typed(t, nil, args...)
		if code != 0 || !strings.Contains(string(words), tc.words) {
			t.Errorf("%q: exit code %d: %s%s", args, code, stderr, words)
		}
		var doc bytes.Buffer
		code, printed, stderr := typed(t, nil, append(args, "--json")...)
		if err := json.Compact(&doc, printed); code != 0 || err != nil || !strings.Contains(doc.String(), tc.json) {
			t.Errorf("%q: exit code %d, %v: %s%.600s", args, code, err, stderr, &doc)
		}
		sums := doc.String()[strings.LastIndex(doc.String(), `"ways":`):]
		if strings.Contains(sums, `"window":`) || strings.Contains(sums, "context_window") {
			t.Errorf("sums have a window: %.300s", sums)
		}
	}
}

// TestReplayIsWhatCompactDoes: at the points where a way compacts, compact does the same to the same messages.
func TestReplayIsWhatCompactDoes(t *testing.T) {
	features.Proves(t, "N3")
	data := read(t, filepath.Join(shared.Root(t), "testdata", "demo.jsonl"))
	lines := bytes.SplitAfter(data, []byte("\n"))
	head, messages := lines[0], lines[1:] // the definitions of tools come first
	for _, flags := range [][]string{nil, {"--upper", "0.6", "--lower", "0.3"}} {
		way := "drop"
		if flags != nil {
			way = "drop,upper=0.6,lower=0.3"
		}
		r, _ := replayed(t, "--window", "32000", "--with", way)
		points := r.Sessions[0].Ways[1].Points
		if len(points) < 2 {
			t.Fatalf("%s: %+v", way, points)
		}
		now, arrived, compared := slices.Clone(head), 0, 0
		for _, p := range points {
			if bytes.Contains(now, []byte("[Pruned ")) {
				break // a replay has what was cut from a message, as a store has it; a file has not
			}
			compared++
			now = append(now, bytes.Join(messages[arrived:p.Arrived], nil)...)
			arrived = p.Arrived
			path := filepath.Join(t.TempDir(), "report.json")
			code, out, stderr := typed(t, now, append([]string{"compact", "-", "--no-config", "--no-record", "--window",
				"32000", "--model", "claude-sonnet-4-5", "--report", path}, flags...)...)
			var report kagewasm.Report
			if err := json.Unmarshal(read(t, path), &report); code != 0 || err != nil {
				t.Fatalf("exit code %d, %v: %s", code, err, stderr)
			}
			if !report.Compacted || report.TokensBefore != p.TokensBefore || report.TokensAfter != p.TokensAfter {
				t.Errorf("%s: the replay had %+v, compact %d to %d tokens", way, p, report.TokensBefore,
					report.TokensAfter)
			}
			now = out
		}
		if compared < 2 {
			t.Errorf("%s: %d points were compared", way, compared)
		}
	}
}

// TestReplayCountsByHand: three calls, each sent all that stands before it. What was sent before is read from the
// cache, the rest is written to it, and the prices are those of the configuration.
func TestReplayCountsByHand(t *testing.T) {
	features.Proves(t, "N3")
	dir := t.TempDir()
	session, yaml := filepath.Join(dir, "session.jsonl"), filepath.Join(dir, "kagewasm.yaml")
	messages := []string{
		`{"role":"system","content":"You are careful."}`,
		`{"role":"user","content":"Make the tests of parcel pass."}`,
		`{"role":"assistant","tool_calls":[{"id":"c","name":"run","arguments":"{\"command\":\"go test ./...\"}"}]}`,
		`{"role":"tool","tool_call_id":"c","content":"FAIL: want 3 parcels, got 2"}`,
		`{"role":"assistant","content":"One parcel is lost."}`,
		`{"role":"user","content":"Find it."}`,
		`{"role":"assistant","content":"It was counted before it was stored."}`,
	}
	for path, text := range map[string]string{
		session: strings.Join(messages, "\n") + "\n",
		yaml: "models: {m: {provider: openai, model: house-1, base_url: 'http://127.0.0.1:1/v1', prices: {input: 2, " +
			"output: 10, cache_read: 1, cache_write: 3}}}\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	counter, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var n [7]int // tokens of each message
	read, err := transcript.Read("session", []byte(strings.Join(messages, "\n")), transcript.Neutral)
	if err != nil {
		t.Fatal(err)
	}
	for i := range read.Messages {
		n[i] = counter.Message(&read.Messages[i])
	}
	code, out, stderr := typed(t, nil, "replay", session, "--config", yaml, "--model", "m", "--overhead", "100",
		"--with", "drop", "--json")
	var r ui.Replay
	if err := json.Unmarshal(out, &r); code != 0 || err != nil {
		t.Fatalf("exit code %d, %v: %s", code, err, stderr)
	}
	first := 100 + n[0] + n[1]
	second := first + n[2] + n[3]
	third := second + n[4] + n[5]
	cost := float64(third*3+(first+second)*1+(n[2]+n[4]+n[6])*10) / 1e6 // all of the last request was written once
	for _, w := range r.Sessions[0].Ways {
		if w.Calls != 3 || w.InputTokens != first+second+third || w.CachedTokens != first+second ||
			w.LargestRequest != third || w.OutputTokens != n[2]+n[4]+n[6] || math.Abs(w.Cost.Primary-cost) > 1e-12 {
			t.Errorf("%s: %+v\nwant %d, %d and %d tokens, and $%v", w.Way, w.Stats, first, second, third, cost)
		}
	}
}

// TestReplayWithAModel: summarize asks the model of the configuration, and its price is in the sum; drop asks none.
func TestReplayWithAModel(t *testing.T) {
	features.Proves(t, "N3")
	summary := note.Outlines()[0].Render(func(s note.Section) string { return "The " + s.Title + " is clear." })
	server := modeltest.New(t, modeltest.Answer{Text: summary, Input: 4000, Output: 300})
	dir := t.TempDir()
	session, yaml := filepath.Join(dir, "session.jsonl"), filepath.Join(dir, "kagewasm.yaml")
	for path, text := range map[string]string{
		session: longSession(160),
		yaml: "models: {m: {provider: anthropic, model: claude-haiku-4-5, base_url: '" + server.URL(modeltest.Anthropic) +
			"', prices: {input: 1, output: 5}}}\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	line := []string{"replay", session, "--config", yaml, "--window", "8000", "--json"}
	if code, _, stderr := typed(t, nil, line...); code != 0 || len(server.Requests()) != 0 {
		t.Fatalf("by itself it asked a model %d times: exit code %d, %s", len(server.Requests()), code, stderr)
	}
	code, out, stderr := typed(t, nil, append(line, "--with", "drop", "--with", "summarize")...)
	var r ui.Replay
	if err := json.Unmarshal(out, &r); code != 0 || err != nil {
		t.Fatalf("exit code %d, %v: %s", code, err, stderr)
	}
	drop, summarized := r.Ways[1], r.Ways[2]
	asked := float64(len(server.Requests()))
	if drop.Cost.Compactor != 0 || asked == 0 || summarized.Strategies[kagewasm.StrategySummarize] == 0 ||
		math.Abs(summarized.Cost.Compactor-asked*0.0055) > 1e-9 {
		t.Errorf("%v requests, drop %+v\nsummarize %+v", asked, drop.Stats, summarized.Stats)
	}
}

// TestReplayShows: a table for people has a row for each way, sums where there are several sessions, and says
// which figures cannot be had.
func TestReplayShows(t *testing.T) {
	features.Proves(t, "N3")
	path := filepath.Join(shared.Root(t), "testdata", "demo.jsonl")
	code, out, stderr := typed(t, nil, "replay", path, path, "--no-config", "--window", "32000")
	for _, says := range []string{"247 messages, 60 calls", "window 32,000", "2 sessions", "\n  prune ", "\n  drop ",
		"note none: 33 of 60 calls had more tokens than the window", "note none: 66 of 120 calls", "goes on"} {
		if !strings.Contains(string(out), says) {
			t.Errorf("exit code %d, %s: it does not say %q:\n%s", code, stderr, says, out)
		}
	}
}

// TestReplayComparesNothing: where no call reaches the threshold the command says so, and which window shows a
// difference.
func TestReplayComparesNothing(t *testing.T) {
	features.Proves(t, "N3")
	path := filepath.Join(shared.Root(t), "testdata", "demo.jsonl")
	const said = "note nothing is compared: no call reached the 108,800 tokens at which a compaction starts. " +
		"--window 29000, "
	_, out, stderr := typed(t, nil, "replay", path, "--no-config")
	if !strings.Contains(string(out), said) {
		t.Errorf("%s: it does not say %q:\n%s", stderr, said, out)
	}
	for window, compared := range map[string]bool{"128000": false, "29000": true} {
		r, _ := replayed(t, path, "--no-config", "--window", window)
		if got := r.Sessions[0]; got.Compared != compared || got.Ways[0].StartsAt == 0 {
			t.Errorf("window %s: %+v", window, got)
		}
	}
	_, out, _ = typed(t, nil, "replay", path, "--no-config", "--window", "29000")
	if strings.Contains(string(out), "nothing is compared") {
		t.Errorf("%s", out)
	}
	_, out, _ = typed(t, nil, "replay", path, "--no-config", "--window", "29000", "--with", "none")
	if !strings.Contains(string(out), "nothing is compared: no way compacted or shortened anything") {
		t.Errorf("%s", out)
	}
}

// TestReplayRefuses: what makes no sense is said before anything is replayed, with what would.
func TestReplayRefuses(t *testing.T) {
	features.Proves(t, "N3")
	dir := t.TempDir()
	session, empty := filepath.Join(dir, "session.jsonl"), filepath.Join(dir, "empty.jsonl")
	for path, text := range map[string]string{
		session: longSession(3), empty: `{"role":"user","content":"Hello."}` + "\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		args []string
		says string
	}{
		{nil, "name a session file"},
		{[]string{session, "--with", "dropp"}, `no way "dropp": did you mean drop?`},
		{[]string{session, "--with", "drop,uper=0.7"}, `no key "uper": did you mean upper?`},
		{[]string{session, "--with", "drop,colour=red"}, "use strategy, plugin, knob"},
		{[]string{session, "--with", "drop,upper=2"}, "a fraction of the window"},
		{[]string{session, "--with", "drop,window=wide"}, "context window in tokens"},
		{[]string{session, "--with", "drop,lower="}, "lower= has no value"},
		{[]string{session, "--with", "drop,prune"}, "write KEY=VALUE behind the name"},
		{[]string{session, "--with", "drop,compaction.keep.roles=a,b"}, "a value with a comma cannot stand here"},
		{[]string{session, "--with", "none,upper=0.5"}, "none compacts nothing"},
		{[]string{session, "--with", "none,plugin=x.wasm"}, "none compacts nothing"},
		{[]string{session, "--with", "upper=0.5,strategy=none"}, "none compacts nothing"},
		{[]string{session, "--with", "prune,strategy=drop"}, "a way has one name"},
		{[]string{session, "--overhead", "-5"}, "--overhead -5: it cannot be negative"},
		{[]string{session, "--with", "drop,compaction.prune.offf=true"}, `did you mean "compaction.prune.off"?`},
		{[]string{session, "--with", "drop,upper=0.3,lower=0.5"}, "less than upper_threshold"},
		{[]string{session, "--with", "drop", "--with", "drop"}, "given twice"},
		{[]string{session, "--with", "summarize"}, "no model is configured"},
		{[]string{session, "--with", "delegate"}, "add plugin=X.wasm"},
		{[]string{session, "--with", "drop,plugin=none.wasm"}, "none.wasm: no such file"},
		{[]string{session, "--knob", "x=1"}, "no plugin is loaded"},
		{[]string{session, "--window", "-5"}, "context window in tokens"},
		{[]string{session, filepath.Join(dir, "gone.jsonl")}, "gone.jsonl: no such file"},
		{[]string{empty}, "no call to be replayed"},
	} {
		code, out, stderr := typed(t, nil, append([]string{"replay", "--no-config"}, tc.args...)...)
		if code != ui.ExitUsage || len(out) > 0 || !strings.Contains(stderr, tc.says) ||
			strings.Contains(stderr, "--note-tokens") {
			t.Errorf("%v: exit code %d, %q\nwant it to say %q", tc.args, code, stderr, tc.says)
		}
	}
}

// TestReplayIsInterrupted: who gives up is told so, and sees no half of a table.
func TestReplayIsInterrupted(t *testing.T) {
	features.Proves(t, "N3")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, said bytes.Buffer
	code := doMain(ctx, []string{"replay", filepath.Join(shared.Root(t), "testdata", "demo.jsonl"), "--no-config"}, env{
		stdin: strings.NewReader(""), stdout: &out, stderr: &said, stateHome: t.TempDir(),
	})
	if code != ui.ExitFailure || out.Len() > 0 || !strings.Contains(said.String(), "interrupted") ||
		strings.Contains(said.String(), "written") {
		t.Errorf("exit code %d, %q, %q", code, out.String(), said.String())
	}
}

// TestReplayFindsFaultsFirst: what is wrong with a file or a way costs no replay, and no model is asked.
func TestReplayFindsFaultsFirst(t *testing.T) {
	features.Proves(t, "N3")
	server := modeltest.New(t, modeltest.Answer{Text: "A summary.", Input: 4000, Output: 300})
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for path, text := range map[string]string{
		at("session.jsonl"): longSession(160),
		at("empty.jsonl"):   `{"role":"user","content":"Hello."}` + "\n",
		at("observer.wasm"): string(misbehaving()["observer"]),
		at("kagewasm.yaml"): "models: {m: {provider: anthropic, model: claude-haiku-4-5, base_url: '" +
			server.URL(modeltest.Anthropic) + "'}}\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		args []string
		says string
	}{
		{[]string{at("gone.jsonl")}, "gone.jsonl: no such file"},
		{[]string{at("empty.jsonl")}, "no call to be replayed"},
		{[]string{"--with", "drop,plugin=no.wasm"}, "--with drop,plugin=no.wasm: no.wasm: load: no.wasm: no such file"},
		{[]string{"--with", "drop,knob=colour=red,plugin=" + at("observer.wasm")}, "colour"},
	} {
		code, out, stderr := typed(t, nil, append([]string{"replay", at("session.jsonl"), "--config", at("kagewasm.yaml"),
			"--window", "8000", "--with", "summarize"}, tc.args...)...)
		if n := len(server.Requests()); code != ui.ExitUsage || len(out) > 0 || n > 0 || !strings.Contains(stderr, tc.says) {
			t.Errorf("%v: exit code %d after %d requests, %q\nwant it to say %q", tc.args, code, n, stderr, tc.says)
		}
	}
}

// TestReplayShowsItsWindow: where nobody knows the window it is the one that compactions go by, for all ways.
func TestReplayShowsItsWindow(t *testing.T) {
	features.Proves(t, "N3")
	r, printed := replayed(t, "--model", "house-1", "--set", "compaction.max_tokens=300000")
	for _, w := range r.Sessions[0].Ways {
		if w.Window != 300_000 {
			t.Errorf("%s: window %d", w.Way, w.Window)
		}
	}
	if bytes.Contains(printed, []byte("summary_completeness")) {
		t.Error("it says how complete summaries are, and has not looked")
	}
}

// TestReplayIsAsDocumented: the table of docs/replay.md is what the command prints. Its row with a plugin has to be
// built first, and is left out.
func TestReplayIsAsDocumented(t *testing.T) {
	features.Proves(t, "N3")
	fields := func(text string) (rows []string) {
		for line := range strings.Lines(text) {
			row := strings.Join(strings.Fields(line), " ")
			if _, at, ok := strings.Cut(row, "demo.jsonl 247"); ok {
				row = "247" + at
			}
			rows = append(rows, row)
		}
		return rows
	}
	documented := fields(string(read(t, filepath.Join(shared.Root(t), "docs", "replay.md"))))
	code, out, stderr := typed(t, nil, "replay", filepath.Join(shared.Root(t), "testdata", "demo.jsonl"), "--no-config",
		"--window", "32000", "--model", "claude-sonnet-4-5", "--with", "prune", "--with", "drop", "--with",
		"drop,upper=0.6,lower=0.3")
	rows := fields(string(out))
	if code != 0 || len(rows) != 9 {
		t.Fatalf("exit code %d, %s\n%s", code, stderr, out)
	}
	for _, row := range rows {
		if !slices.Contains(documented, row) {
			t.Errorf("docs/replay.md does not have %q", row)
		}
	}
}
