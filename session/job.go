package session

import (
	"context"
	kagewasm "github.com/kagewasm/kagewasm"
)

// Job is a compaction that runs in the background (FEATURES I6).
type Job struct {
	done   chan struct{}
	cancel context.CancelFunc
	result *kagewasm.Result
	err    error
}

// start compacts in the background and returns at once. The job goes on when
// ctx's deadline or cancellation would have ended the caller's own work;
// [Job.Cancel] ends it.
func start(ctx context.Context, compact func(context.Context) (*kagewasm.Result, error)) *Job {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	j := &Job{done: make(chan struct{}), cancel: cancel}
	go func() {
		defer cancel()
		defer close(j.done)
		j.result, j.err = compact(ctx)
	}()
	return j
}

// Poll is what came of the job, and whether it has ended; it never waits.
func (j *Job) Poll() (result *kagewasm.Result, done bool, err error) {
	select {
	case <-j.done:
		return j.result, true, j.err
	default:
		return nil, false, nil
	}
}

// Done is closed when the job has ended.
func (j *Job) Done() <-chan struct{} { return j.done }

// Cancel gives the job up. The session stays as it was.
func (j *Job) Cancel() { j.cancel() }

// background starts a job for the session, one at a time. Its result takes its
// place as soon as it is there, and so is in the next call; where the session
// was rolled back or compacted meanwhile it is thrown away. What was asked for
// waits for the next one where a job is at work, or the operator has to decide.
func (s *Session) background(ctx context.Context, req kagewasm.Request, asked int) {
	if s.awaited() != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.job != nil {
		if _, done, _ := s.job.Poll(); !done {
			return
		}
	}
	s.job = start(ctx, func(ctx context.Context) (*kagewasm.Result, error) {
		return s.grant(req, asked, func(req kagewasm.Request) (*kagewasm.Result, error) { return s.lookOnce(ctx, req) })
	})
}

// Background is the session's last job in the background, nil before the first.
func (s *Session) Background() *Job {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.job
}
