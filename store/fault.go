package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/lib/pq"
	"modernc.org/sqlite"

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
	e := &abi.Error{Code: abi.CodeState, Op: "store." + op, Message: err.Error(), Err: err,
		Hint: "nothing was changed; look at the disk, or at the database's log"}
	if damage := damaged(err); damage != "" {
		e.Message = damage
		e.Hint = "put a copy in its place, or move it away to begin with an empty one; sqlite3's .recover may save what is " +
			"left"
	}
	return e
}

// damaged says what is wrong with a file that SQLite cannot read as a database; empty where that is not it.
func damaged(err error) string {
	const corrupt, notADatabase, primary = 11, 26, 0xff // SQLite's result codes, the last byte of those that say more
	var lite *sqlite.Error
	if !errors.As(err, &lite) {
		return ""
	}
	switch lite.Code() & primary {
	case corrupt:
		return "the database is damaged"
	case notADatabase:
		return "the file is no database, or it is damaged"
	}
	return ""
}

func conflict(op, format string, args ...any) error {
	return &abi.Error{Code: abi.CodeConflict, Op: "store." + op, Message: fmt.Sprintf(format, args...),
		Hint: "open the session again, and repeat what was to be done"}
}

// usage is the error of who asked for what cannot be. It says of what, so no operation stands before it.
func usage(format string, args ...any) error {
	return &abi.Error{Code: abi.CodeUsage, Message: fmt.Sprintf(format, args...)}
}

// ErrUnknown is the cause of the error where there is no session, or compaction, of that id.
var ErrUnknown = errors.New("none of that id is stored")

// unknown is the error of a session that is not there.
func unknown(session string) error {
	return &abi.Error{Code: abi.CodeUsage, Message: fmt.Sprintf("session %q: none of that id is stored", session),
		Hint: "list the sessions to see their ids", Err: ErrUnknown}
}

// shared is the error of a session that is not there by itself: agents share its id, so their keys name them.
func shared(id string, keys []string) error {
	return &abi.Error{Code: abi.CodeUsage, Err: ErrUnknown,
		Message: fmt.Sprintf("session %q: agents share that id, and it may be %s", id, strings.Join(keys, " or ")),
		Hint:    "give one of them; in an address # is written %23"}
}
