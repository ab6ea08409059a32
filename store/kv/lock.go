package kv

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"

	"github.com/kagewasm/kagewasm/abi"
)

// lockName is the file whose lock a change holds. No namespace begins with a
// dot.
const lockName = ".lock"

// lockRetry is how long a change waits before it tries again for a lock that
// another process holds: systems have no call that waits and can be ended.
const lockRetry = 5 * time.Millisecond

// lock lets one change at a time through, of this process and of all.
type lock struct {
	root *os.Root
	own  chan struct{} // of this process: full while one holds it
	all  *flock.Flock
}

func newLock(root *os.Root) *lock {
	path := filepath.Join(root.Name(), lockName)
	return &lock{root: root, own: make(chan struct{}, 1), all: flock.New(path, flock.SetPermissions(0o600))}
}

// take begins a change, which ends with the function it returns. Where the
// system has no locks on files, changes of other processes may fall between.
// The error is CodeDeadline or CodeCanceled where ctx ends first.
func (l *lock) take(ctx context.Context, op string) (release func(), err error) {
	select {
	case l.own <- struct{}{}:
	case <-ctx.Done():
		return nil, ended(op, ctx.Err())
	}
	switch err := l.takeFile(ctx); {
	case err == nil:
		return func() { _ = l.all.Unlock(); <-l.own }, nil // closing it releases it in any case
	case errors.Is(err, errors.ErrUnsupported):
		return func() { <-l.own }, nil
	case ctx.Err() != nil:
		<-l.own
		return nil, ended(op, ctx.Err())
	default:
		<-l.own
		return nil, notLocked(op, err)
	}
}

// notLocked says of a folder that nothing can be written to what to do.
func notLocked(op string, err error) error {
	fault := abi.AsError(kvFault(op, err))
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		fault.Hint = "nothing can be written there: give another folder (--state DIR), or keep nothing (--state :memory:)"
	}
	return fault
}

// takeFile locks the file, which is below the folder or no file at all.
func (l *lock) takeFile(ctx context.Context) error {
	f, err := l.root.OpenFile(lockName, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	_, err = l.all.TryLockContext(ctx, lockRetry)
	return err
}
