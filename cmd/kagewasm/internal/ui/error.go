package ui

import (
	"errors"
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
)

// Exit codes of the process.
const (
	ExitOK      = 0 // done; so is a session with nothing to do, and a fallback
	ExitFailure = 1
	ExitUsage   = 2 // a command line or an input that makes no sense: nothing was run
)

// usageError is a command line that makes no sense.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

// As makes it an error of the code usage for whoever asks for a code, such as the pages of a server, where the cause
// has none of its own.
func (u usageError) As(target any) bool {
	to, ok := target.(**abi.Error)
	if _, coded := errors.AsType[*abi.Error](u.error); !ok || coded {
		return false
	}
	*to = &abi.Error{Code: abi.CodeUsage, Message: u.Error(), Err: u.error}
	return true
}

// Usagef is a command line that makes no sense, in words.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// usageCodes are failures of what the person gave us: nothing was run.
var usageCodes = map[abi.Code]bool{abi.CodeUsage: true, abi.CodeBadInput: true, abi.CodeRefused: true}

// ExitCode returns the exit code for an error.
func ExitCode(err error) int {
	if _, ok := errors.AsType[usageError](err); ok || usageCodes[abi.CodeOf(err)] {
		return ExitUsage
	}
	return ExitFailure
}

// Error says what went wrong, where, and what to do.
func Error(p Printer, err error) {
	p.failed("kagewasm:", err)
}

// failed says what went wrong behind a word of ours, and what to do below.
func (p Printer) failed(word string, err error) {
	p.lines(p.paint(red, word), err.Error())
	if a, ok := errors.AsType[*abi.Error](err); ok && a.Hint != "" {
		p.Linef("  %s", p.paint(dim, a.Hint))
	}
}
