// Package fail makes the errors of the kit. An empty plugin is none.
package fail

import "github.com/kagewasm/kagewasm/abi"

// Usage is what somebody asked for that cannot be, and what to do about it.
func Usage(op, plugin, message, hint string, err error) error {
	return &abi.Error{Code: abi.CodeUsage, Op: op, Plugin: plugin, Message: message, Hint: hint, Err: err}
}

// Internal is a failure of the machine's: a disk, a folder.
func Internal(op, plugin string, err error) error {
	return &abi.Error{Code: abi.CodeInternal, Op: op, Plugin: plugin, Message: err.Error(), Err: err}
}
