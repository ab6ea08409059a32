package service

import (
	"context"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/turns"
	"github.com/kagewasm/kagewasm/session"
)

// task is a compaction that an open session makes when no turn of it is open and no call in flight. Nobody has to wait
// for it.
type task struct {
	id     string
	job    *session.Job
	done   chan struct{} // closed when what came of it is kept
	marked bool          // other processes know that it runs; under live.mu
}

// follow keeps what comes of a job of an open session.
func (s *loop) follow(ctx context.Context, l *live, open *session.Session, job *session.Job) *task {
	_, release := s.take(l.key)
	l.mu.Lock()
	t, known := l.task, l.task != nil && l.task.job == job
	if !known {
		t = &task{id: turns.NewCall(), job: job, done: make(chan struct{})}
		l.task = t
	}
	l.mu.Unlock()
	s.markTask(ctx, l)
	if known {
		release()
		return t
	}
	s.runs.Go(func() {
		defer release()
		defer close(t.done)
		<-job.Done()
		s.keepRequests(ctx, l, open)
		result, _, err := job.Poll()
		if result != nil {
			l.compacted(&result.Report)
			if r := &result.Report; err == nil && !r.Compacted && len(r.Failures) > 0 {
				err = r.Failures[len(r.Failures)-1]
			}
		}
		if err != nil && abi.CodeOf(err) != abi.CodeCanceled {
			s.opts.Log.ErrorContext(ctx, "the compaction behind a turn failed", "session", l.key, "error", err)
		}
		s.unmarkTask(ctx, l, t)
	})
	return t
}

// markTask tells other processes that the last task runs, where it does: what was asked for is not theirs to do.
func (s *loop) markTask(ctx context.Context, l *live) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.task
	if t == nil || t.marked || t.job.Waiting() {
		return
	}
	t.marked = true
	if _, ended, _ := t.job.Poll(); ended {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTime)
	defer cancel()
	if err := turns.BeginCompaction(ctx, s.store, l.key, t.id, s.opts.CallTime); err != nil {
		s.opts.Log.Error("other servers do not know of a compaction", "session", l.key, "error", err)
	}
}

// unmarkTask takes the mark of a task that has ended away.
func (s *loop) unmarkTask(ctx context.Context, l *live, t *task) {
	l.mu.Lock()
	marked := t.marked
	t.marked = true // not any more
	l.mu.Unlock()
	if marked {
		s.unmark(ctx, l.key, t.id)
	}
}

// wait waits for the end of a task, so long at most, and reports whether it has ended.
func (t *task) wait(ctx context.Context, most time.Duration) bool {
	if most <= 0 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	select {
	case <-t.done:
		return true
	case <-ctx.Done():
		return false
	}
}

// dropTask gives a task up that has not begun, where the session is opened again. What was asked for is kept.
func (l *live) dropTask() {
	if l.task != nil && l.task.job.Waiting() {
		l.task.job.Cancel()
	}
}
