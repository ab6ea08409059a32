package check_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/pluginyaml"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/kit"
	"github.com/kagewasm/kagewasm/kit/cassette"
	"github.com/kagewasm/kagewasm/kit/check"
	"github.com/kagewasm/kagewasm/runtime"
)

type byLength struct{}

func (byLength) Text(s string) int            { return (len(s) + 3) / 4 }
func (c byLength) Message(m *abi.Message) int { return 4 + c.Text(m.Text()) }

// options grant what stays on the machine.
func options(t *testing.T) check.VerifyOptions {
	t.Helper()
	return check.VerifyOptions{
		Runtime: runtime.Options{CacheDir: plugintest.CacheDir(t), Counter: byLength{}},
		Plugin:  runtime.PluginOptions{Grants: runtime.Grants{KV: true}},
	}
}

// quickly checks in make test no more than these rules.
func quickly(o check.VerifyOptions, rules ...string) check.VerifyOptions {
	if soak.Count(0, 1, 1) == 0 {
		o.Rules = rules
	}
	return o
}

// verify opens the module in a file, and checks it.
func verify(ctx context.Context, path string, o check.VerifyOptions) (*check.Verdict, error) {
	m, err := runtime.OpenFile(path, pluginyaml.Parse)
	if err != nil {
		return nil, err
	}
	return check.Verify(ctx, m, o)
}

func run(t *testing.T, path string, o check.VerifyOptions) *check.Verdict {
	t.Helper()
	r, err := verify(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// module writes a module made by hand.
func module(t *testing.T, wasm []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.wasm")
	if err := os.WriteFile(path, wasm, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func broken(r *check.Verdict) map[string]check.Result {
	list := make(map[string]check.Result)
	for _, rule := range r.Rules {
		if rule.Outcome == check.Broken {
			list[rule.Rule] = rule
		}
	}
	return list
}

func finding(r *check.Verdict, name string) *check.Finding {
	i := slices.IndexFunc(r.Findings, func(f check.Finding) bool { return f.Name == name })
	if i < 0 {
		return nil
	}
	return &r.Findings[i]
}

// TestVerifyKeeper: a reference plugin keeps every rule, in the sandbox.
func TestVerifyKeeper(t *testing.T) {
	features.Proves(t, "N6")
	soak.Only(t, "asks for all rules of a large plugin")
	r := run(t, plugintest.GuestFile(t, "plugins/keeper"), options(t))
	if r.Broken > 0 || r.Kept < 40 || r.Kept+r.Skipped != len(r.Rules) || len(r.Findings) > 0 {
		t.Errorf("%d kept, %d of %d skipped, broken %+v, findings %+v", r.Kept, r.Skipped, len(r.Rules), broken(r),
			r.Findings)
	}
	if r.Plugin != "keeper" || !strings.HasPrefix(r.Digest, "sha256:") || r.MS <= 0 {
		t.Errorf("%+v", r)
	}
	used := make(map[string]check.Usage)
	for _, u := range r.Usage {
		used[u.Limit] = u
	}
	if m := used["memory_mb"]; m.Used < 1 || m.Allowed != 64 || m.Share() <= 0 || m.Rule == "" ||
		used["fuel"].Used == 0 || used["fuel"].Share() != 0 {
		t.Errorf("usage %+v", r.Usage)
	}
}

// TestDocumentFixes: what to do about a crash depends on the document.
func TestDocumentFixes(t *testing.T) {
	o := options(t)
	o.Rules = []string{"no bytes", "null", "empty object", "no json"}
	fixes := make(map[string]string)
	for name, r := range broken(run(t, module(t, wasmtest.Trap("pre_compact")), o)) {
		if other := fixes[r.Fix]; other != "" || r.Fix == "" {
			t.Errorf("%s and %s are fixed by %q", name, other, r.Fix)
		}
		fixes[r.Fix] = name
	}
	if len(fixes) != len(o.Rules) {
		t.Errorf("%d fixes of %d rules: %v", len(fixes), len(o.Rules), fixes)
	}
}

// TestVerifyFaults: each fault is found by the rule it breaks, with the input
// and what to do; a plugin without one breaks none.
func TestVerifyFaults(t *testing.T) {
	features.Proves(t, "N6")
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		fmt.Fprint(w, asked)
	}))
	defer server.Close()
	faulty := plugintest.GuestFile(t, "kit/check/testdata/faulty")
	for _, tc := range []struct {
		fault  string
		limits abi.Limits
		rules  string // that are broken, all of them
		rule   string // the one that says it best
		code   abi.Code
		says   string
	}{
		{fault: "none"},
		{fault: "asks", rules: "default knobs, deterministic, extreme knobs, fresh loads, isolation, unknown fields",
			rule: "isolation", says: "after calls for others"},
		{fault: "stores", rules: "dry run stores nothing", rule: "dry run stores nothing",
			says: "kv.set 1 times in a dry run"},
		{fault: "empty", rules: "empty object, no messages, null", rule: "empty object", code: abi.CodeExit,
			says: "pre_compact on {}: "},
		{fault: "poses", rules: "only its role", rule: "only its role", says: "observer returned messages"},
		{fault: "square", limits: abi.Limits{Fuel: 1e9}, rules: "memory grows with the session, thousands of messages, " +
			"work grows with the session", rule: "thousands of messages", code: abi.CodeFuel, says: "fuel"},
		{fault: "leaks", rules: "memory grows with the session, thousands of messages", rule: "thousands of messages",
			code: abi.CodeMemory, says: "64 MiB"},
		{fault: "hoards", rules: "steady", rule: "steady", says: "call 10 of one session took"},
		{fault: "demands", rules: "nothing granted", rule: "nothing granted", code: abi.CodeExit, says: "not granted"},
	} {
		t.Run(tc.fault, func(t *testing.T) {
			o := options(t)
			o.Plugin.Limits, o.Plugin.Grants.HTTP = tc.limits, []string{server.URL}
			o.Plugin.Config = abi.Config{"fault": json.RawMessage(strconv.Quote(tc.fault)),
				"server": json.RawMessage(strconv.Quote(server.URL))}
			path := faulty
			if tc.fault == "empty" { // with no document there are no knobs
				soak.Only(t, "builds another module")
				built, err := kit.Build(t.Context(), kit.Options{Dir: "testdata/faulty", Out: t.TempDir() + "/",
					Flags: []string{"-ldflags=-X=main.fault=empty"}})
				if err != nil {
					t.Fatal(err)
				}
				path = built.Path
			}
			// That it breaks no other rule takes long.
			rules := cmp.Or(tc.rules, "deterministic, dry run stores nothing, isolation, null, only its role")
			r := run(t, path, quickly(o, append(strings.Split(rules, ", "), "plain session")...))
			got := broken(r)
			var names []string
			for name := range got {
				names = append(names, name)
			}
			slices.Sort(names)
			if all := strings.Join(names, ", "); all != tc.rules {
				t.Errorf("broken: %s\nwant: %s\n%+v", all, tc.rules, got)
			}
			if tc.rule == "" {
				return
			}
			rule := got[tc.rule]
			if tc.fault == "demands" && !strings.Contains(rule.Hint, "--grant kv") {
				t.Errorf("what fixes it: %q", rule.Hint)
			}
			if rule.Code != tc.code || !strings.Contains(rule.Broken, tc.says) || rule.Fix == "" || rule.Explanation == "" {
				t.Errorf("%+v", rule)
			}
		})
	}
}

// TestVerifyModules: modules made by hand, with faults no guest library lets
// through.
func TestVerifyModules(t *testing.T) {
	features.Proves(t, "N6")
	const manifest = `{"name":"m","abi":1,"hooks":["pre_compact"],"limits":{"memory_mb":900},` +
		`"capabilities":{"http":{"reason":"web","hosts":["api.example.com"]},"kv":{"reason":"to remember"}},` +
		`"knobs":{"depth":{"type":"range","min":0,"max":1,"step":0.3}}}`
	trap := run(t, module(t, wasmtest.WithManifest(wasmtest.Trap("pre_compact"), manifest)), options(t))
	for _, rule := range []string{"plain session", "no bytes", "null", "empty object", "no json", "unknown fields",
		"nothing granted", "fresh loads", "extreme knobs"} {
		t.Run(rule, func(t *testing.T) {
			if b := broken(trap)[rule]; b.Code != abi.CodeTrap {
				t.Errorf("rule %q: %+v", rule, b)
			}
		})
	}
	if b := broken(trap); b["plain session"].Same != "" || b["null"].Same != "plain session" {
		t.Errorf("one failure, told twice: %+v", b["null"])
	}
	r := run(t, module(t, wasmtest.WithManifest(wasmtest.Nothing("pre_compact"), manifest)), options(t))
	if r.Broken > 0 {
		t.Errorf("a plugin with nothing to say breaks %+v", broken(r))
	}
	for name, says := range map[string]string{
		"no version": "version", "no description": "does", "knob without default": "depth",
		"knob without label": "depth", "not granted": "http",
		"unused capability": "kv", "limit above the host's": "memory_mb: 900, the host grants 64", "short reason": `"web"`,
	} {
		t.Run(name, func(t *testing.T) {
			if f := finding(r, name); f == nil || !strings.Contains(f.Message, says) || f.Fix == "" {
				t.Errorf("%s: %+v in %+v", name, f, r.Findings)
			}
		})
	}
	if f := finding(r, "not granted"); f != nil && !strings.Contains(f.Fix, "--grant http=api.example.com") {
		t.Errorf("which flag: %s", f.Fix)
	}
	m := wasmtest.New()
	m.OutputWrite()
	m.Import("wasi_snapshot_preview1", "proc_exit", []wasmtest.Type{wasmtest.I32}, nil)
	m.Memory(1, -1, "memory")
	m.Hook("pre_compact", nil, wasmtest.Const32(0))
	bare := run(t, module(t, m.Bytes()), quickly(options(t), "null"))
	if f := finding(bare, "unused imports"); f == nil || !strings.Contains(f.Message,
		"kagewasm:host/env.output_write, wasi_snapshot_preview1.proc_exit") {
		t.Errorf("unused imports: %+v", bare.Findings)
	}
	if finding(bare, "no manifest") == nil {
		t.Errorf("no manifest: %+v", bare.Findings)
	}
	if later := run(t, module(t, wasmtest.Echo("pre_compact")), quickly(options(t), "unknown fields")); broken(
		later)["unknown fields"].Broken == "" {
		t.Error("an answer that changes with the host's fields was accepted")
	}
}

// TestVerifySome: rules by name; a name that is none says which there are.
func TestVerifySome(t *testing.T) {
	features.Proves(t, "N6")
	path := module(t, wasmtest.Nothing("pre_compact"))
	o := options(t)
	o.Rules = []string{"null", "compacts"}
	var seen []string
	o.Progress = func(rule string) { seen = append(seen, rule) }
	r := run(t, path, o)
	if r.Kept != 1 || r.Skipped != 1 || strings.Join(seen, ", ") != "compacts, null" {
		t.Errorf("%+v, %v", r.Rules, seen)
	}
	o.Rules = []string{"nul"}
	if _, err := verify(t.Context(), path, o); abi.CodeOf(err) != abi.CodeUsage ||
		!strings.Contains(abi.AsError(err).Hint, "no bytes, null") {
		t.Errorf("%v", err)
	}
	if _, err := verify(t.Context(), module(t, []byte("no")), options(t)); abi.CodeOf(err) != abi.CodeRefused {
		t.Errorf("no module: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o = options(t)
	o.Progress = func(string) { cancel() }
	if _, err := verify(ctx, path, o); abi.CodeOf(err) != abi.CodeCanceled {
		t.Errorf("a caller that gave up: %v", err)
	}
}

// TestVerifyReplayed: a replay that lacks calls breaks a rule of its own.
func TestVerifyReplayed(t *testing.T) {
	features.Proves(t, "N6")
	const manifest = `{"name":"m","version":"1","abi":1,"capabilities":{"http":{"reason":"to ask for it",` +
		`"hosts":["api.example.com"]}}}`
	path := module(t, wasmtest.WithManifest(
		wasmtest.HostCall("pre_compact", "http", `{"url":"https://api.example.com/a"}`), manifest))
	for doc, misses := range map[string]bool{
		`{"op":"http","request":{"url":"https://api.example.com/b"},"response":{"status":200}}`: true,
		`{"op":"http","request":{"url":"https://api.example.com/a"},"response":{"status":200}}`: false,
	} {
		t.Run(fmt.Sprintf("misses %v", misses), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "calls.jsonl")
			if err := os.WriteFile(file, []byte(doc), 0o600); err != nil {
				t.Fatal(err)
			}
			player, err := cassette.Read(file)
			if err != nil {
				t.Fatal(err)
			}
			o := options(t)
			o.Plugin.Cassette, o.Plugin.Grants.HTTP = player, []string{"api.example.com"}
			rule, missed := broken(run(t, path, quickly(o, "null", "plain session")))["recorded calls"]
			if missed != misses || missed && !strings.Contains(rule.Broken, "url is recorded as") {
				t.Errorf("%s: %+v", doc, rule)
			}
			// Some rules, by name: what they were checked with is told all the same.
			o.Rules = []string{"null"}
			if rule, missed = broken(run(t, path, o))["recorded calls"]; missed != misses {
				t.Errorf("%s, one rule: %+v", doc, rule)
			}
		})
	}
}

// TestVerifyJUnit: the document is what builds read.
func TestVerifyJUnit(t *testing.T) {
	features.Proves(t, "N6")
	o := options(t)
	o.Rules = []string{"null", "compacts", "no messages"}
	r := run(t, module(t, wasmtest.Fail("pre_compact", "not <today> & \x1b[31mnot\x00 ever")), o)
	var buf bytes.Buffer
	if err := r.JUnit(&buf); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		XMLName xml.Name `xml:"testsuites"`
		Tests   int      `xml:"tests,attr"`
		Suites  []struct {
			Name     string  `xml:"name,attr"`
			Tests    int     `xml:"tests,attr"`
			Failures int     `xml:"failures,attr"`
			Skipped  int     `xml:"skipped,attr"`
			Time     float64 `xml:"time,attr"`
			Cases    []struct {
				Name    string  `xml:"name,attr"`
				Class   string  `xml:"classname,attr"`
				Time    float64 `xml:"time,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
					Type    string `xml:"type,attr"`
					Text    string `xml:",chardata"`
				} `xml:"failure"`
				Skipped *struct {
					Message string `xml:"message,attr"`
				} `xml:"skipped"`
			} `xml:"testcase"`
			Out string `xml:"system-out"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(buf.Bytes(), &doc); err != nil {
		t.Fatalf("%v\n%s", err, buf.String())
	}
	if len(doc.Suites) != 1 || doc.Tests != 3 {
		t.Fatalf("%+v", doc)
	}
	s := doc.Suites[0]
	if s.Tests != 3 || s.Failures != 1 || s.Skipped != 1 || len(s.Cases) != 3 || !strings.Contains(s.Name, "m") ||
		!strings.Contains(s.Out, "no manifest") {
		t.Errorf("%+v", s)
	}
	for _, c := range s.Cases {
		switch {
		case c.Class == "" || c.Time < 0:
			t.Errorf("%+v", c)
		case c.Name == "no messages" && (c.Failure == nil || c.Failure.Type != "exit" ||
			!strings.Contains(c.Failure.Message, "not <today> &") || !strings.Contains(c.Failure.Text, "fix: ")):
			t.Errorf("%+v", c.Failure)
		case c.Name == "compacts" && (c.Skipped == nil || c.Skipped.Message == ""):
			t.Errorf("%+v", c)
		case c.Name == "null" && (c.Failure != nil || c.Skipped != nil):
			t.Errorf("%+v", c.Failure)
		}
	}
}

// TestUntried: of rules about answers verify says that it could not try them where a plugin answers nothing, and not
// that they are kept.
func TestUntried(t *testing.T) {
	path := filepath.Join(t.TempDir(), "quiet.wasm")
	wasm := wasmtest.WithManifest(wasmtest.Answer("pre_compact", "null"),
		`{"name":"quiet","version":"1.0.0","abi":1,"roles":["observer"],"hooks":["pre_compact"]}`)
	if err := os.WriteFile(path, wasm, 0o600); err != nil {
		t.Fatal(err)
	}
	v, err := verify(t.Context(), path, options(t))
	if err != nil {
		t.Fatal(err)
	}
	tried := make(map[string]check.Result)
	for _, r := range v.Rules {
		tried[r.Rule] = r
	}
	for _, name := range []string{"valid text", "within budget", "known pins", "only its role", "reason to cancel"} {
		if r := tried[name]; r.Outcome != check.Skipped || r.Skipped != "not tried: the plugin answered nothing" {
			t.Errorf("%s: %s %q", name, r.Outcome, r.Skipped)
		}
	}
	if v.Broken != 0 || tried["deterministic"].Outcome != check.Kept || v.Kept+v.Skipped != len(v.Rules) {
		t.Errorf("%d broken, %d kept, %d skipped of %d, deterministic %s", v.Broken, v.Kept, v.Skipped, len(v.Rules),
			tried["deterministic"].Outcome)
	}
}
