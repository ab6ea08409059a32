package kagewasm_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
)

// TestNothingIsLostOfLateObservers: an observer that nobody waits for, also after the caller's
// context is done, has what it retains stored, in the audit log, and in the report for who
// settles it.
func TestNothingIsLostOfLateObservers(t *testing.T) {
	features.Proves(t, "O1")
	release := make(chan struct{})
	slow := func(in *abi.Input) (*abi.Output, error) {
		<-release
		return &abi.Output{Retain: []string{"a fact of " + string(in.Hook)}, Inject: "too late"}, nil
	}
	var mu sync.Mutex
	var observed []*kagewasm.Report
	mem := memory{}
	c := newCompactor(t, kagewasm.Options{Memory: mem, Plugins: plugins(&fakePlugin{Name: "obs", Pre: slow, Post: slow}),
		Policy: kagewasm.Policy{ObserverWaitMS: -1},
		Audit: func(e kagewasm.Event) {
			if e.Type == kagewasm.EventObserved {
				mu.Lock()
				defer mu.Unlock()
				observed = append(observed, e.Report)
			}
		}})
	ctx, cancel := context.WithCancel(t.Context())
	r, err := c.Compact(ctx, request(400, chat(60)))
	if err != nil || !r.Report.Compacted || len(r.Report.Inserted) != 1 || len(r.Report.Retained) > 0 {
		t.Fatalf("%+v, %v", r.Report, err)
	}
	for _, o := range r.Report.Hooks {
		if o.Outcome != hooks.OutcomeLate || len(o.Warnings) == 0 {
			t.Errorf("the report says of it: %+v", o)
		}
	}
	cancel()
	if err := c.Wait(ctx); abi.CodeOf(err) != abi.CodeCanceled {
		t.Errorf("waited for by nobody: %v", err)
	}
	close(release)
	if err := r.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(r.Report.Hooks) != 2 || r.Report.Hooks[0].Outcome != "ok" || r.Report.Hooks[1].Outcome != "ok" ||
		len(r.Report.Retained) != 2 || len(mem) != 2 {
		t.Errorf("settled: %+v, retained %v, stored %v", r.Report.Hooks, r.Report.Retained, mem)
	}
	if len(observed) != 2 || len(observed[0].Retained) != 1 || len(observed[0].Hooks) != 1 {
		t.Errorf("the audit log has %d entries", len(observed))
	}
	if err := r.Settle(t.Context()); err != nil || len(r.Report.Retained) != 2 {
		t.Errorf("settled twice: %v", err)
	}
}

// TestOneHalfSecond: a slow observer holds a compaction up once, before it. After it, where only what is retained
// counts, it goes on at once, and what it retains is there once it has ended.
func TestOneHalfSecond(t *testing.T) {
	features.Proves(t, "O1")
	synctest.Test(t, func(t *testing.T) {
		slow := func(in *abi.Input) (*abi.Output, error) {
			time.Sleep(3 * time.Second)
			return &abi.Output{Retain: []string{"a fact of " + string(in.Hook)}}, nil
		}
		mem := memory{}
		c := newCompactor(t, kagewasm.Options{Memory: mem, Policy: kagewasm.Policy{ObserverWaitMS: 500},
			Plugins: plugins(&fakePlugin{Name: "both", Pre: slow, Post: slow}, &fakePlugin{Name: "after", Post: slow},
				&fakePlugin{Name: "quick", Post: answers(&abi.Output{Retain: []string{"at once"}})})})
		start := time.Now()
		r, err := c.Compact(t.Context(), request(400, chat(60)))
		if took := time.Since(start); err != nil || took > 600*time.Millisecond {
			t.Errorf("it took %v, %v", took, err)
		}
		if len(r.Report.Retained) != 1 || r.Report.Retained[0].Plugin != "quick" {
			t.Errorf("retained by then: %v", r.Report.Retained)
		}
		if err := c.Wait(t.Context()); err != nil || len(mem) != 4 {
			t.Errorf("stored %v, %v", mem, err)
		}
	})
}
