package state

import (
	"context"
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/sealed"
	"github.com/kagewasm/kagewasm/plugins/hindsight/bank"
)

// banks looks at the memories of hindsight, whose values name each other. It returns
// the keys of the roots that it told of: one of which the checksum or that of its copy
// is right is looked at as any value with a checksum.
func (x *examination) banks(ctx context.Context, kv Memory, ns string, keys []string) (map[string]bool, error) {
	in, lost := stored{ctx, kv, ns}, make(map[string]bool)
	for _, key := range keys {
		parts := strings.SplitAfterN(key, "/", 3)
		if len(parts) < 3 || parts[0] != "banks/" {
			continue
		}
		prefix := parts[0] + parts[1]
		root := prefix + "root"
		if _, seen := lost[root]; seen {
			continue
		}
		whole, err := in.sealed(root, sealed.Copy(root))
		if err != nil {
			return nil, err
		}
		_, err = bank.Open(in, prefix)
		rootless := abi.CodeOf(err) == abi.CodeState
		lost[root] = rootless && !whole
		switch {
		case err == nil:
			err = x.bank(in, prefix)
		case lost[root]:
			err = x.rootless(in, prefix, root)
		case rootless:
			err = nil
		}
		if err != nil {
			return nil, err
		}
	}
	return lost, nil
}

// rootless tells of a bank without a root and a copy, which is rebuilt from what is
// left of it.
func (x *examination) rootless(in stored, prefix, root string) error {
	left, err := bank.Salvage(in, prefix)
	if err != nil {
		return err
	}
	p := ui.Problem{
		Where: in.ns + " " + root, What: "missing or damaged, and so is its copy",
		Fix: "restore it from a backup",
	}
	if left.Memories == 0 {
		p.Fix += ", or delete all keys under " + prefix + " for an empty memory"
		return x.found(p, nil)
	}
	p.Repair = fmt.Sprintf("rebuild it from the memories that are left, %s; the newest, up to 16 KiB, are gone",
		ui.Number(left.Memories))
	return x.found(p, left.Store)
}

// bank tells what is wrong with the values of a bank.
func (x *examination) bank(in stored, prefix string) error {
	err := bank.Check(in, prefix)
	if err == nil || abi.CodeOf(err) != abi.CodeState {
		return err
	}
	for line := range strings.Lines(err.Error()) {
		problem := ui.Problem{Where: in.ns, What: strings.TrimSpace(line), Fix: "restore it from a backup"}
		if err := x.found(problem, nil); err != nil {
			return err
		}
	}
	return nil
}

// stored is a namespace as a bank reads and writes it.
type stored struct {
	ctx context.Context
	kv  Memory
	ns  string
}

func (k stored) Get(key string) (string, bool, error) { return k.kv.Get(k.ctx, k.ns, key) }
func (k stored) Set(key, value string) error          { return k.kv.Set(k.ctx, k.ns, key, value) }
func (k stored) Swap(key, expect, value string) error {
	return k.kv.Swap(k.ctx, k.ns, key, expect, value)
}
func (k stored) Delete(key string) error { return k.kv.Delete(k.ctx, k.ns, key) }

// sealed reports whether one of the values has its checksum.
func (k stored) sealed(keys ...string) (bool, error) {
	for _, key := range keys {
		value, _, err := k.Get(key)
		if _, _, damage := sealed.Read(value); err != nil || damage == nil {
			return err == nil, err
		}
	}
	return false, nil
}

func (k stored) List(prefix string) ([]string, error) { return k.kv.List(k.ctx, k.ns, prefix) }
