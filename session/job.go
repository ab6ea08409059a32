package session

import (
	"context"
	"sync/atomic"

	kagewasm "github.com/kagewasm/kagewasm"
)

// Job is a compaction that runs beside what the host does, or that waits for the end of a turn or call.
// Its result is put into the session as soon as it is there, and so is in the next call of the model.
// Where the session was rolled back or compacted meanwhile the result is thrown away, and the job's error
// has the code conflict. A nil Job is one that has ended with nothing: before the first
// [Session.Background] has none.
type Job struct {
	ctx    context.Context
	cancel context.CancelFunc
	begun  atomic.Bool // or canceled before
	done   chan struct{}
	result *kagewasm.Result
	err    error
}

// newJob returns a job that is to be run. It goes on when ctx ends: that is the end of the caller's own work.
func newJob(ctx context.Context) *Job {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	return &Job{ctx: ctx, cancel: cancel, done: make(chan struct{})}
}

// begin begins the job, and reports false where it was canceled before.
func (j *Job) begin() bool { return j.begun.CompareAndSwap(false, true) }

// end is the end of a job that was begun.
func (j *Job) end(result *kagewasm.Result, err error) {
	j.result, j.err = result, err
	j.cancel()
	close(j.done)
}

// Poll returns the job's result and error, and whether it has ended. It never waits.
func (j *Job) Poll() (result *kagewasm.Result, done bool, err error) {
	if j == nil {
		return nil, true, nil
	}
	select {
	case <-j.done:
		return j.result, true, j.err
	default:
		return nil, false, nil
	}
}

// Done returns a channel that is closed when the job has ended.
func (j *Job) Done() <-chan struct{} {
	if j == nil {
		ended := make(chan struct{})
		close(ended)
		return ended
	}
	return j.done
}

// Waiting reports whether the job has not begun: a turn is open, or a call of the model is in flight.
func (j *Job) Waiting() bool { return j != nil && !j.begun.Load() }

// Cancel stops the job. The session stays as it was, and what was asked for is still asked for.
func (j *Job) Cancel() {
	if j == nil {
		return
	}
	j.cancel()
	if j.begin() {
		j.end(nil, canceled(j.ctx))
	}
}

func (j *Job) running() bool {
	_, done, _ := j.Poll()
	return !done
}
