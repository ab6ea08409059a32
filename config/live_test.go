package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/config"
	"github.com/kagewasm/kagewasm/internal/features"
)

// live follows a configuration.
func live(t testing.TB, path string) *config.Live {
	t.Helper()
	l, err := config.Follow(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestChangesTakeEffect: settings are read live, without a restart; the next
// check has them.
func TestChangesTakeEffect(t *testing.T) {
	features.Proves(t, "T11")
	path := project(t, "compaction: {max_tokens: 100}\n")
	l := live(t, path)
	last, readings := (*config.Config)(nil), 0
	want := func(why string, tokens int) {
		t.Helper()
		c, err := l.Current()
		if got := c.Policy("").When.MaxTokens; got != tokens || err != nil {
			t.Errorf("%s: %d, want %d (%v)", why, got, tokens, err)
		}
		if c != last {
			last = c
			readings++
		}
	}
	want("at first", 100)
	write(t, path, "compaction: {max_tokens: 200}\n") // same length, maybe the same time
	want("the next check", 200)
	want("and it stays", 200)

	// Editors write a new file and put it in place of the old one.
	write(t, path+".new", "compaction: {max_tokens: 300}\n")
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	want("a new file in its place", 300)

	// Times can be set back; the length tells.
	write(t, path, "compaction: {max_tokens: 4000}\n")
	if err := os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	want("an old time", 4000)

	write(t, path, "compaction: {max_tokens: 4000}\n")
	want("written again, the same", 4000)
	if readings != 4 {
		t.Errorf("it was read %d times, want once and for each of 3 changes", readings)
	}
}

// TestBrokenKeepsLast: a broken file does not stop anything: the last good
// one stays, and the error can be seen.
func TestBrokenKeepsLast(t *testing.T) {
	features.Proves(t, "T11")
	path := project(t, "compaction: {max_tokens: 100}\n")
	l := live(t, path)
	for why, breakIt := range map[string]func(){
		"a bad value": func() { write(t, path, "compaction: {max_tokens: x}\n") },
		"half a file": func() { write(t, path, "compaction: {max_to") },
		"gone":        func() { os.Remove(path) },
		"emptied":     func() { write(t, path, "") }, // as the first step of writing it
	} {
		t.Run(why, func(t *testing.T) {
			breakIt()
			c, broken := l.Current()
			if got := c.Policy("").When.MaxTokens; got != 100 {
				t.Errorf("%d", got)
			}
			if abi.CodeOf(broken) != abi.CodeBadInput {
				t.Errorf("error %v", broken)
			}
			if again, err := l.Current(); again != c || err != broken {
				t.Errorf("it was read again: %v", err)
			}
			write(t, path, "compaction: {max_tokens: 100}\n")
			if _, err := l.Current(); err != nil {
				t.Errorf("fixed, and yet %v", err)
			}
		})
	}
	if _, err := config.Follow(path + ".gone"); abi.CodeOf(err) != abi.CodeBadInput {
		t.Errorf("nothing to begin with: %v", err)
	}
}

// TestPrompts: prompts are live as well.
func TestPrompts(t *testing.T) {
	features.Proves(t, "T11")
	path := project(t, "prompt: project:/p.md\nagents: {a: {prompt: \"\"}}\n", "p.md", "one")
	dir := filepath.Dir(path)
	l := live(t, path)
	check := func(why, agent, want string) {
		t.Helper()
		c, err := l.Current()
		if got := c.Policy(agent).Summarize.Prompt; got != want {
			t.Errorf("%s: %q, want %q (%v)", why, got, want, err)
		}
	}
	check("at first", "", "one")
	write(t, filepath.Join(dir, "p.md"), "two")
	check("changed", "", "two")
	write(t, filepath.Join(dir, "p.md"), "")
	check("empty", "", "two")
	if _, err := l.Current(); err == nil {
		t.Error("an empty prompt is no error")
	}
	write(t, filepath.Join(dir, "p.md"), "three")
	check("fixed", "", "three")
	write(t, filepath.Join(dir, defaultPrompt), "the operator's")
	check("the default prompt", "a", "the operator's")
}

// TestLiveHammer is for the race detector: readers, and a file that changes and
// breaks. Each reader sees whole configurations alone.
func TestLiveHammer(t *testing.T) {
	path := project(t, "compaction: {max_tokens: 1, reserve_tokens: 1}\n")
	l := live(t, path)
	var done atomic.Bool
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for !done.Load() {
				c, _ := l.Current()
				if p := c.Policy("a/b"); p.When.MaxTokens != p.When.ReserveTokens || p.When.MaxTokens == 0 {
					t.Errorf("half a configuration: %d and %d", p.When.MaxTokens, p.When.ReserveTokens)
				}
			}
		})
	}
	for i := range 40 {
		text := fmt.Sprintf("compaction: {max_tokens: %d, reserve_tokens: %d}\n", i+1, i+1)
		if i%3 == 0 {
			text = "compaction: {"
		}
		write(t, path, text)
		_, _ = l.Current()
	}
	done.Store(true)
	readers.Wait()
	if _, err := l.Current(); err == nil {
		t.Error("the last one was broken")
	}
}

// BenchmarkPolicy is what a decision before a call pays for live settings.
func BenchmarkPolicy(b *testing.B) {
	for _, c := range []struct{ name, yaml string }{{"small", family}, {"everything", uncommented()}} {
		b.Run(c.name, func(b *testing.B) {
			l := live(b, project(b, c.yaml, "prompts/handover.md", "hand it over"))
			for b.Loop() {
				c, _ := l.Current()
				_ = c.Policy("main/reviewer")
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, c := range []struct{ name, yaml string }{{"small", family}, {"everything", uncommented()}} {
		b.Run(c.name, func(b *testing.B) {
			path := project(b, c.yaml, "prompts/handover.md", "hand it over")
			for b.Loop() {
				if _, err := config.Load(path); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
