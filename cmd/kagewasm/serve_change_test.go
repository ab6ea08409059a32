//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/config"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
)

// TestServeGoesOnWithBrokenPlugin: a module that cannot be loaded any more stalls no session of a running server.
// Agents in use go on with what they have, others without the plugin, which is a failure in each of their compactions.
func TestServeGoesOnWithBrokenPlugin(t *testing.T) {
	features.Proves(t, "K7")
	home, dir := filepath.Join(t.TempDir(), "state"), t.TempDir()
	module, file := filepath.Join(dir, "b.wasm"), filepath.Join(dir, config.FileName)
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const settings = "plugins: {summary: {path: b.wasm}}\ncompaction: {compactor: summary}\nagents: {other: {}}\n"
	write(module, string(misbehaving()["summary"]))
	write(file, settings)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	s := serveTo(t, log, os.Args[0], home, dir, "--listen", "none", "--config", file)
	compacted := func(id, agent, plan, failure string) {
		t.Helper()
		var made struct{ Key string }
		s.do(t, "POST", "/sessions", map[string]any{"id": id, "agent": agent, "context_window": 600}, &made)
		id = url.PathEscape(made.Key)
		s.do(t, "POST", "/sessions/"+id+"/messages", map[string]any{"messages": servetest.Chat(30)}, nil)
		var look service.Look
		s.do(t, "GET", "/sessions/"+id+"/context", nil, &look)
		by, failures := "", fmt.Sprint(look.Report.Failures)
		if look.Report.Source != nil {
			by = look.Report.Source.Name
		}
		if !look.Report.Compacted || by != plan || failure == "" && len(look.Report.Failures) > 0 ||
			!strings.Contains(failures, failure) {
			t.Errorf("%s: by %q, %v", id, by, failures)
		}
	}
	compacted("before", "", "summary", "")
	write(module, "junk")
	change := func(comment string) {
		write(file, settings+comment)
		time.Sleep(time.Second) // until it is looked for again
	}
	change("# changed\n")
	compacted("after", "", "summary", "")
	compacted("again", "", "summary", "")
	compacted("elsewhere", "other", "drop", "not a WebAssembly module")
	var list struct{ Plugins []service.Plugin }
	if s.do(t, "GET", "/plugins", nil, &list); !strings.Contains(list.Plugins[0].Error, "not a WebAssembly module") {
		t.Errorf("%+v", list.Plugins)
	}
	if said := string(read(t, log.Name())); strings.Count(said, "cannot be used") != 1 ||
		strings.Count(said, "cannot be loaded") != 1 {
		t.Errorf("the log: %s", said)
	}
	write(module, string(misbehaving()["summary"]))
	change("# repaired\n")
	compacted("repaired", "other", "summary", "")
}

// brokenPlugin is a compactor that cannot be loaded: its module, "" for none, whether a configuration names it or a
// flag, and what is said of it.
type brokenPlugin struct {
	module string
	config bool
	says   string
}

var brokenPlugins = map[string]brokenPlugin{
	"missing":           {"", true, "no such file"},
	"junk":              {"junk", true, "not a WebAssembly module"},
	"junk by a flag":    {"junk", false, "not a WebAssembly module"},
	"missing by a flag": {"", false, "no such file"},
}

// args puts it into a folder, as gone.wasm, and returns the flags that name it. The configuration has more settings of
// compactions, each behind a comma.
func (b brokenPlugin) args(t *testing.T, dir, more string) []string {
	t.Helper()
	module, file := filepath.Join(dir, "gone.wasm"), filepath.Join(dir, config.FileName)
	for name, text := range map[string]string{module: b.module,
		file: "plugins: {mine: {path: gone.wasm}}\ncompaction: {compactor: mine" + more + "}\n"} {
		if text == "" {
			continue
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if b.config {
		return []string{"--config", file}
	}
	return []string{"--no-config", "--plugin", module}
}

// TestServeBeginsWithBrokenPlugin: a compactor that is missing, or no module, when a server starts stalls no session:
// compactions go on by drop, each tells the failure in its report and in one event, and the server says so at once.
func TestServeBeginsWithBrokenPlugin(t *testing.T) {
	features.Proves(t, "K7")
	for name, tc := range brokenPlugins {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			args := tc.args(t, dir, "")
			log, err := os.Create(filepath.Join(t.TempDir(), "log"))
			if err != nil {
				t.Fatal(err)
			}
			defer log.Close()
			s := serveTo(t, log, os.Args[0], filepath.Join(t.TempDir(), "state"), dir, append([]string{"--listen", "none"},
				args...)...)
			if said := string(read(t, log.Name())); !strings.Contains(said, "gone.wasm") || !strings.Contains(said, tc.says) {
				t.Errorf("the log: %s", said)
			}
			var made struct{ Key string }
			s.do(t, "POST", "/sessions", map[string]any{"id": "s1", "context_window": 600}, &made)
			id := url.PathEscape(made.Key)
			s.do(t, "POST", "/sessions/"+id+"/messages", map[string]any{"messages": servetest.Chat(30)}, nil)
			var look service.Look
			s.do(t, "GET", "/sessions/"+id+"/context", nil, &look)
			if r := look.Report; !r.Compacted || r.Source == nil || r.Source.Name != "drop" ||
				len(r.Failures) != 1 || !strings.Contains(fmt.Sprint(r.Failures), tc.says) {
				t.Errorf("the report: %+v", r)
			}
			var audit struct{ Entries []json.RawMessage }
			s.do(t, "GET", "/audit?session="+url.QueryEscape(made.Key), nil, &audit)
			if all := fmt.Sprintf("%s", audit.Entries); strings.Count(all, `"type":"compaction.completed","session":`) != 1 ||
				strings.Contains(all, `"compaction.failed"`) {
				t.Errorf("the audit log has %d bytes", len(all))
			}
		})
	}
}
