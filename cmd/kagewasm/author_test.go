package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/modeltest"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
)

// author is somebody who writes a plugin: the commands run in one folder, with
// one state.
type author struct {
	t   *testing.T
	dir string
}

func newAuthor(t *testing.T) author { return author{t, t.TempDir()} }

func (a author) file(name, text string) string {
	a.t.Helper()
	path := filepath.Join(a.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		a.t.Fatal(err)
	}
	return path
}

func (a author) run(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = doMain(a.t.Context(), args, env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs,
		stateHome: filepath.Join(a.dir, "state")})
	return code, out.String(), errs.String()
}

const asks = `{"name":"asks","version":"1","abi":1,"description":"Asks others.","hooks":["pre_compact"],"secrets":["key"],
	"capabilities":{"http":{"reason":"to ask a server","hosts":["api.example.com"]},"model":{"reason":"to ask a model"}}}`

// TestRecordReplay: a plugin that asks a server is run, verified and measured
// with the server gone, with neither grants nor secrets; the answer is the same.
func TestRecordReplay(t *testing.T) {
	features.Proves(t, "N6")
	a := newAuthor(t)
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("X-Key"))
		fmt.Fprintf(w, "you said %s", r.Header.Get("X-Key"))
	}))
	defer server.Close()
	request := `{"url":"` + server.URL + `/q","headers":{"X-Key":"{{secret:key}}"}}`
	module := a.file("asks.wasm", string(wasmtest.WithManifest(wasmtest.HostCall("pre_compact", "http", request), asks)))
	calls := filepath.Join(a.dir, "calls.jsonl")
	t.Setenv("KAGEWASM_TEST_SECRET", "hunter2-correct-horse")

	code, live, stderr := a.run("run", module, "pre_compact", "--grant", "http="+server.URL, "--secret",
		"key=KAGEWASM_TEST_SECRET", "--record", calls)
	if code != 0 || len(got) != 1 || got[0] != "hunter2-correct-horse" ||
		!strings.Contains(live, "you said [secret key]") || !strings.Contains(stderr, "calls recorded in "+calls+": 1") {
		t.Fatalf("exit code %d, %v, %s\n%s", code, got, live, stderr)
	}
	recorded, err := os.ReadFile(calls)
	if err != nil || strings.Contains(string(recorded), "hunter2") ||
		!strings.Contains(string(recorded), `"X-Key":"{{secret:key}}"`) {
		t.Fatalf("%v\n%s", err, recorded)
	}
	if info, err := os.Stat(calls); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: what plugins ask holds sessions", info.Mode(), err)
	}
	measured := filepath.Join(a.dir, "measured.jsonl")
	if code, _, stderr = a.run("bench", module, "-n", "2", "--session", a.file("s.jsonl", longSession(3)), "--grant",
		"http="+server.URL, "--secret", "key=KAGEWASM_TEST_SECRET", "--record", measured); code != 0 ||
		!strings.Contains(stderr, measured+": 1") {
		t.Errorf("bench: exit code %d\n%s", code, stderr) // the answers are equal: one is enough
	}
	server.Close()

	code, again, stderr := a.run("run", module, "pre_compact", "--replay", calls)
	if code != 0 || again != live {
		t.Errorf("exit code %d, replayed %s, live %s\n%s", code, again, live, stderr)
	}
	if code, _, stderr = a.run("run", module, "pre_compact", "--replay", calls, "--deny", "http"); code != 0 ||
		!strings.Contains(stderr, "--grant http=api.example.com") {
		t.Errorf("denied: exit code %d\n%s", code, stderr)
	}
	if code, out, stderr := a.run("verify", module, "--replay", calls, "--rule", "deterministic"); code != 0 ||
		!strings.Contains(out, "ok      recorded calls") || strings.Contains(out, "not granted: http") {
		t.Errorf("verify: exit code %d\n%s%s", code, out, stderr)
	}
	if code, out, stderr := a.run("bench", module, "-n", "2", "--replay", calls); code != 0 ||
		!strings.Contains(out, "http × 1") {
		t.Errorf("bench: exit code %d\n%s%s", code, out, stderr)
	}

	// A run that makes no call leaves what was recorded before it.
	kept := a.file("kept.jsonl", string(recorded))
	if code, _, stderr := a.run("run", module, "pre_compact", "--deny", "http", "--record", kept); code != 0 ||
		!strings.Contains(stderr, "no calls were made") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	if still, err := os.ReadFile(kept); err != nil || string(still) != string(recorded) {
		t.Errorf("a recording was replaced by nothing: %v, %s", err, still)
	}

	edited := strings.Replace(string(recorded), "/q", "/other", 1)
	if err := os.WriteFile(calls, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := a.run("run", module, "pre_compact", "--replay", calls)
	if code != 1 || !strings.Contains(out, "not_recorded") || !strings.Contains(stderr, "lacks 1 of the calls") ||
		!strings.Contains(stderr, "/other") || !strings.Contains(stderr, "--record") {
		t.Errorf("a call that was not recorded: exit code %d, %s\n%s", code, out, stderr)
	}
	code, out, _ = a.run("verify", module, "--replay", calls, "--rule", "deterministic")
	if code != 1 || !strings.Contains(out, "BROKEN  recorded calls") || !strings.Contains(out, "url is recorded as") {
		t.Errorf("verify: exit code %d\n%s", code, out)
	}
}

// TestRecordCompact: what plugins ask in a compaction is recorded, and with the server
// gone the compaction is the same; a plugin of the configuration needs neither grant nor
// secret for it.
func TestRecordCompact(t *testing.T) {
	features.Proves(t, "N6")
	a := newAuthor(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w,
			"ok")
	}))
	defer server.Close()
	module := a.file("asks.wasm", string(wasmtest.WithManifest(wasmtest.HostCall("pre_compact", "http",
		`{"url":"`+server.URL+`/q","headers":{"X-Key":"{{secret:key}}"}}`), asks)))
	config := a.file("kagewasm.yaml", "plugins: {asks: {path: "+module+", secrets: {key: KAGEWASM_TEST_UNSET}}}\n"+
		"compaction: {observers: [asks]}\n")
	session, calls := a.file("s.jsonl", longSession(120)), filepath.Join(a.dir, "calls.jsonl")
	t.Setenv("KAGEWASM_TEST_SECRET", "hunter2-correct-horse")
	compact := func(args ...string) (int, string, string) {
		return a.run(append([]string{"compact", session, "--window", "8000", "--state", ":memory:"}, args...)...)
	}
	code, live, stderr := compact("--no-config", "--plugin", module, "--grant", "http="+server.URL, "--secret",
		"key=KAGEWASM_TEST_SECRET", "--record", calls)
	if code != 0 || !strings.Contains(stderr, "calls recorded in "+calls+": 1") {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	server.Close()
	for name, args := range map[string][]string{
		"a plugin by hand":              {"--no-config", "--plugin", module},
		"a plugin of the configuration": {"--config", config},
	} {
		t.Run(name, func(t *testing.T) {
			code, again, stderr := compact(append(args, "--replay", calls)...)
			if code != 0 || again != live || !strings.Contains(stderr, "1 host call") {
				t.Errorf("exit code %d, the same result: %v\n%s", code, again == live, stderr)
			}
			if code, _, stderr := compact(append(args, "--replay", calls, "--quiet")...); code != 0 || stderr != "" {
				t.Errorf("exit code %d, quietly said %q", code, stderr)
			}
		})
	}
	if code, _, stderr := compact("--no-config", "--replay", calls); code != 2 || !strings.Contains(stderr,
		"no plugin is loaded") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// TestRecordVerify: what verify asks is recorded whole, so that it is verified
// again offline with the same outcome.
func TestRecordVerify(t *testing.T) {
	features.Proves(t, "N6")
	a := newAuthor(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		w.Header()["Date"] = nil // a second may end between two calls that are compared
		io.WriteString(w, "ok")
	}))
	defer server.Close()
	module := a.file("asks.wasm", string(wasmtest.WithManifest(
		wasmtest.HostCall("pre_compact", "http", `{"url":"`+server.URL+`"}`), asks)))
	calls := filepath.Join(a.dir, "calls.jsonl")
	outcome := func(args ...string) string {
		_, out, stderr := a.run(append([]string{"verify", module, "--json"}, args...)...)
		var r struct {
			Rules []struct{ Rule, Outcome string }
		}
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatalf("%v: %s%s", err, out, stderr)
		}
		var b strings.Builder
		for _, rule := range r.Rules {
			if rule.Rule != "recorded calls" {
				fmt.Fprintln(&b, rule.Rule, rule.Outcome)
			}
		}
		return b.String()
	}
	live := outcome("--grant", "http="+server.URL, "--record", calls)
	server.Close()
	if again := outcome("--replay", calls); again != live || !strings.Contains(live, "deterministic") {
		t.Errorf("live %s\nreplayed %s", live, again)
	}
}

// TestRecordCompletion: a completion of the configuration's model is replayed
// without configuration and key.
func TestRecordCompletion(t *testing.T) {
	features.Proves(t, "N6")
	a := newAuthor(t)
	server := modeltest.New(t, modeltest.Answer{Text: "Blue.", Input: 40, Output: 3})
	config := a.file("kagewasm.yaml",
		"models: {m: {provider: openai, model: m-1, base_url: "+server.URL(modeltest.OpenAI)+"}}\nmodel: m\n")
	module := a.file("asks.wasm", string(wasmtest.WithManifest(
		wasmtest.HostCall("pre_compact", "model.complete", `{"prompt":"Which colour?"}`), asks)))
	calls := filepath.Join(a.dir, "calls.jsonl")
	code, live, stderr := a.run("run", module, "pre_compact", "--config", config, "--grant", "model", "--record", calls)
	if code != 0 || !strings.Contains(live, "Blue.") || len(server.Requests()) != 1 {
		t.Fatalf("exit code %d, %s\n%s", code, live, stderr)
	}
	code, again, stderr := a.run("run", module, "pre_compact", "--no-config", "--replay", calls)
	if code != 0 || again != live || len(server.Requests()) != 1 ||
		!strings.Contains(stderr, "1 completions of 8, 40 tokens in, 3 out") {
		t.Errorf("exit code %d, %s\n%s", code, again, stderr)
	}
}

// TestRunSession: a hook is called with what a compaction of the session gives
// it: everything the host knows, and room for what the plugin adds.
func TestRunSession(t *testing.T) {
	features.Proves(t, "N6")
	a := newAuthor(t)
	module, session := a.file("echo.wasm", string(echo())), a.file("session.jsonl", longSession(120))
	input := func(hook abi.Hook, args ...string) *abi.Input {
		t.Helper()
		code, out, stderr := a.run(append([]string{"run", module, string(hook), "--session", session}, args...)...)
		in := new(abi.Input)
		if err := json.Unmarshal([]byte(out), in); err != nil || code != 0 {
			t.Fatalf("exit code %d, %v: %.200s\n%s", code, err, out, stderr)
		}
		if in.Hook != hook || in.ABI != abi.Version || !strings.HasPrefix(in.Session.ID, "s-") || in.Call == "" ||
			in.Time == "" {
			t.Errorf("%+v", in)
		}
		return in
	}
	in := input(abi.HookPreCompact, "--window", "8000")
	if len(in.Messages) != 243 || in.Trigger.Reason != abi.TriggerThreshold || in.Trigger.Forced || in.Trigger.DryRun ||
		*in.Session.ContextWindow != 8000 {
		t.Errorf("%d messages, %+v, %+v", len(in.Messages), in.Trigger, in.Session)
	}
	if goal := in.Messages[1]; goal.ID != "goal" || !goal.Pinned || goal.Tokens == 0 ||
		in.Messages[2].Unit != in.Messages[3].Unit || in.Messages[3].Unit == in.Messages[4].Unit {
		t.Errorf("%+v", in.Messages[:5])
	}
	if b := in.Budget; b.TargetTokens <= 0 || b.TargetTokens >= 4800 || b.SummaryTokens <= 0 {
		t.Errorf("%+v: the note needs room below 60%% of the window", b)
	}
	if forced := input(abi.HookPreCompact); !forced.Trigger.Forced {
		t.Errorf("far below the threshold: %+v", forced.Trigger)
	}
	if post := input(abi.HookPostCompact, "--window", "8000"); post.Record == nil || !post.Record.Success ||
		len(post.Record.Superseded) == 0 || len(post.Messages) >= 243 {
		t.Errorf("%d messages, %+v", len(post.Messages), post.Record)
	}
	if end := input(abi.HookTurnEnd); len(end.Messages) != 243 || end.Record != nil {
		t.Errorf("%d messages", len(end.Messages))
	}
}
