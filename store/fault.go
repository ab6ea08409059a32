package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/lib/pq"

	"github.com/kagewasm/kagewasm/abi"
)

// fault is the error of an operation. What is an abi.Error already stays it.
func fault(op string, err error) error {
	var known *abi.Error
	var pg *pq.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &abi.Error{Code: abi.CodeCanceled, Op: "store." + op, Message: err.Error(), Err: err}
	case errors.As(err, &pg) && pg.Code == "57014": // a context ended, of which the server was told
		return &abi.Error{Code: abi.CodeCanceled, Op: "store." + op, Message: err.Error(), Err: err}
	case errors.As(err, &pg) && (pg.Code == "40001" || pg.Code == "40P01" || pg.Code == "23505"):
		return conflict(op, "somebody else was faster: %v", err)
	}
	return &abi.Error{Code: abi.CodeState, Op: "store." + op, Message: err.Error(), Err: err,
		Hint: "nothing of it was stored; look at the disk, or at the database's log"}
}

func conflict(op, format string, args ...any) error {
	return &abi.Error{Code: abi.CodeConflict, Op: "store." + op, Message: fmt.Sprintf(format, args...),
		Hint: "open the session again, and repeat what was to be done"}
}

func usage(op, format string, args ...any) error {
	return &abi.Error{Code: abi.CodeUsage, Op: "store." + op, Message: fmt.Sprintf(format, args...)}
}

// ErrUnknown is the cause of the error where there is no session, or compaction, of that id.
var ErrUnknown = errors.New("none of that id is stored")

// unknown is the error of a session that is not there.
func unknown(op, session string) error {
	return &abi.Error{Code: abi.CodeUsage, Op: "store." + op, Message: fmt.Sprintf("session %q: none of that id is stored",
		session), Hint: "list the sessions to see their ids", Err: ErrUnknown}
}
