package plugins_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/plugins/hindsight/bank"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/store/kv"
)

// disk is a storage on a disk that is full from a write on.
type disk struct {
	*kv.Memory
	left   int // writes; negative is as many as there are
	failed int
}

func (d *disk) write() error {
	if d.left == 0 {
		d.failed++
		return &abi.Error{Code: abi.CodeInternal, Op: "kv.set", Message: "no space left on device", Err: syscall.ENOSPC}
	}
	d.left--
	return nil
}

func (d *disk) Set(ctx context.Context, ns, key, value string) error {
	if err := d.write(); err != nil {
		return err
	}
	return d.Memory.Set(ctx, ns, key, value)
}

func (d *disk) Swap(ctx context.Context, ns, key, expect, value string) error {
	if err := d.write(); err != nil {
		return err
	}
	return d.Memory.Swap(ctx, ns, key, expect, value)
}

// snapshot is everything that is stored.
func (d *disk) snapshot(t *testing.T) map[string]string {
	all := make(map[string]string)
	for _, ns := range []string{"_lineage", "hindsight", "markdown"} {
		keys, err := d.List(t.Context(), ns, "")
		for _, k := range keys {
			var v string
			if v, _, err = d.Get(t.Context(), ns, k); err != nil {
				break
			}
			all[ns+" "+k] = v
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func diskOf(t *testing.T, all map[string]string, left int) *disk {
	d := &disk{Memory: kv.NewMemory(kv.Options{}), left: left}
	for name, v := range all {
		ns, key, _ := strings.Cut(name, " ")
		if err := d.Memory.Set(t.Context(), ns, key, v); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// reader reads a storage.
type reader interface {
	Get(ctx context.Context, ns, key string) (value string, found bool, err error)
	List(ctx context.Context, ns, prefix string) ([]string, error)
}

// guestKV is hindsight's part of a storage, as its bank sees it.
type guestKV struct{ reader }

func (g guestKV) Get(key string) (string, bool, error) {
	return g.reader.Get(context.Background(), "hindsight", key)
}
func (g guestKV) List(prefix string) ([]string, error) {
	return g.reader.List(context.Background(), "hindsight", prefix)
}
func (guestKV) Set(string, string) error          { return errors.ErrUnsupported }
func (guestKV) Swap(string, string, string) error { return errors.ErrUnsupported }
func (guestKV) Delete(string) error               { return errors.ErrUnsupported }

// remembered are the texts in hindsight's bank.
func remembered(t *testing.T, kv reader) map[string]bool {
	t.Helper()
	b, err := bank.Open(guestKV{kv}, "banks/kagewasm/")
	if err != nil {
		t.Fatal(err)
	}
	hits, err := b.Recall(bank.Query{Text: "topic", Limit: 100_000, TextBytes: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	texts := make(map[string]bool)
	for _, h := range hits {
		texts[h.Memory.Text] = true
	}
	return texts
}

// conversation is a session of n exchanges about a topic.
func conversation(n int, topic string) (msgs []abi.Message) {
	for i := range n {
		msgs = append(msgs,
			abi.Message{ID: fmt.Sprintf("u%d", i), Role: abi.RoleUser,
				Content: abi.Text(fmt.Sprintf("topic %s: we decided to keep part %d as it is, always.", topic, i))},
			abi.Message{ID: fmt.Sprintf("a%d", i), Role: abi.RoleAssistant,
				Content: abi.Text(fmt.Sprintf("topic %s: the root cause in part %d is a missing lock. %s", topic, i,
					strings.Repeat("Details. ", 50)+"All."))})
	}
	return msgs
}

// compactOn compacts a conversation over a disk, with hindsight and markdown.
func compactOn(t *testing.T, d *disk, topic string) *kagewasm.Result {
	var list []hooks.Plugin
	for _, n := range []string{"markdown", "hindsight"} {
		list = append(list, load(t, n, runtime.Options{KV: d}, runtime.PluginOptions{}))
	}
	c, err := kagewasm.New(kagewasm.Options{Counter: byLength{}, Plugins: list, Memory: d,
		Policy: kagewasm.Policy{ObserverWaitMS: 60_000}})
	if err != nil {
		t.Fatal(err)
	}
	window := 6000
	result, err := c.Compact(t.Context(), kagewasm.Request{
		Session:  abi.Session{ID: topic, ContextWindow: &window},
		Messages: conversation(40, topic), Force: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// TestFullDisk: whichever write of a compaction with two plugins is the first to
// fail, it is said, what was remembered before is, and where hindsight's cut is
// made all that goes is remembered.
func TestFullDisk(t *testing.T) {
	features.Proves(t, "K28")
	before := diskOf(t, nil, -1)
	if r := compactOn(t, before, "first").Report; len(r.Failures) > 0 || r.Source.Name != "hindsight" {
		t.Fatalf("%+v", r)
	}
	known, stored := remembered(t, before), before.snapshot(t)
	if len(known) < 70 {
		t.Fatalf("%d texts", len(known))
	}
	count := diskOf(t, stored, 1<<20)
	compactOn(t, count, "second")
	writes := 1<<20 - count.left
	if writes < 10 {
		t.Fatalf("%d writes", writes)
	}
	all := make([]int, writes)
	for i := range all {
		all[i] = i
	}
	for _, at := range soak.Sample(all, 2, writes) {
		t.Run(fmt.Sprintf("from write %d of %d", at, writes), func(t *testing.T) {
			d := diskOf(t, stored, at)
			result := compactOn(t, d, "second")
			r, now := result.Report, remembered(t, d)
			if d.failed == 0 || !r.Compacted {
				t.Fatalf("%d writes failed, compacted %v", d.failed, r.Compacted)
			}
			if !slices.ContainsFunc(r.Failures, func(e *abi.Error) bool { return e.Code == abi.CodeState }) {
				t.Errorf("nothing is said: %v", r.Failures)
			}
			for text := range known {
				if !now[text] {
					t.Errorf("not remembered any more: %.60q", text)
				}
			}
			for name, v := range stored {
				if strings.HasPrefix(name, "markdown memory/") && d.snapshot(t)[name] == "" && v != "" {
					t.Errorf("%s is gone", name)
				}
			}
			for _, f := range r.Retained {
				if !strings.Contains(strings.Join(slices.Collect(maps.Values(d.snapshot(t))), "\n"),
					strings.ReplaceAll(f.Text, `"`, `\"`)) {
					t.Errorf("said to be retained, and it is not: %.60q", f.Text)
				}
			}
			if r.Source.Name != "hindsight" {
				return // the host's strategy followed
			}
			for _, m := range conversation(40, "second") {
				if slices.Contains(r.Superseded, m.ID) && !now[m.Text()] {
					t.Errorf("it goes and is not remembered: %.60q", m.Text())
				}
			}
		})
	}
}
