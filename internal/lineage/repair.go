package lineage

import (
	"context"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// Check is what is wrong with the record of a namespace that has data, nil where
// nothing is. What is wrong with the record of a plugin is told of the plugin's
// namespace alone.
func Check(ctx context.Context, kv KV, ns string) error {
	name, _, agent := strings.Cut(ns, "@")
	if strings.Contains(name, "+") {
		return nil // named by the module that owns it
	}
	r, err := Read(ctx, kv, name)
	switch {
	case !agent:
		return err
	case abi.CodeOf(err) == abi.CodeState:
		return nil
	case err != nil:
		return err
	}
	return r.Agent(ctx, kv, ns, false, false)
}

// Repair makes a new record of a namespace where Check finds something wrong
// with it. Nobody can tell any more whose the data is: a module gets it that is
// adopted, and no other.
func Repair(ctx context.Context, kv KV, ns string) error {
	if err := Check(ctx, kv, ns); abi.CodeOf(err) != abi.CodeState {
		return err
	}
	name, _, agent := strings.Cut(ns, "@")
	if !agent {
		r, err := Renew(ctx, kv, name)
		if err != nil {
			return err
		}
		return r.store(ctx, kv, name)
	}
	r, err := Read(ctx, kv, name)
	if err == nil && r.New() {
		err = r.store(ctx, kv, name)
	}
	if err != nil {
		return err
	}
	return r.Agent(ctx, kv, ns, true, true)
}
