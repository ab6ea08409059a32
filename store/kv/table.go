package kv

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/store/internal/rows"
)

// Conn is what a query of a [Table] runs in: a database, or a transaction.
type Conn interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Table is the storage in a database, SQLite or PostgreSQL, whose tables memory and
// memory_spaces its owner has made. It is safe for concurrent use, in several processes
// too. Changes of a namespace are made one after the other, each in a transaction; quotas
// are exact, and what values take on the disk is not counted.
type Table struct {
	read   Conn
	update func(context.Context, func(Conn) error) error
	opts   Options
}

// NewTable returns a Table that reads with read, and changes in transactions that update makes: it
// commits where the function returns no error, and keeps nothing otherwise.
func NewTable(read Conn, update func(context.Context, func(Conn) error) error, opts Options) *Table {
	return &Table{read: read, update: update, opts: opts.WithDefaults()}
}

// Close does nothing: the database is its owner's.
func (t *Table) Close() error { return nil }

// Get returns the value under key and whether there is one.
func (t *Table) Get(ctx context.Context, ns, key string) (string, bool, error) {
	if err := checkCall(ctx, "get", ns, key); err != nil {
		return "", false, err
	}
	value, found, err := valueOf(ctx, t.read, ns, key)
	switch {
	case err != nil:
		return "", false, tableFault(ctx, "get", err)
	case !utf8.Valid(value):
		return "", false, kvError(abi.CodeBadInput, "get", fmt.Sprintf("key %q: a value that is not utf-8", key),
			"delete it")
	}
	return string(value), found, nil
}

func valueOf(ctx context.Context, c Conn, ns, key string) (value []byte, found bool, err error) {
	row := c.QueryRowContext(ctx, "SELECT value FROM memory WHERE namespace = $1 AND key = $2", ns, []byte(key))
	err = row.Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, false, nil
	}
	return value, err == nil, err
}

// Set stores value under key.
func (t *Table) Set(ctx context.Context, ns, key, value string) error {
	return t.change(ctx, "set", ns, []Change{{Key: key, Value: value}})
}

// Swap stores value under key where the key holds expect now; "" also means no
// value. Otherwise the error is CodeConflict.
func (t *Table) Swap(ctx context.Context, ns, key, expect, value string) error {
	return t.change(ctx, "set", ns, []Change{{Key: key, Value: value, Expect: &expect}})
}

// Delete removes key. A key that is not there is no error.
func (t *Table) Delete(ctx context.Context, ns, key string) error {
	if err := checkCall(ctx, "delete", ns, key); err != nil {
		return err
	}
	if _, found, err := valueOf(ctx, t.read, ns, key); err != nil || !found {
		return tableFault(ctx, "delete", err)
	}
	return t.change(ctx, "delete", ns, []Change{{Key: key, Delete: true}})
}

// Apply makes all the changes or none of them, as [Folder.Apply] does.
func (t *Table) Apply(ctx context.Context, ns string, changes []Change) error {
	return t.change(ctx, "apply", ns, changes)
}

func (t *Table) change(ctx context.Context, op, ns string, changes []Change) error {
	for i := range changes {
		if err := t.opts.checkChange(ctx, ns, &changes[i]); err != nil {
			return err
		}
	}
	if len(changes) == 0 {
		return nil
	}
	return tableFault(ctx, op, t.update(ctx, func(c Conn) error {
		before, err := lockSpace(ctx, c, ns)
		after := before
		for i := 0; i < len(changes) && err == nil; i++ {
			after, err = makeChange(ctx, c, ns, &changes[i], after)
		}
		if after.disk = 0; err == nil {
			err = t.opts.check(before, after)
		}
		if err == nil {
			err = keepUsage(ctx, c, ns, after)
		}
		return err
	}))
}

// lockSpace keeps others from changing a namespace until the transaction ends, and returns
// what it holds.
func lockSpace(ctx context.Context, c Conn, ns string) (u usage, err error) {
	if _, err = c.ExecContext(ctx, `INSERT INTO memory_spaces (namespace, key_count, byte_count) VALUES ($1, 0, 0)
		ON CONFLICT (namespace) DO UPDATE SET key_count = memory_spaces.key_count`, ns); err == nil {
		err = c.QueryRowContext(ctx, "SELECT key_count, byte_count FROM memory_spaces WHERE namespace = $1", ns).
			Scan(&u.keys, &u.bytes)
	}
	return u, err
}

func keepUsage(ctx context.Context, c Conn, ns string, u usage) error {
	_, err := c.ExecContext(ctx, "UPDATE memory_spaces SET key_count = $2, byte_count = $3 WHERE namespace = $1", ns,
		u.keys, u.bytes)
	return err
}

// makeChange makes one change, and returns what the namespace holds then.
func makeChange(ctx context.Context, c Conn, ns string, one *Change, u usage) (usage, error) {
	old := int64(-1)
	if one.Expect != nil {
		now, found, err := valueOf(ctx, c, ns, one.Key)
		switch {
		case err != nil:
			return u, err
		case string(now) != *one.Expect:
			return u, conflict(one.Key)
		case found:
			old = int64(len(now))
		}
	} else {
		err := c.QueryRowContext(ctx, "SELECT length(value) FROM memory WHERE namespace = $1 AND key = $2", ns,
			[]byte(one.Key)).Scan(&old)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return u, err
		}
	}
	if one.Delete {
		_, err := c.ExecContext(ctx, "DELETE FROM memory WHERE namespace = $1 AND key = $2", ns, []byte(one.Key))
		return u.after(old, -1), err
	}
	return u.after(old, int64(len(one.Value))), put(ctx, c, ns, one.Key, one.Value)
}

func put(ctx context.Context, c Conn, ns, key, value string) error {
	_, err := c.ExecContext(ctx, `INSERT INTO memory (namespace, key, value) VALUES ($1, $2, $3)
		ON CONFLICT (namespace, key) DO UPDATE SET value = $3`, ns, []byte(key), []byte(value))
	return err
}

// List returns the keys that begin with prefix, sorted.
func (t *Table) List(ctx context.Context, ns, prefix string) (keys []string, err error) {
	if err := checkCall(ctx, "list", ns, ""); err != nil {
		return nil, err
	}
	query, args := "SELECT key FROM memory WHERE namespace = $1 AND key >= $2", []any{ns, []byte(prefix)}
	if end := beyond(prefix); end != nil {
		query, args = query+" AND key < $3", append(args, end)
	}
	err = rows.Each(ctx, t.read, func(r *sql.Rows) error {
		var key []byte
		err := r.Scan(&key)
		keys = append(keys, string(key))
		return err
	}, query+" ORDER BY key", args...)
	return keys, tableFault(ctx, "list", err)
}

// beyond returns the first text after all that begin with a prefix, nil where there is none.
func beyond(prefix string) []byte {
	end := bytes.TrimRight([]byte(prefix), "\xff")
	if len(end) > 0 {
		end[len(end)-1]++
		return end
	}
	return nil
}

// Spaces returns the namespaces of plugins that hold something, by their names.
func (t *Table) Spaces(ctx context.Context) (list []Space, err error) {
	err = rows.Each(ctx, t.read, func(r *sql.Rows) error {
		var s Space
		err := r.Scan(&s.Name, &s.Keys, &s.Bytes)
		if !strings.HasPrefix(s.Name, "_") {
			list = append(list, s)
		}
		return err
	}, "SELECT namespace, key_count, byte_count FROM memory_spaces WHERE key_count > 0 ORDER BY namespace")
	return list, tableFault(ctx, "list", err)
}

// tableFault is the error of an operation on a Table.
func tableFault(ctx context.Context, op string, err error) error {
	var known *abi.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ended(op, ctx.Err())
	case errors.As(err, &known):
		return err
	}
	return kvFault(op, err)
}
