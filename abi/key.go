package abi

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxKeyBytes is how long the key of a stored value may be.
	MaxKeyBytes = 512
	// MaxKeySegments is how many "/"-separated segments it may have.
	MaxKeySegments = 16
)

// KeyConflict is the error where a key does not hold the value that was
// expected.
func KeyConflict(key string) *Error {
	message := fmt.Sprintf("key %q: another value stands there", key)
	return &Error{Code: CodeConflict, Message: message, Hint: "read it again, and change that"}
}

// CheckKey reports why s cannot be the key of a stored value, or nil; see
// [KVRequest] for the rules.
func CheckKey(s string) error {
	switch {
	case s == "":
		return errors.New("key: empty")
	case len(s) > MaxKeyBytes:
		return fmt.Errorf("key: %d bytes, %d allowed", len(s), MaxKeyBytes)
	case !utf8.ValidString(s):
		return errors.New("key: invalid utf-8")
	case strings.IndexFunc(s, unicode.IsControl) >= 0:
		return fmt.Errorf("key %q: control characters", s)
	case strings.Count(s, "/") >= MaxKeySegments:
		return fmt.Errorf("key %q: more than %d segments", s, MaxKeySegments)
	}
	for seg := range strings.SplitSeq(s, "/") {
		if seg == "" || seg == "." || seg == ".." {
			return fmt.Errorf("key %q: segment %q", s, seg)
		}
	}
	return nil
}
