package kagewasm_test

import (
	"context"
	"os"
	"path/filepath"
	goruntime "runtime"
	"syscall"
	"testing"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/transcript"
)

// looked is a context that notes when it is looked at, in processor time of the
// thread, and is done from a look on.
type looked struct {
	context.Context
	looks, until  int // 0: it is never done
	last, longest time.Duration
	done          time.Duration // when it was
}

// Err implements context.Context.
func (l *looked) Err() error {
	now := threadTime()
	l.looks++
	if l.until > 0 && l.looks >= l.until {
		if l.done == 0 {
			l.done = now
		}
		return context.Canceled
	}
	l.longest, l.last = max(l.longest, now-l.last), now
	return nil
}

func threadTime() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var r syscall.Rusage
	if err := syscall.Getrusage(thread, &r); err != nil {
		panic(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// TestStopsSoon: a compaction looks at its context all the time, and ends soon after
// that is done, wherever it is; the session is then as it was.
func TestStopsSoon(t *testing.T) {
	const soon = 50 * time.Millisecond // of processor time; the promise is 100
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	paths := shared.Glob(t, "data", "formats", "pi-session.jsonl")
	if len(paths) == 0 {
		t.Skip("no large session here")
	}
	data, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	session, err := transcript.Read(paths[0], data, transcript.Auto)
	if err != nil {
		t.Fatal(err)
	}
	msgs := session.Live()
	counter := realCounter()
	counter.Text("the ranks are loaded once in a process")
	compacted := func(ctx *looked) (*kagewasm.Result, error) {
		window := 100_000
		ctx.Context, ctx.last = t.Context(), threadTime()
		return newCompactor(t, kagewasm.Options{Counter: counter}).Compact(ctx, kagewasm.Request{
			Session: abi.Session{ID: filepath.Base(paths[0]), ContextWindow: &window}, Messages: msgs, Force: true})
	}
	if _, err := compacted(new(looked)); err != nil { // what is counted once is known: later ones look less often
		t.Fatal(err)
	}
	var whole looked
	if r, err := compacted(&whole); err != nil || !r.Report.Compacted {
		t.Fatal(err)
	}
	if whole.longest > soon {
		t.Errorf("it did not look for %v", whole.longest)
	}
	moments := soak.Count(2, 10, 100)
	for i := range moments {
		ctx := looked{until: 1 + whole.looks*i/moments}
		r, err := compacted(&ctx)
		took := threadTime() - ctx.done
		if abi.CodeOf(err) != abi.CodeCanceled || r.Report.Compacted || len(r.Messages) != len(msgs) {
			t.Errorf("at look %d of %d: %v, %+v", ctx.until, whole.looks, err, r.Report.ReasonCode)
		}
		if took > soon {
			t.Errorf("it ended %v after look %d of %d, when it was to stop", took, ctx.until, whole.looks)
		}
	}
}
