package plugins_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/lineage"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/store/kv"
)

// compactorVariable makes the test's own binary compact without end: the folders of
// the storage and of compiled modules, and the modules.
const compactorVariable = "PLUGINS_TEST_COMPACTOR"

// compactForever compacts one conversation after the other with hindsight and
// markdown, and says which are done.
func compactForever(where string) error {
	ctx := context.Background()
	paths := filepath.SplitList(where)
	kv, err := kv.Open(paths[0], kv.Options{})
	if err != nil {
		return err
	}
	rt, err := runtime.New(ctx, runtime.Options{KV: kv, Counter: byLength{}, CacheDir: paths[1]})
	if err != nil {
		return err
	}
	var list []hooks.Plugin
	for _, path := range paths[2:] {
		p, err := plugintest.LoadFile(ctx, rt, path, runtime.PluginOptions{
			Grants: runtime.Grants{KV: true}, Limits: abi.Limits{TimeoutMS: 60_000},
		})
		if err != nil {
			return err
		}
		list = append(list, p)
	}
	c, err := kagewasm.New(kagewasm.Options{Counter: byLength{}, Plugins: list, Memory: kv,
		Policy: kagewasm.Policy{ObserverWaitMS: 60_000}})
	if err != nil {
		return err
	}
	window := 6000
	for i := 0; ; i++ {
		topic := fmt.Sprintf("%d-%d", os.Getpid(), i)
		result, err := c.Compact(ctx, kagewasm.Request{
			Session: abi.Session{ID: topic, ContextWindow: &window}, Messages: conversation(20, topic), Force: true,
		})
		if err != nil {
			return err
		}
		if len(result.Report.Failures) > 0 {
			return result.Report.Failures[0]
		}
		fmt.Println(topic)
	}
}

// TestKilledCompactions: whenever a compaction with two plugins is killed, what
// those before it stored is there, whose it is is known, and the next one goes on.
func TestKilledCompactions(t *testing.T) {
	features.Proves(t, "K28")
	given := []string{plugintest.CacheDir(t)}
	for _, n := range []string{"markdown", "hindsight"} {
		load(t, n, runtime.Options{KV: kv.NewMemory(kv.Options{})}, runtime.PluginOptions{}) // compiles it
		given = append(given, plugintest.GuestFile(t, "plugins/"+n))
	}
	dir := t.TempDir()
	done := 0
	for round := range soak.Count(2, 12, 300) {
		if round%10 == 9 {
			dir = t.TempDir() // before what is kept takes long to read
		}
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), compactorVariable+"="+strings.Join(append([]string{dir}, given...),
			string(filepath.ListSeparator)))
		said, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var errs strings.Builder
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines, topics := bufio.NewScanner(said), []string(nil)
		for len(topics) < 1+round%2 && lines.Scan() {
			topics = append(topics, lines.Text())
		}
		time.Sleep(time.Duration(round*37%400) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			topics = append(topics, lines.Text())
		}
		_ = cmd.Wait() // it was killed
		if len(topics) == 0 {
			t.Fatalf("nothing was compacted: %s", errs.String())
		}
		done += len(topics)
		isWhole(t, dir, topics)
	}
	t.Logf("%d compactions were done", done)
}

// isWhole fails unless everything that was said in the conversations and went is
// remembered, and every record and value can be read.
func isWhole(t *testing.T, dir string, topics []string) {
	t.Helper()
	kv, err := kv.Open(dir, kv.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer kv.Close()
	now := remembered(t, kv)
	for _, topic := range topics {
		for _, m := range conversation(20, topic)[:30] {
			if !now[m.Text()] {
				t.Fatalf("%s was done, and this is not remembered: %.60q", topic, m.Text())
			}
		}
	}
	for _, ns := range []string{"hindsight", "markdown"} {
		if err := lineage.Check(t.Context(), kv, ns); err != nil {
			t.Error(err)
		}
		keys, err := kv.List(t.Context(), ns, "")
		if err != nil || len(keys) == 0 {
			t.Errorf("%s: %d keys, %v", ns, len(keys), err)
		}
		for _, k := range keys {
			if v, ok, err := kv.Get(t.Context(), ns, k); err != nil || !ok || v == "" {
				t.Errorf("%s %s: %d bytes, %v", ns, k, len(v), err)
			}
		}
	}
}

// killMain runs the compactor where the environment says so.
func killMain() {
	where := os.Getenv(compactorVariable)
	if where == "" {
		return
	}
	fmt.Fprintln(os.Stderr, compactForever(where))
	os.Exit(1)
}
