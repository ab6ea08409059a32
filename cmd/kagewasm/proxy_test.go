//go:build unix

package main

import (
	"bufio"
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
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/proxy"
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
	said, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	lines := bufio.NewScanner(said)
	for at == "" && lines.Scan() {
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
	}, at
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
