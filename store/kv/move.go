package kv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/kagewasm/kagewasm/abi"
)

// errMoved is that somebody else moved a folder.
var errMoved = errors.New("moved already")

// Moved is what a move took, and the values that it could not: files that are not text, or
// too long.
type Moved struct {
	Values int
	Left   []string
}

// MoveTo copies all that the folder holds into a table, in one transaction. What the table
// has of the same namespaces is replaced. there is asked within it: where it says no more,
// nothing is copied. The folder stays as it is.
func (kv *Folder) MoveTo(ctx context.Context, t *Table, there func() bool) (m Moved, err error) {
	unlock, err := kv.change(ctx, "move")
	if err != nil {
		return m, err
	}
	defer unlock()
	entries, err := fs.ReadDir(kv.root.FS(), ".")
	if err != nil {
		return m, kvFault("move", err)
	}
	err = t.update(ctx, func(c Conn) error {
		if m = (Moved{}); !there() {
			return errMoved
		}
		for _, e := range entries {
			if !e.IsDir() || !abi.ValidNamespace(e.Name()) {
				continue
			}
			if err := kv.moveSpace(ctx, c, e.Name(), &m); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, errMoved) {
		return Moved{}, nil
	}
	return m, tableFault(ctx, "move", err)
}

// moveSpace copies a namespace.
func (kv *Folder) moveSpace(ctx context.Context, c Conn, ns string, m *Moved) error {
	if _, err := lockSpace(ctx, c, ns); err != nil {
		return err
	}
	if _, err := c.ExecContext(ctx, "DELETE FROM memory WHERE namespace = $1", ns); err != nil {
		return err
	}
	keys, err := kv.List(ctx, ns, "")
	if err != nil {
		return err
	}
	var u usage
	for _, key := range keys {
		value, found, err := kv.Get(ctx, ns, key)
		if code := abi.CodeOf(err); code == abi.CodeQuota || code == abi.CodeBadInput {
			m.Left = append(m.Left, fmt.Sprintf("%s %s: %s", ns, key, abi.AsError(err).Message))
			continue
		}
		if err != nil {
			return err
		}
		if !found {
			continue
		}
		if err := put(ctx, c, ns, key, value); err != nil {
			return err
		}
		u = u.after(-1, int64(len(value)))
	}
	m.Values += u.keys
	return keepUsage(ctx, c, ns, u)
}
