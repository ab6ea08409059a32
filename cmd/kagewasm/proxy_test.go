//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/plug"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/proxy"
	"github.com/kagewasm/kagewasm/store"
)

// proxied starts a proxy before an upstream that answers all, as a program of its own.
func proxied(t *testing.T, home string, args ...string) (ask func(body string) (says string)) {
	t.Helper()
	ask, _ = proxiedAt(t, home, args...)
	return ask
}

// proxiedAt is proxied, and says where the proxy listens.
func proxiedAt(t *testing.T, home string, args ...string) (ask func(body string) (says string), at string) {
	t.Helper()
	ask, at, _ = proxiedSaying(t, home, args...)
	return ask, at
}

// proxiedSaying is proxiedAt, with what the proxy said on standard error until it listened.
func proxiedSaying(t *testing.T, home string, args ...string) (ask func(body string) (says string), at, said string) {
	t.Helper()
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`)
	}))
	t.Cleanup(upstream.Close)
	cmd := exec.Command(os.Args[0], append([]string{"proxy", "--upstream", upstream.URL + "/v1", "--listen", "127.0.0.1:0",
		"--state", home}, args...)...)
	cmd.Env = environment(home)
	cmd.Dir = t.TempDir()
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(stderr)
	for at == "" && lines.Scan() {
		said += lines.Text() + "\n"
		if found := regexp.MustCompile(`listening on (http://\S+)`).FindStringSubmatch(lines.Text()); found != nil {
			at = found[1]
		}
	}
	if at == "" {
		t.Fatal("it does not listen")
	}
	go func() {
		for lines.Scan() {
		}
	}()
	return func(body string) string {
		resp, err := http.Post(at+"/v1/chat/completions", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.Header.Get(proxy.Header)
	}, at, said
}

// TestProxyBeginsWithBrokenPlugin: a compactor that is missing, or no module, when a proxy starts stalls no
// conversation: compaction always completes, by drop, with the failure in one event. The proxy says so at once and when
// it is asked, with the configuration's plugins as with those of flags.
func TestProxyBeginsWithBrokenPlugin(t *testing.T) {
	features.Proves(t, "K7")
	for name, tc := range brokenPlugins {
		t.Run(name, func(t *testing.T) {
			home, plugin := filepath.Join(t.TempDir(), "state"), "mine"
			args := tc.args(t, t.TempDir(), ", max_tokens: 3000")
			if !tc.config {
				args, plugin = append(args, "--set", "compaction.max_tokens=3000"), "gone.wasm"
			}
			ask, at, said := proxiedSaying(t, home, append(args, "--window", "10000")...)
			if !strings.Contains(said, "compactions go on without it: ") || !strings.Contains(said, plugin+": ") ||
				!strings.Contains(said, tc.says) {
				t.Errorf("standard error: %s", said)
			}
			who, err := plug.Answers(t.Context(), strings.TrimPrefix(at, "http://"), false)
			if err != nil || who.Passing != "" || len(who.Without) != 1 ||
				!strings.HasPrefix(who.Without[0], plugin+": the plugin cannot be loaded: ") {
				t.Errorf("it says of itself: %+v, %v", who, err)
			}
			if says := ask(talk("the ledger", 120)); !strings.HasPrefix(says, "compacted") {
				t.Fatalf("it says %q", says)
			}
			log := ""
			for end := time.Now().Add(time.Minute); !strings.Contains(log, `"compaction.completed"`); log = auditLog(t, home) {
				if time.Now().After(end) {
					t.Fatal("the compaction is never logged")
				}
			}
			if strings.Count(log, `"type":"compaction.completed","session":`) != 1 || strings.Contains(log, `"compaction.failed"`) ||
				!strings.Contains(log, tc.says) {
				t.Errorf("the audit log has %d bytes", len(log))
			}
		})
	}
}

// TestProxyGoesOnWithBrokenPlugin: where a module breaks under a running proxy a change of the configuration changes
// nothing, and what was loaded goes on.
func TestProxyGoesOnWithBrokenPlugin(t *testing.T) {
	features.Proves(t, "K7")
	dir, home := t.TempDir(), filepath.Join(t.TempDir(), "state")
	module, file := filepath.Join(dir, "b.wasm"), filepath.Join(dir, "kagewasm.yaml")
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const settings = "plugins: {summary: {path: b.wasm}}\ncompaction: {compactor: summary, max_tokens: 3000}\n"
	write(module, string(misbehaving()["summary"]))
	write(file, settings)
	ask, at := proxiedAt(t, home, "--config", file, "--window", "10000")
	write(module, "junk")
	write(file, settings+"# changed\n")
	if says := ask(talk("the ledger", 120)); !strings.HasPrefix(says, "compacted") {
		t.Fatalf("it says %q", says)
	}
	who, err := plug.Answers(t.Context(), strings.TrimPrefix(at, "http://"), false)
	if err != nil || len(who.Without) > 0 {
		t.Errorf("%+v, %v", who, err)
	}
	for end := time.Now().Add(time.Minute); !strings.Contains(auditLog(t, home), `"name":"summary"`); {
		if time.Sleep(10 * time.Millisecond); time.Now().After(end) {
			t.Fatal("the plugin that was loaded is not in use")
		}
	}
}

// auditLog is the audit log in a state folder.
func auditLog(t *testing.T, home string) string {
	t.Helper()
	s, err := state.ReadSessions(t.Context(), home, "", func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var b strings.Builder
	err = s.Audit(t.Context(), "", 0, func(a store.Audited) error { return json.NewEncoder(&b).Encode(a) })
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestProxyKeepsAnswering: where nothing can be made of the settings, a proxy that an agent has for its only provider
// passes requests on, says why, and compacts as soon as it can.
func TestProxyKeepsAnswering(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kagewasm.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("compaction: {upper_threshold: high}\n")
	home := filepath.Join(t.TempDir(), "state")
	code, said := runOn(t, home, "proxy", "--upstream", "http://127.0.0.1:9", "--listen", "127.0.0.1:0", "--config", path)
	if code != 2 || !strings.Contains(said, "upper_threshold is a text") {
		t.Errorf("without the flag: %d %s", code, said)
	}
	ask, at := proxiedAt(t, home, "--config", path, "--window", "10000", "--keep-answering")
	if says := ask(talk("the ledger", 120)); !strings.HasPrefix(says, "failed; reason=bad_input") {
		t.Errorf("it says %q", says)
	}
	who, err := plug.Answers(t.Context(), strings.TrimPrefix(at, "http://"), false)
	if err != nil || !strings.Contains(who.Passing, "upper_threshold is a text") {
		t.Errorf("%+v, %v", who, err)
	}
	write("compaction: {upper_threshold: 0.3, lower_threshold: 0.2}\n")
	for end := time.Now().Add(time.Minute); strings.HasPrefix(ask(talk("the ledger", 120)), "failed"); {
		if time.Sleep(100 * time.Millisecond); time.Now().After(end) {
			t.Fatal("it does not compact though it could")
		}
	}
	if who, err := plug.Answers(t.Context(), strings.TrimPrefix(at, "http://"), false); err != nil || who.Passing != "" {
		t.Errorf("%+v, %v", who, err)
	}
}

// talk is the body of a chat of so many messages, of 40 tokens each.
func talk(name string, messages int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"model":"m","messages":[{"role":"user","content":"Look into %s."}`, name)
	for n := range messages {
		role := "assistant"
		if n%2 == 1 {
			role = "user"
		}
		fmt.Fprintf(&b, `,{"role":%q,"content":"%s"}`, role, strings.Repeat(fmt.Sprintf("the port %d of %s is open ", n, name), 5))
	}
	b.WriteString(`]}`)
	return b.String()
}

// TestProxyFollowsItsConfiguration: a change of the file holds from a next request on; one that cannot be read changes
// nothing.
func TestProxyFollowsItsConfiguration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kagewasm.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("compaction: {upper_threshold: 0.99}\n")
	ask := proxied(t, filepath.Join(t.TempDir(), "state"), "--config", path, "--window", "10000")
	n := 0
	said := func() string {
		n++
		return ask(talk(fmt.Sprint("the ledger ", n), 120)) // a conversation of its own
	}
	until := func(what string) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !strings.Contains(said(), what); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("it does not say %s behind the change", what)
			}
		}
	}
	const below, considered = "below_threshold", "not_worth_it" // which is asked where it is due
	if says := said(); !strings.Contains(says, below) {
		t.Fatal(says)
	}
	write("compaction: {upper_threshold: 0.3, lower_threshold: 0.2}\n")
	until(considered)
	write("compaction: {upper_threshold: high}\n")
	if says := said(); !strings.Contains(says, considered) {
		t.Error(says)
	}
	write("compaction: {upper_threshold: 0.99}\n")
	until(below)
}

// TestProxySetsWithoutAFile: what --set says holds where no file says more, as it does for compact.
func TestProxySetsWithoutAFile(t *testing.T) {
	features.Proves(t, "N4")
	for _, flags := range [][]string{nil, {"--no-config"}} {
		ask := proxied(t, filepath.Join(t.TempDir(), "state"), append(flags, "--set", "compaction.max_tokens=3000")...)
		if says := ask(talk("the ledger", 120)); !strings.HasPrefix(says, "compacted; ") {
			t.Errorf("%v: %s", flags, says)
		}
	}
}

// TestProxyOfAStateThatIsNone: a state folder that cannot be opened is said, and where it is; the proxy does not start.
func TestProxyOfAStateThatIsNone(t *testing.T) {
	features.Proves(t, "N4")
	file := filepath.Join(t.TempDir(), "state")
	if err := os.WriteFile(file, []byte("no folder"), 0o600); err != nil {
		t.Fatal(err)
	}
	var says strings.Builder
	code := doMain(t.Context(), []string{"proxy", "--no-config", "--listen", "127.0.0.1:0", "--state", file,
		"--upstream", "http://127.0.0.1:1/v1"},
		env{stdin: strings.NewReader(""), stdout: io.Discard, stderr: &says, stateHome: t.TempDir()})
	if code == 0 || !strings.Contains(says.String(), file) || strings.Contains(says.String(), "panic") {
		t.Errorf("exit %d: %s", code, says.String())
	}
}
