package rerun_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/callrecord"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/hosttest"
	"github.com/kagewasm/kagewasm/internal/rerun"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/tokens"
)

// kept is a session in a store, with a compactor that the log hears of.
func kept(t *testing.T, o store.Options, opts kagewasm.Options) (*store.Store, *session.Session) {
	t.Helper()
	return keptIn(t, t.TempDir(), o, opts)
}

func keptIn(t *testing.T, dir string, o store.Options, opts kagewasm.Options) (*store.Store, *session.Session) {
	t.Helper()
	s, err := store.Open(t.Context(), filepath.Join(dir, "sessions.db"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	open := reopened(t, s, opts)
	if err := open.Append(t.Context(), servetest.Chat(60)...); err != nil {
		t.Fatal(err)
	}
	return s, open
}

// reopened is the session in another process.
func reopened(t *testing.T, s *store.Store, opts kagewasm.Options) *session.Session {
	t.Helper()
	var err error
	if opts.Counter, err = tokens.New("", tokens.Options{}); err != nil {
		t.Fatal(err)
	}
	opts.Audit = func(e kagewasm.Event) {
		if err := s.Update(t.Context(), func(tx *store.Tx) error { return tx.Log(t.Context(), e) }); err != nil {
			t.Error(err)
		}
	}
	window := 3000
	open, err := session.Open(t.Context(), hosttest.New(t, opts), session.Options{Journal: s,
		Session: abi.Session{ID: "a", ContextWindow: &window}})
	if err != nil {
		t.Fatal(err)
	}
	return open
}

// TestIdentical: the same comes of a compaction that is made again, also of the second one,
// with what a model answered, what was asked for by hand and what was pinned.
func TestIdentical(t *testing.T) {
	features.Proves(t, "N5")
	always := kagewasm.Policy{Keep: strategies.KeepConfig{Always: []func(*abi.Message) bool{
		func(m *abi.Message) bool { return m.Text() == "go on with part 7 and keep port 4007 as it is" }}}}
	for name, opts := range map[string]kagewasm.Options{
		"drop": {}, "summarize": {Model: hosttest.Writes("the parser was fixed"),
			Policy: kagewasm.Policy{Strategy: kagewasm.StrategySummarize}},
		"pinned": {Policy: always}, "checkpoint": {Policy: kagewasm.Policy{Strategy: kagewasm.StrategyCheckpoint}},
	} {
		t.Run(name, func(t *testing.T) {
			s, open := kept(t, store.Options{}, opts)
			for i, target := range []int{1500, 900} {
				r, err := open.Compact(t.Context(), kagewasm.Request{Target: &target, Instructions: "the ports"})
				if err != nil {
					t.Fatal(err)
				}
				if r.Pending != nil {
					if r, err = open.Approve(t.Context(), r.Pending.Record.ID); err != nil {
						t.Fatal(err)
					}
				}
				if !r.Report.Compacted {
					t.Fatal(r.Report.Reason)
				}
				got, err := rerun.Run(t.Context(), s, "a", r.Record.ID, nil)
				if err != nil || !got.Identical {
					t.Fatalf("compaction %d: %+v, %v", i, got, err)
				}
				if (got.Answers > 0) != (opts.Model != nil) {
					t.Errorf("%d answers", got.Answers)
				}
				if err := open.Append(t.Context(), servetest.Chat(20)[2:]...); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestChanged: where what is stored is not what came of the compaction
// what is otherwise is named.
func TestChanged(t *testing.T) {
	dir := t.TempDir()
	s, open := keptIn(t, dir, store.Options{}, kagewasm.Options{})
	r, err := open.Compact(t.Context(), kagewasm.Request{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(),
		"UPDATE entries SET entry = replace(entry, 'port 40', 'port 50')"); err != nil {
		t.Fatal(err)
	}
	got, err := rerun.Run(t.Context(), s, "a", r.Record.ID, nil)
	if err != nil || got.Identical || len(got.Differences) == 0 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestPlugins: a compaction in which plugins took part comes out the same with what they
// answered then: what they inject, pin and ask to remember, a list that a compactor made, and
// calls that failed. They themselves are not called.
func TestPlugins(t *testing.T) {
	features.Proves(t, "N5")
	calls := 0
	says := func(name string, role abi.PluginRole, do func(in *abi.Input) (*abi.Output, error)) *hosttest.Plugin {
		return &hosttest.Plugin{Name: name, Roles: []abi.PluginRole{role}, Grants: abi.Capabilities,
			Pre: func(in *abi.Input) (*abi.Output, error) { calls++; return do(in) }}
	}
	knows := says("knows", abi.RoleObserver, func(in *abi.Input) (*abi.Output, error) {
		return &abi.Output{Inject: fmt.Sprint("The ledger has ", len(in.Messages), " pages. Call ", calls, "."),
			AlwaysKeep: []string{in.Messages[5].ID}, Retain: []string{"the port is 4000"}}, nil
	})
	fails := says("fails", abi.RoleObserver, func(*abi.Input) (*abi.Output, error) {
		return nil, errors.New("on purpose")
	})
	quiet := says("quiet", abi.RoleObserver, func(*abi.Input) (*abi.Output, error) { return nil, nil })
	cuts := says("cuts", abi.RoleCompactor, func(in *abi.Input) (*abi.Output, error) {
		out := &abi.Output{Messages: []abi.OutputMessage{}, Summary: fmt.Sprint("Cut at call ", calls, ".")}
		for i := range in.Messages {
			if m := &in.Messages[i]; m.Pinned || i > len(in.Messages)-12 {
				out.Messages = append(out.Messages, abi.OutputMessage{Ref: m.ID})
			}
		}
		return out, nil
	})
	for name, plugins := range map[string][]hooks.Plugin{"observers": {knows, fails, quiet}, "a compactor": {cuts, quiet},
		"both": {cuts, knows, fails}} {
		t.Run(name, func(t *testing.T) {
			s, open := kept(t, store.Options{}, kagewasm.Options{Plugins: plugins})
			for i, target := range []int{1500, 900} {
				r, err := open.Compact(t.Context(), kagewasm.Request{Target: &target})
				if err != nil || !r.Report.Compacted {
					t.Fatalf("%v: %s", err, r.Report.Reason)
				}
				before := calls
				got, err := rerun.Run(t.Context(), s, "a", r.Record.ID, nil)
				if err != nil || !got.Identical || got.Plugins != len(plugins) {
					t.Fatalf("compaction %d, by %s: %+v, %v", i, r.Report.Strategy, got, err)
				}
				if calls != before {
					t.Error("a plugin was called")
				}
				if err := open.Append(t.Context(), servetest.Chat(20)[2:]...); err != nil {
					t.Fatal(err)
				}
			}
		})
		t.Run(name+", and a wait", func(t *testing.T) {
			policy := kagewasm.Policy{Strategy: kagewasm.StrategyCheckpoint}
			s, open := kept(t, store.Options{}, kagewasm.Options{Plugins: plugins, Policy: policy})
			for i, target := range []int{1500, 900} {
				r, err := open.Compact(t.Context(), kagewasm.Request{Target: &target})
				if err != nil || r.Pending == nil {
					t.Fatalf("%v: %s", err, r.Report.Reason)
				}
				if i == 0 { // whoever approves it need not have made it
					open = reopened(t, s, kagewasm.Options{Policy: policy})
				}
				if r, err = open.Approve(t.Context(), r.Pending.Record.ID); err != nil {
					t.Fatal(err)
				}
				got, err := rerun.Run(t.Context(), s, "a", r.Record.ID, nil)
				if err != nil || !got.Identical || got.Plugins != len(plugins) {
					t.Fatalf("compaction %d: %+v, %v", i, got, err)
				}
				open = reopened(t, s, kagewasm.Options{Plugins: plugins, Policy: policy})
				if err := open.Append(t.Context(), servetest.Chat(20)[2:]...); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestModules: a plugin whose module is found is run again with the record of its call: with
// the call's id, its knobs and what its host calls were answered. What is otherwise is told.
func TestModules(t *testing.T) {
	features.Proves(t, "N5")
	sees := &hosttest.Plugin{Name: "sees", Roles: []abi.PluginRole{abi.RoleObserver}, Grants: abi.Capabilities,
		Pre: func(*abi.Input) (*abi.Output, error) { return nil, nil }}
	var calls []string
	asks := func(ctx context.Context, in *abi.Input, live string) string {
		record := callrecord.Of(ctx)
		record.Begin(in.Call, in.Time, []byte(in.Call), abi.Config{"port": json.RawMessage("4000")}, abi.Limits{})
		answer, err, played := record.Answer(abi.OpKVGet, []byte("port"))
		if err != nil {
			return err.Error()
		}
		if !played {
			answer = []byte(strconv.Quote(live))
			record.Add(string(abi.OpKVGet), []byte("port"), answer)
		}
		calls = append(calls, in.Call)
		return string(answer)
	}
	module := func(live, more string) hooks.Plugin {
		return &contextual{Plugin: sees, pre: func(ctx context.Context, in *abi.Input) (*abi.Output, error) {
			return &abi.Output{Inject: "The port is " + asks(ctx, in, live) + more}, nil
		}}
	}
	s, open := kept(t, store.Options{}, kagewasm.Options{Plugins: []hooks.Plugin{module("4007", "")}})
	r, err := open.Compact(t.Context(), kagewasm.Request{})
	if err != nil || !r.Report.Compacted {
		t.Fatalf("%v: %s", err, r.Report.Reason)
	}
	for name, c := range map[string]struct {
		found     hooks.Plugin
		ran       int
		different string
	}{
		"the same": {module("5000", ""), 1, ""}, "another one": {module("5000", ", and more"), 1, "it answers otherwise"},
		"none": {nil, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var knobs abi.Config
			got, err := rerun.Run(t.Context(), s, "a", r.Record.ID,
				func(_ context.Context, _ *kagewasm.Heard, config abi.Config, _ abi.Limits) (hooks.Plugin, error) {
					knobs = config
					return c.found, nil
				})
			if err != nil || len(got.Ran) != c.ran || len(got.NotRun) != 1-c.ran || string(knobs["port"]) != "4000" {
				t.Fatalf("%+v, %v, %s", got, err, knobs)
			}
			said := strings.Join(got.Differences, "\n")
			if !strings.Contains(said, c.different) || c.different == "" && !got.Identical {
				t.Errorf("%+v", got)
			}
			for _, call := range calls {
				if call != calls[0] {
					t.Errorf("the call is %s, and was %s", call, calls[0])
				}
			}
		})
	}
}

// contextual is a plugin that sees the context of its call, as modules do.
type contextual struct {
	*hosttest.Plugin
	pre func(context.Context, *abi.Input) (*abi.Output, error)
}

func (p *contextual) Call(ctx context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
	out, err := p.pre(ctx, in)
	return out, abi.CallStats{}, err
}

// TestUnusable: what the log does not have is said, and nothing is made of a guess.
func TestUnusable(t *testing.T) {
	observer := &hosttest.Plugin{Name: "sees", Pre: func(*abi.Input) (*abi.Output, error) { return nil, nil }}
	for name, tc := range map[string]struct {
		store store.Options
		opts  kagewasm.Options
	}{"no content": {store: store.Options{NoContent: true}}, "no content, and plugins": {
		store: store.Options{NoContent: true}, opts: kagewasm.Options{Plugins: []hooks.Plugin{observer}}}} {
		t.Run(name, func(t *testing.T) {
			s, open := kept(t, tc.store, tc.opts)
			r, err := open.Compact(t.Context(), kagewasm.Request{})
			if err == nil && r.Pending != nil {
				r, err = open.Approve(t.Context(), r.Pending.Record.ID)
			}
			if err != nil {
				t.Fatal(err)
			}
			if got, err := rerun.Run(t.Context(), s, "a", r.Record.ID, nil); abi.CodeOf(err) != abi.CodeUsage {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}
