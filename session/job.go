package session

import (
	"context"

	kagewasm "github.com/kagewasm/kagewasm"
)

// Job is a compaction that runs in the background. Its result is put into the session as soon as it is
// there, and so is in the next call of the model. Where the session was rolled back or compacted
// meanwhile the result is thrown away, and the job's error has the code conflict. A nil Job is one that has
// ended with nothing: before the first [Session.Background] has none.
type Job struct {
	done   chan struct{}
	cancel context.CancelFunc
	result *kagewasm.Result
	err    error
}

// start starts a job and returns at once. The job goes on when ctx ends: that is the end of the
// caller's own work.
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

// Cancel stops the job. The session stays as it was.
func (j *Job) Cancel() {
	if j != nil {
		j.cancel()
	}
}

func (j *Job) running() bool {
	_, done, _ := j.Poll()
	return !done
}
