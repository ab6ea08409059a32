package state

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/lineage"
	"github.com/kagewasm/kagewasm/internal/sealed"
)

// namespaces looks at what plugins keep.
func (x *examination) namespaces(ctx context.Context, kv Memory) error {
	spaces, err := kv.Spaces(ctx)
	if err != nil {
		return err
	}
	names := make(map[string]bool)
	for _, s := range spaces {
		if s.Keys > 0 {
			names[s.Name] = true
		}
	}
	x.Namespaces = len(names)
	records, err := kv.List(ctx, lineage.Space, "")
	if err != nil {
		return err
	}
	for _, key := range records {
		if ns, ok := strings.CutSuffix(key, lineage.Key("")); ok && abi.ValidNamespace(ns) {
			names[ns] = true
		}
	}
	for _, ns := range slices.Sorted(maps.Keys(names)) { // a plugin's own before those of its agents
		if err := x.record(ctx, kv, ns); err != nil {
			return err
		}
		if err := x.values(ctx, kv, ns); err != nil {
			return err
		}
	}
	return nil
}

// record looks at whose a namespace is.
func (x *examination) record(ctx context.Context, kv Memory, ns string) error {
	err := lineage.Check(ctx, kv, ns)
	if abi.CodeOf(err) != abi.CodeState {
		return err
	}
	name, _, _ := strings.Cut(ns, "@")
	return x.found(ui.Problem{
		Where: ns, What: abi.AsError(err).Message, Repair: "keep it for the next plugin of that name that is adopted",
		Fix: "restore the record from a backup; or repair it, and run the plugin whose data it is with --adopt " + name,
	}, func() error { return lineage.Repair(ctx, kv, ns) })
}

// values looks at each value of a namespace.
func (x *examination) values(ctx context.Context, kv Memory, ns string) error {
	keys, err := kv.List(ctx, ns, "")
	if err != nil {
		return err
	}
	x.Values += len(keys)
	told, err := x.banks(ctx, kv, ns, keys)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if original, _ := sealed.Original(key); told[original] {
			continue
		}
		value, _, err := kv.Get(ctx, ns, key)
		_, isCopy := sealed.Original(key)
		switch fault := abi.AsError(err); {
		case ctx.Err() != nil:
			return ctx.Err()
		case fault != nil:
			err = x.found(ui.Problem{Where: ns + " " + key, What: fault.Message, Fix: fault.Hint}, nil)
		case sealed.Is(value), isCopy && value == "":
			err = x.sealed(ctx, kv, ns, key, value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sealed looks at a value with a checksum, together with its copy.
func (x *examination) sealed(ctx context.Context, kv Memory, ns, key, value string) error {
	original, isCopy := sealed.Original(key)
	if !isCopy {
		return x.alone(ctx, kv, ns, key, value)
	}
	now, _, err := kv.Get(ctx, ns, original)
	if err != nil {
		return err
	}
	_, generation, damage := sealed.Read(value)
	_, newest, lost := sealed.Read(now)
	switch {
	case lost != nil && damage != nil:
		return x.found(ui.Problem{
			Where: ns + " " + original, What: fmt.Sprintf("damaged (%v), and so is its copy", lost),
			Fix: "restore it from a backup",
		}, nil)
	case lost != nil:
		return x.found(ui.Problem{
			Where: ns + " " + original, What: fmt.Sprintf("missing or damaged: %v", lost),
			Repair: fmt.Sprintf("put the copy of it in its place, generation %d", generation),
		}, func() error { return kv.Swap(ctx, ns, original, now, value) })
	case damage != nil || newest > generation:
		return x.found(ui.Problem{Where: ns + " " + key, What: "no copy of what is there now", Repair: "copy it again"},
			func() error { return kv.Swap(ctx, ns, key, value, now) })
	}
	return nil
}

// alone looks at a value with a checksum that may have no copy.
func (x *examination) alone(ctx context.Context, kv Memory, ns, key, value string) error {
	_, _, damage := sealed.Read(value)
	if damage == nil {
		return nil
	}
	copied, _, err := kv.Get(ctx, ns, sealed.Copy(key))
	if err != nil || sealed.Is(copied) {
		return err // it is looked at with the copy
	}
	return x.found(ui.Problem{
		Where: ns + " " + key, What: fmt.Sprintf("damaged (%v), and there is no copy", damage),
		Fix: "restore it from a backup",
	}, nil)
}
