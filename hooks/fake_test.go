package hooks_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
)

// patient waits for all observers.
const patient = time.Hour

// call is what a fake does when called.
type call func(ctx context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error)

// fake is a plugin made of a manifest and a function.
type fake struct {
	manifest abi.Manifest
	hooks    []abi.Hook
	call     call
	granted  []abi.Capability
}

func (f *fake) Manifest() *abi.Manifest { return &f.manifest }
func (f *fake) Hooks() []abi.Hook       { return f.hooks }
func (f *fake) Digest() string          { return "sha256:" + f.manifest.Name }
func (f *fake) Granted(c abi.Capability) bool {
	return slices.Contains(f.granted, c)
}
func (f *fake) Call(ctx context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
	return f.call(ctx, in)
}

// observer handles both hooks around a compaction.
func observer(name string, do call) *fake {
	return &fake{abi.Manifest{Name: name, Version: "1", ABI: abi.Version},
		[]abi.Hook{abi.HookPreCompact, abi.HookPostCompact}, do, nil}
}

func compactor(name string, do call) *fake {
	f := observer(name, do)
	f.manifest.Roles = []abi.PluginRole{abi.RoleCompactor}
	return f
}

// says answers the same to every call.
func says(out *abi.Output) call {
	return func(context.Context, *abi.Input) (*abi.Output, abi.CallStats, error) {
		return out, abi.CallStats{Fuel: 7}, nil
	}
}

func fails(err error) call {
	return func(context.Context, *abi.Input) (*abi.Output, abi.CallStats, error) {
		return nil, abi.CallStats{}, err
	}
}

// hangs until it is told to stop.
func hangs(ctx context.Context, _ *abi.Input) (*abi.Output, abi.CallStats, error) {
	<-ctx.Done()
	return nil, abi.CallStats{}, ctx.Err()
}

func panics(context.Context, *abi.Input) (*abi.Output, abi.CallStats, error) {
	panic("out of its depth")
}

func dispatcher(t *testing.T, timeout time.Duration, plugins ...*fake) *hooks.Dispatcher {
	t.Helper()
	list := make([]hooks.Plugin, len(plugins))
	for i, p := range plugins {
		list[i] = p
	}
	d, err := hooks.New(list, hooks.Options{Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// input is a small session before a compaction, with something at every place
// a plugin could write to.
func input(hook abi.Hook) *abi.Input {
	window := 1000
	in := &abi.Input{
		ABI: abi.Version, Call: "c1", Hook: hook,
		Session: abi.Session{ID: "s1", ContextWindow: &window},
		Config:  abi.Config{"size": []byte("1")},
		Messages: []abi.InputMessage{
			{Message: abi.Message{ID: "m0", Role: abi.RoleUser, Content: abi.Text("hello"),
				Meta: abi.Meta{"k": []byte("1")}}, Pinned: true},
			{Message: abi.Message{ID: "m1", Role: abi.RoleAssistant,
				ToolCalls: []abi.ToolCall{{ID: "t", Name: "bash", Arguments: "{}"}}}, Unit: 1},
		},
	}
	if hook == abi.HookPostCompact {
		in.Record = &abi.Record{ID: "r1", Superseded: []string{"m9"},
			Failures: []*abi.Error{{Code: abi.CodeTrap, Message: "trap"}}}
	}
	return in
}
