package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/config"
)

// clock is a time that tests move.
type clock struct{ at atomic.Int64 }

func (c *clock) now() time.Time       { return time.Unix(0, c.at.Load()) }
func (c *clock) pass(d time.Duration) { c.at.Add(int64(d)) }

func newClock() *clock {
	c := new(clock)
	c.at.Store(time.Now().UnixNano())
	return c
}

// live opens a configuration under a clock that stands still until it is moved.
func live(t testing.TB, path string, heard func(*config.Config, error)) (*config.Live, *clock) {
	t.Helper()
	c := newClock()
	l, err := config.Open(path, config.LiveOptions{Now: c.now, OnReload: heard})
	if err != nil {
		t.Fatal(err)
	}
	return l, c
}

// TestT11ChangesTakeEffect: settings are read live, without a restart; the next
// check has them.
func TestT11ChangesTakeEffect(t *testing.T) {
	path := project(t, "compaction: {max_tokens: 100}\n")
	var heard []string
	l, clock := live(t, path, func(c *config.Config, err error) {
		heard = append(heard, fmt.Sprint(c.Policy("").MaxTokens, " ", err == nil))
	})
	want := func(why string, tokens int) {
		t.Helper()
		if got := l.Policy("").MaxTokens; got != tokens {
			t.Errorf("%s: %d, want %d", why, got, tokens)
		}
	}
	want("at first", 100)
	write(t, path, "compaction: {max_tokens: 200}\n") // same length, maybe the same time
	want("it is not looked at each time", 100)
	clock.pass(time.Second)
	want("the next check", 200)
	clock.pass(time.Second)
	want("and it stays", 200)

	// Editors write a new file and put it in place of the old one.
	write(t, path+".new", "compaction: {max_tokens: 300}\n")
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	clock.pass(time.Second)
	want("a new file in its place", 300)

	// Times can be set back; the length tells.
	write(t, path, "compaction: {max_tokens: 4000}\n")
	if err := os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	clock.pass(time.Hour)
	want("an old time", 4000)

	write(t, path, "compaction: {max_tokens: 4000}\n")
	clock.pass(time.Hour)
	want("written again, the same", 4000)
	if got, want := strings.Join(heard, ", "), "200 true, 300 true, 4000 true"; got != want {
		t.Errorf("heard %q, want %q", got, want)
	}
}

// TestT11BrokenKeepsLast: a broken file does not stop anything: the last good
// one stays, and the error can be seen.
func TestT11BrokenKeepsLast(t *testing.T) {
	path := project(t, "compaction: {max_tokens: 100}\n")
	var heard []error
	l, clock := live(t, path, func(_ *config.Config, err error) { heard = append(heard, err) })
	for why, breakIt := range map[string]func(){
		"a bad value": func() { write(t, path, "compaction: {max_tokens: x}\n") },
		"half a file": func() { write(t, path, "compaction: {max_to") },
		"gone":        func() { os.Remove(path) },
		"emptied":     func() { write(t, path, "") }, // as the first step of writing it
	} {
		heard = nil
		breakIt()
		clock.pass(time.Hour)
		if got := l.Policy("").MaxTokens; got != 100 {
			t.Errorf("%s: %d", why, got)
		}
		if err := l.Err(); abi.CodeOf(err) != abi.CodeBadInput || len(heard) != 1 || !errors.Is(heard[0], err) {
			t.Errorf("%s: error %v, heard %v", why, err, heard)
		}
		clock.pass(time.Hour)
		if l.Current(); len(heard) != 1 {
			t.Errorf("%s: said %d times", why, len(heard))
		}
		write(t, path, "compaction: {max_tokens: 100}\n")
		clock.pass(time.Hour)
		if err := l.Err(); err != nil {
			t.Errorf("%s: mended, and yet %v", why, err)
		}
	}
	if _, err := config.Open(path+".gone", config.LiveOptions{}); abi.CodeOf(err) != abi.CodeBadInput {
		t.Errorf("nothing to begin with: %v", err)
	}
}

// TestT11Prompts: prompts are live as well.
func TestT11Prompts(t *testing.T) {
	path := project(t, "prompt: project:/p.md\nagents: {a: {prompt: \"\"}}\n", "p.md", "one")
	dir := filepath.Dir(path)
	l, clock := live(t, path, nil)
	check := func(why, agent, want string) {
		t.Helper()
		clock.pass(time.Hour)
		if got := l.Policy(agent).Summarize.Prompt; got != want {
			t.Errorf("%s: %q, want %q (%v)", why, got, want, l.Err())
		}
	}
	check("at first", "", "one")
	write(t, filepath.Join(dir, "p.md"), "two")
	check("changed", "", "two")
	write(t, filepath.Join(dir, "p.md"), "")
	check("empty", "", "two")
	if l.Err() == nil {
		t.Error("an empty prompt is no error")
	}
	write(t, filepath.Join(dir, "p.md"), "three")
	check("mended", "", "three")
	write(t, filepath.Join(dir, defaultPrompt), "the operator's")
	check("the default prompt", "a", "the operator's")
}

// TestT11Reload: who cannot wait asks for it.
func TestT11Reload(t *testing.T) {
	path := project(t, "compaction: {max_tokens: 100}\n")
	l, _ := live(t, path, nil)
	write(t, path, "compaction: {max_tokens: 2}\n")
	if err := l.Reload(); err != nil || l.Policy("").MaxTokens != 2 {
		t.Errorf("%v, %d", err, l.Policy("").MaxTokens)
	}
	write(t, path, "nope")
	if err := l.Reload(); err == nil {
		t.Error("a broken file is no error")
	}
}

// TestLiveHammer is for the race detector: readers, and a file that changes and
// breaks. Each reader sees whole configurations alone.
func TestLiveHammer(t *testing.T) {
	path := project(t, "compaction: {max_tokens: 1, reserve_tokens: 1}\n")
	l, err := config.Open(path, config.LiveOptions{Every: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	var done atomic.Bool
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for !done.Load() {
				if p := l.Policy("a/b"); p.MaxTokens != p.ReserveTokens || p.MaxTokens == 0 {
					t.Errorf("half a configuration: %d and %d", p.MaxTokens, p.ReserveTokens)
				}
				_ = l.Err()
			}
		})
	}
	for i := range 40 {
		text := fmt.Sprintf("compaction: {max_tokens: %d, reserve_tokens: %d}\n", i+1, i+1)
		if i%3 == 0 {
			text = "compaction: {"
		}
		write(t, path, text)
		_ = l.Reload()
	}
	done.Store(true)
	readers.Wait()
	if err := l.Reload(); err == nil {
		t.Error("the last one was broken")
	}
}

// BenchmarkPolicy is what a decision before a call pays for live settings.
func BenchmarkPolicy(b *testing.B) {
	path := project(b, family)
	for _, c := range []struct {
		name  string
		every time.Duration
	}{{"unchanged", time.Hour}, {"looking", time.Nanosecond}} {
		b.Run(c.name, func(b *testing.B) {
			old := time.Now().Add(-time.Hour)
			if err := os.Chtimes(path, old, old); err != nil {
				b.Fatal(err)
			}
			l, err := config.Open(path, config.LiveOptions{Every: c.every})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				_ = l.Policy("main/reviewer")
			}
		})
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, c := range []struct{ name, yaml string }{{"small", family}, {"everything", uncommented()}} {
		b.Run(c.name, func(b *testing.B) {
			path := project(b, c.yaml, "prompts/handover.md", "hand it over")
			for b.Loop() {
				if _, err := config.Load(path, config.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
