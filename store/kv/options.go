package kv

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
)

// Options are the quotas of a storage, for each namespace. The zero value is the
// strict default.
type Options struct {
	// MaxBytes is what all values of a namespace may hold. Default 64 MiB.
	MaxBytes int64
	// MaxKeys is how many keys a namespace may have. Default 100,000.
	MaxKeys int
	// MaxValueBytes is how long a value may be. Default 1 MiB.
	MaxValueBytes int
	// MaxDiskBytes is what a namespace may take on the disk, counted in blocks of
	// 4 KiB, at least one for each value and each folder. Default 128 MiB. In
	// memory it is not counted.
	MaxDiskBytes int64
}

// WithDefaults returns the quotas that hold.
func (o Options) WithDefaults() Options {
	if o.MaxBytes <= 0 {
		o.MaxBytes = 64 << 20
	}
	if o.MaxKeys <= 0 {
		o.MaxKeys = 100_000
	}
	if o.MaxValueBytes <= 0 {
		o.MaxValueBytes = 1 << 20
	}
	if o.MaxDiskBytes <= 0 {
		o.MaxDiskBytes = 128 << 20
	}
	return o
}

// usage is what a namespace holds.
type usage struct {
	keys        int
	bytes, disk int64
}

// after is the usage once a value of old bytes (-1: none) is replaced by one
// of size bytes (-1: none).
func (u usage) after(old, size int64) usage {
	if old >= 0 {
		u.keys--
		u.bytes -= old
		u.disk -= onDisk(old)
	}
	if size >= 0 {
		u.keys++
		u.bytes += size
		u.disk += onDisk(size)
	}
	return u
}

// diskBlock is what a folder takes on the disk, and what values are rounded up to.
const diskBlock = 4 << 10

// onDisk is what a value of so many bytes takes.
func onDisk(size int64) int64 { return max(1, (size+diskBlock-1)/diskBlock) * diskBlock }

// check refuses growth beyond a quota. What is over it already, by hand or
// under an earlier quota, can still shrink.
func (o *Options) check(before, u usage) error {
	over := ""
	switch {
	case u.keys > o.MaxKeys && u.keys > before.keys:
		over = fmt.Sprintf("more than %d keys", o.MaxKeys)
	case u.bytes > o.MaxBytes && u.bytes > before.bytes:
		over = fmt.Sprintf("more than %d bytes in all", o.MaxBytes)
	case u.disk > o.MaxDiskBytes && u.disk > before.disk:
		over = fmt.Sprintf("more than %d bytes on the disk, of which each value and each folder takes %d at least",
			o.MaxDiskBytes, diskBlock)
	default:
		return nil
	}
	return kvError(abi.CodeQuota, "set", over, "delete keys, or raise the quota")
}

func (o *Options) checkValue(value string) error {
	if len(value) > o.MaxValueBytes {
		return kvError(abi.CodeQuota, "set", fmt.Sprintf("a value of %d bytes, %d allowed", len(value), o.MaxValueBytes),
			"spread it over several keys")
	}
	if !utf8.ValidString(value) {
		return kvError(abi.CodeUsage, "set", "value: invalid utf-8", "values are text: encode anything else")
	}
	return nil
}

// checkCall is what every operation checks first. key is not looked at where
// it is empty and op is list, whose prefixes are free.
func checkCall(ctx context.Context, op, ns, key string) error {
	if err := ctx.Err(); err != nil {
		return ended(op, err)
	}
	if !abi.ValidNamespace(ns) {
		return kvError(abi.CodeUsage, op, fmt.Sprintf("namespace %q", ns),
			"use a plugin's namespace, as abi.ValidNamespace says")
	}
	if op == "list" {
		return nil
	}
	if err := abi.CheckKey(key); err != nil {
		return kvError(abi.CodeUsage, op, err.Error(), "")
	}
	return nil
}

func kvError(code abi.Code, op, message, hint string) *abi.Error {
	return &abi.Error{Code: code, Op: "kv." + op, Message: message, Hint: hint}
}

// ended is the error of an operation whose context has ended.
func ended(op string, err error) *abi.Error {
	code := abi.CodeCanceled
	if errors.Is(err, context.DeadlineExceeded) {
		code = abi.CodeDeadline
	}
	return &abi.Error{Code: code, Op: "kv." + op, Message: err.Error(), Err: err}
}

func conflict(key string) *abi.Error {
	e := abi.KeyConflict(key)
	e.Op = "kv.set"
	return e
}

// kvFault is a failure of what the storage stands on.
func kvFault(op string, err error) *abi.Error {
	return &abi.Error{Code: abi.CodeInternal, Op: "kv." + op, Message: err.Error(), Err: err}
}
