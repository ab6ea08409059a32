package memory_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/abitest"
	"github.com/kagewasm/kagewasm/abi/guest/guesttest"
	"github.com/kagewasm/kagewasm/internal/secretforms"
	"github.com/kagewasm/kagewasm/plugins/markdown/memory"
)

// manifest is the plugin's own, so that what it says is what is tested.
var manifest = sync.OnceValue(func() *abi.Manifest {
	m, err := abitest.ReadManifest("../plugin.yaml")
	if err != nil {
		panic(err)
	}
	return m
})

func TestConformance(t *testing.T) {
	abitest.Run(t, manifest(), &guesttest.Plugin{Plugin: memory.Plugin})
}

func user(text string) abi.Message {
	return abi.Message{Role: abi.RoleUser, Content: abi.Text(text)}
}

func assistant(text string) abi.Message {
	return abi.Message{Role: abi.RoleAssistant, Content: abi.Text(text)}
}

func use(name, args, result string) []abi.Message {
	m := assistant("")
	m.ToolCalls = []abi.ToolCall{{ID: name + args, Name: name, Arguments: args}}
	r := abi.Message{Role: abi.RoleTool, ToolCallID: name + args, Content: abi.Text(result)}
	return []abi.Message{m, r}
}

// around puts messages where they are about to go: behind the pinned first
// one, and before a current turn that says ask.
func around(ask string, msgs ...abi.Message) *abi.Input {
	all := append([]abi.Message{user("start")}, msgs...)
	all = append(all, user(ask), assistant("on it"))
	in := abitest.NewInput(manifest(), all, 1)
	in.Budget = abi.Budget{TargetTokens: 1, SummaryTokens: 1500}
	return in
}

type plugin struct{ guesttest.Plugin }

func newPlugin() *plugin {
	return &plugin{guesttest.Plugin{Plugin: memory.Plugin, Host: &guesttest.Host{KV: make(map[string]string)}}}
}

func (p *plugin) call(t *testing.T, in *abi.Input) *abi.Output {
	t.Helper()
	out, _, err := p.Call(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if out == nil {
		out = new(abi.Output)
	}
	return out
}

// TestFacts: what is worth a note, and what is not.
func TestFacts(t *testing.T) {
	fixed := slices.Concat(use("bash", `{"command":"go test ./..."}`,
		"exit status 1\n--- FAIL: TestSum (0.00s)\n    sum_test.go:9: want 3, got 2\nFAIL"),
		use("edit", `{"path":"/src/pkg/sum.go"}`, "ok"), use("bash", `{"command":"go test ./..."}`, "ok"))
	started := func(call []abi.Message) []abi.Message { // and then its result
		first := call[1]
		first.Content = abi.Text("started")
		return []abi.Message{call[0], first, call[1]}
	}
	for _, c := range []struct {
		why  string
		msgs []abi.Message
		want []string
	}{
		{"a decision", []abi.Message{user("Let's think. We decided to use sqlite for the cache. And now?")},
			[]string{"We decided to use sqlite for the cache."}},
		{"one thing instead of another", []abi.Message{user("Use tabs instead of spaces in the Makefile")},
			[]string{"Use tabs instead of spaces in the Makefile"}},
		{"a preference", []abi.Message{user("I prefer small commits with a body.")},
			[]string{"I prefer small commits with a body."}},
		{"a prohibition", []abi.Message{user("Don't touch the vendor folder!")}, []string{"Don't touch the vendor folder!"}},
		{"in German", []abi.Message{user("Schreibe niemals direkt in die Datenbank.")},
			[]string{"Schreibe niemals direkt in die Datenbank."}},
		{"in Russian", []abi.Message{user("Всегда пиши тесты до кода.")}, []string{"Всегда пиши тесты до кода."}},
		{"in Chinese", []abi.Message{user("我们决定使用数据库。然后呢？")}, []string{"我们决定使用数据库。"}},
		{"a list of requirements in no language it knows",
			[]abi.Message{user("- le serveur écoute en local seulement\n- les erreurs portent un code stable")},
			[]string{"le serveur écoute en local seulement", "les erreurs portent un code stable"}},
		{"a short order that names something", []abi.Message{user("the stack goes to the log, not into last_error")},
			[]string{"the stack goes to the log, not into last_error"}},
		{"an item as a whole", []abi.Message{
			user("- his workers stop for 40 s. so make the default lease longer\n- he asked for an endpoint to " +
				"retry dead jobs")},
			[]string{"his workers stop for 40 s. so make the default lease longer",
				"he asked for an endpoint to retry dead jobs"}},
		{"a conclusion", []abi.Message{assistant(
			"Let me see. The root cause is a missing lock around the map. I'll fix it.")},
			[]string{"The root cause is a missing lock around the map."}},
		{"a conclusion with a label", []abi.Message{
			assistant("**Root cause:** the parser reads one document at a time.")},
			[]string{"Root cause: the parser reads one document at a time."}},
		{"an error and what fixed it", fixed, []string{
			"`go test ./...` failed with \"--- FAIL: TestSum: sum_test.go:9: want 3, got 2\"; it went well after " +
				"changes in /src/pkg: sum.go."}},
		{"an error that a second result tells, and what fixed it",
			slices.Concat(started(fixed[:2]), fixed[2:4], started(fixed[4:])), []string{
				"`go test ./...` failed with \"--- FAIL: TestSum: sum_test.go:9: want 3, got 2\"; it went well after " +
					"changes in /src/pkg: sum.go."}},
		{"an error that a second result tells, and nothing fixed",
			slices.Concat(started(fixed[:2]), fixed[2:4], started(fixed[:2])), nil},
		{"the same twice", []abi.Message{user("Always run the linter."), user("always run the linter")},
			[]string{"Always run the linter."}},

		{"a question", []abi.Message{user("Should we always use sqlite?")}, nil},
		{"code", []abi.Message{user("```\nwe decided = always(never)\n```"),
			assistant("    the problem is: x := y[0];")}, nil},
		{"what a harness puts in", []abi.Message{
			user("<system-reminder>\nYou must always be nice.\n</system-reminder>")}, nil},
		{"what comes next", []abi.Message{assistant("Now I'll look at why it must be fixed.")}, nil},
		{"an order for now", []abi.Message{user("rename the package please")}, nil},
		{"a short item", []abi.Message{user("- remove any duplication\n- add some tests")}, nil},
		{"a list that was pasted", []abi.Message{
			user(strings.Repeat("- the parser reads one document at a time\n", 20))}, nil},
		{"reassurance", []abi.Message{user("Don't worry about the linter for now.")}, nil},
		{"what a harness says again and again",
			[]abi.Message{user("Reply approve to execute, or approve always to allow it permanently."),
				user("Reply approve to execute, or approve always to allow it permanently."),
				user("Reply approve to execute, or approve always to allow it permanently.")}, nil},
		{"steps that lead to a failure", []abi.Message{
			user("- I start a session and change a file\n- I run another prompt in the same session")}, nil},
		{"a guess", []abi.Message{assistant("The root cause is probably a missing lock around the map.")}, nil},
		{"a document", []abi.Message{user(
			strings.Repeat("The parser must never read more than one document.\n\n", 41))}, nil},
		{"a label alone", []abi.Message{assistant("**File:** `internal/parser/read_document.go` holds all of it.")}, nil},
		{"an error whose output was taken away",
			slices.Concat(use("bash", `{"command":"make"}`, "[Pruned: 784 tokens of an error: x]"),
				use("edit", `{"path":"/src/sum.go"}`, "ok"), use("bash", `{"command":"make"}`, "ok")), nil},
		{"too short", []abi.Message{user("never do it")}, nil},
		{"an error nobody fixed", use("bash", `{"command":"make"}`, "error: no rule"), nil},
	} {
		t.Run(c.why, func(t *testing.T) {
			out := newPlugin().call(t, around("and now?", c.msgs...))
			if !slices.Equal(out.Retain, c.want) {
				t.Errorf("retained %q, want %q", out.Retain, c.want)
			}
		})
	}
}

// TestNotItsOwnWords: what a compaction or a memory put into the session is
// not noted again, or every compaction would say it louder.
func TestNotItsOwnWords(t *testing.T) {
	const said = "We decided to use sqlite for the cache."
	for _, k := range []abi.Kind{abi.KindInjected, abi.KindSummary, abi.KindSynthetic, abi.KindMeta,
		abi.KindInstructions} {
		t.Run(string(k), func(t *testing.T) {
			m := user(said)
			m.Kind = k
			if out := newPlugin().call(t, around("and?", m)); len(out.Retain) > 0 {
				t.Errorf("kind %s: retained %q", k, out.Retain)
			}
		})
	}
	framed := user(abi.Fence(abi.KindInjected, "markdown", "data", said))
	if out := newPlugin().call(t, around("and?", framed)); len(out.Retain) > 0 {
		t.Errorf("a frame whose kind was lost: retained %q", out.Retain)
	}
}

func TestWhatStaysIsNotNoted(t *testing.T) {
	in := abitest.NewInput(manifest(), []abi.Message{
		user("We decided to use sqlite for everything."), user("We decided to use postgres for the rest."),
		user("We decided to use redis for the queue.")}, 0)
	in.Budget = abi.Budget{TargetTokens: 1, SummaryTokens: 100}
	out := newPlugin().call(t, in)
	if !slices.Equal(out.Retain, []string{"We decided to use postgres for the rest."}) {
		t.Errorf("pinned and current messages were noted: %q", out.Retain)
	}
	in.Budget.TargetTokens = 100_000
	if out := newPlugin().call(t, in); len(out.Retain) > 0 {
		t.Errorf("recent messages were noted: %q", out.Retain)
	}
}

func TestSecrets(t *testing.T) {
	const run = "Q7w8E9r0T1y2U3i4O5p6A7s8D9f0G1h2J3k4"
	for whose, secret := range map[string]string{
		"OpenAI": "sk-" + "proj-" + run, "GitHub": "gh" + "p_" + run, "AWS": "AK" + "IA" + "QWERTYUIOPASDFGH",
		"Slack": "xo" + "xb-" + run[:20], "a JSON web token": "ey" + "J" + run + ".ey" + "J" + run + "." + run,
		"Google": "AI" + "za" + run[:35], "nobody known": run,
	} {
		t.Run(whose, func(t *testing.T) {
			for _, text := range []string{
				"Always use the key " + secret + " for staging.", "We decided that the password: " + secret + " is kept here.",
				"Remember to send Authorization: Bearer " + secret + " with it.", "We must connect to postgres://app:" +
					secret + "@db/app always.",
			} {
				t.Run(fmt.Sprintf("%.20q", text), func(t *testing.T) {
					p := newPlugin()
					out := p.call(t, around("which key for staging?", user(text)))
					doc, _ := json.Marshal(out)
					all := string(doc) + fmt.Sprint(p.Host.KV)
					if strings.Contains(all, secret) {
						t.Errorf("%q is kept: %s", secret, all)
					}
					// A sentence that is a key, mostly, is no prose and not kept at all.
					if len(secret) < 60 && (len(out.Retain) != 1 || !strings.Contains(out.Retain[0], "[redacted: ")) {
						t.Errorf("%q: retained %q", text, out.Retain)
					}
				})
			}
		})
	}
	for text, want := range map[string]string{
		"Remember, the password is hunter22 on staging.": "Remember, the password is [redacted: secret] on staging.",
		"Remember that the password is required there.":  "Remember that the password is required there.",
	} {
		t.Run(text, func(t *testing.T) {
			if out := newPlugin().call(t, around("?", user(text))); !slices.Equal(out.Retain, []string{want}) {
				t.Errorf("retained %q", out.Retain)
			}
		})
	}
	const harmless = "We decided to pin the dependency at the commit 0123456789abcdef0123456789abcdef01234567 until " +
		"the next release of the parser in internal/some_long_package_name_here/file.go."
	if out := newPlugin().call(t, around("?", user(harmless))); !slices.Equal(out.Retain, []string{harmless}) {
		t.Errorf("a commit or a path is no secret: %q", out.Retain)
	}
}

func TestCaps(t *testing.T) {
	var msgs []abi.Message
	for i := range 50 {
		msgs = append(msgs, assistant(fmt.Sprintf("The root cause of number %d is a typo.", i)),
			user(fmt.Sprintf("We always do thing number %d this way.", i)))
	}
	in := around("go on", msgs...)
	out := newPlugin().call(t, in)
	if len(out.Retain) != 20 || slices.ContainsFunc(out.Retain, func(s string) bool {
		return strings.Contains(s, "typo")
	}) {
		t.Errorf("the 20 worth most are a person's words: %q", out.Retain)
	}
	if want := "We always do thing number 49 this way."; out.Retain[19] != want {
		t.Errorf("the last is %q", out.Retain[19])
	}
	p := newPlugin()
	for i := range 95 {
		p.Host.KV[fmt.Sprintf("memory/n%d.md", i)] = "x"
	}
	in.Config["max_stored"] = json.RawMessage("100")
	if out := p.call(t, in); len(out.Retain) != 5 || len(p.Host.Logs) != 1 {
		t.Errorf("a full memory takes what fits and says so: %d, %v", len(out.Retain), p.Host.Logs)
	}
	in.Config["inject"], in.Config["max_inject_tokens"] = json.RawMessage("true"), json.RawMessage("60")
	in.Config["max_facts"] = json.RawMessage("100")
	if out := newPlugin().call(t, in); out.Inject == "" || len(out.Inject) > 60*5 {
		t.Errorf("injected %d bytes", len(out.Inject))
	}
	in.Config["inject"] = json.RawMessage("false")
	if out := newPlugin().call(t, in); out.Inject != "" {
		t.Errorf("injected %q", out.Inject)
	}
}

func keys(p *plugin, prefix string) (list []string) {
	for _, k := range slices.Sorted(maps.Keys(p.Host.KV)) {
		if strings.HasPrefix(k, prefix) {
			list = append(list, k)
		}
	}
	return list
}

// TestSecretForms: in whatever form a secret is told, none of it is noted.
func TestSecretForms(t *testing.T) {
	for _, f := range secretforms.Forms(t) {
		t.Run(f.Text, func(t *testing.T) {
			for _, text := range []string{f.Text, "Remember, always: " + f.Text, "We decided on this in /srv/app:\n- " +
				f.Text + "\n- and no other way"} {
				p := newPlugin()
				doc, err := json.Marshal(p.call(t, around("which one was it?", user(text))))
				if err != nil {
					t.Fatal(err)
				}
				all := string(doc) + fmt.Sprint(p.Host.KV)
				for _, secret := range f.Secrets {
					if line, _, _ := strings.Cut(secret, "\n"); strings.Contains(all, line) {
						t.Errorf("%q of %q is kept: %s", line, text, all)
					}
				}
			}
		})
	}
}
