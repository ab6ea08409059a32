package survey_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/internal/survey"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// TestDevSurvey: a survey has for each session what the real pipeline did
// with the plugin.
func TestDevSurvey(t *testing.T) {
	features.Proves(t, "N6")
	soak.Only(t, "compiles two plugins of Go")
	sessions := []*survey.Session{work("parcel", 12, "--- FAIL: TestParcel"),
		work("ledger", 12, "ok: the test of the step passed")}
	s := run(t, "notes2", sessions)
	if len(s.Sessions) != 2 || s.Totals.Sessions != 2 || s.Totals.Compacted != 2 || s.Totals.Failed != 0 {
		t.Fatalf("%+v", s.Totals)
	}
	parcel, ledger := &s.Sessions[0], &s.Sessions[1]
	if parcel.Session != "parcel" || !parcel.Report.Compacted || parcel.Report.Strategy != "drop" ||
		parcel.Report.TokensAfter >= parcel.Report.TokensBefore || parcel.Report.Summary == "" {
		t.Errorf("%+v", parcel.Report)
	}
	// What the plugin pins is kept, of the session in which something failed.
	if failed := "m2"; !slices.Contains(parcel.Report.Kept, failed) || slices.Contains(ledger.Report.Kept, failed) {
		t.Errorf("kept %v, and %v", parcel.Report.Kept, ledger.Report.Kept)
	}
	// Each session has a memory of its own: nothing was seen before.
	for _, o := range s.Sessions {
		if !slices.Equal(o.Injected, []string{"keep to the plan, and to the tests"}) {
			t.Errorf("%s: injected %q", o.Session, o.Injected)
		}
		if o.Use.Calls != 1 || o.Use.Fuel == 0 || o.Use.MS <= 0 || o.Use.PeakMemoryBytes == 0 ||
			o.Use.HostCalls[abi.OpKVSet] != 1 {
			t.Errorf("%s: %+v", o.Session, o.Use)
		}
	}
	if s.Totals.Use.Fuel != parcel.Use.Fuel+ledger.Use.Fuel || s.Totals.HostCalls[abi.OpKVGet] != 2 ||
		s.Totals.Injected != 2 {
		t.Errorf("%+v", s.Totals)
	}
	if _, err := json.Marshal(s); err != nil {
		t.Error(err)
	}
}

// TestDevSurveyRepeats: the same module does the same again, but for the time
// it takes; so whatever differs between two surveys is the plugin's doing.
func TestDevSurveyRepeats(t *testing.T) {
	features.Proves(t, "N6")
	sessions := soak.Sample(survey.Samples(), 5, len(survey.Samples()))
	a, b := run(t, "notes2", sessions), run(t, "notes2", sessions)
	if c := survey.Compare(a, b); c.Differs() || c.Same != len(sessions) {
		t.Errorf("%+v", c)
	}
	if a.Totals.Fuel != b.Totals.Fuel || a.Totals.Fuel == 0 {
		t.Errorf("fuel %d and %d", a.Totals.Fuel, b.Totals.Fuel)
	}
	if a.Totals.Compacted != len(sessions) {
		t.Errorf("%d of %d samples compacted", a.Totals.Compacted, len(sessions))
	}
}

func TestDevSurveyFailures(t *testing.T) {
	features.Proves(t, "N6")
	s := run(t, "notes3", []*survey.Session{work("parcel", 12, "--- FAIL: TestParcel"),
		work("ledger", 12, "ok: the test of the step passed")})
	parcel, ledger := &s.Sessions[0], &s.Sessions[1]
	if f := parcel.Failures(); len(f) != 1 || f[0].Code != abi.CodeExit || f[0].Plugin != "notes" ||
		f[0].Hook != abi.HookPreCompact {
		t.Errorf("%v", f)
	}
	if !parcel.Report.Compacted || len(ledger.Failures()) != 0 || s.Totals.Failed != 1 {
		t.Errorf("%v, %+v", ledger.Failures(), s.Totals)
	}
}

// A plugin that fails everywhere fails in each session for itself: none is left
// out for what it did in others.
func TestSurveyQuarantinesNothing(t *testing.T) {
	var sessions []*survey.Session
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
		sessions = append(sessions, work(name, 12, "--- FAIL"))
	}
	s := run(t, "notes3", sessions)
	for i := range s.Sessions {
		if f := s.Sessions[i].Failures(); len(f) != 1 || f[0].Code != abi.CodeExit {
			t.Errorf("%s: %v", s.Sessions[i].Session, f)
		}
	}
}

func TestSurveyWindow(t *testing.T) {
	o := options()
	o.Window = 1_000_000
	s, err := survey.Run(t.Context(), load(t, "notes1"), []*survey.Session{work("parcel", 12,
		"ok: the test of the step passed")}, o)
	if err != nil || s.Totals.Compacted != 0 || s.Sessions[0].Report.ReasonCode != abi.ReasonBelowThreshold ||
		s.Sessions[0].Report.Window != o.Window {
		t.Errorf("%+v, %v", s, err)
	}
}

// A plugin that wants to know when a turn ends is told, and a compaction it asks
// for is made, however much room there is.
func TestDevSurveyTurnEnd(t *testing.T) {
	features.Proves(t, "N6")
	r, err := runtime.New(t.Context(), runtime.Options{KV: survey.KV(nil)})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(context.Background())
	asks := wasmtest.WithManifest(wasmtest.Answer(
		"turn_end", `{"request_compaction":{"instructions":"now"},"retain":["a turn"]}`),
		`{"name":"asks","version":"1","abi":1,"hooks":["turn_end"],`+
			`"capabilities":{"compaction.request":{"reason":"to ask"}}}`)
	o := options()
	o.Window = 10_000
	for granted, reason := range map[bool]abi.ReasonCode{true: abi.ReasonCompacted, false: abi.ReasonBelowThreshold} {
		t.Run(fmt.Sprintf("granted %v", granted), func(t *testing.T) {
			p, err := plugintest.Load(t.Context(), r, asks,
				runtime.PluginOptions{Grants: runtime.Grants{CompactionRequest: granted}})
			if err != nil {
				t.Fatal(err)
			}
			s, err := survey.Run(t.Context(), p, []*survey.Session{work("parcel", 12, "--- FAIL: TestParcel")}, o)
			if err != nil {
				t.Fatal(err)
			}
			out := &s.Sessions[0]
			if out.Report.ReasonCode != reason || out.Use.Calls != 1 || out.Report.Hooks[0].Hook != abi.HookTurnEnd ||
				len(out.Report.Retained) != 1 {
				t.Errorf("granted %v: %+v", granted, out)
			}
		})
	}
}

func TestSurveyErrors(t *testing.T) {
	p, sessions := load(t, "notes1"), []*survey.Session{work("parcel", 12, "ok: the test of the step passed")}
	if _, err := survey.Run(t.Context(), p, sessions, survey.Options{}); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("no counter: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := survey.Run(ctx, p, sessions, options()); abi.CodeOf(err) != abi.CodeCanceled {
		t.Errorf("a caller that gave up: %v", err)
	}
	// Storage is there in surveys alone.
	if _, _, err := survey.KV(nil).Get(t.Context(), "notes", "seen"); abi.CodeOf(err) != abi.CodeDenied {
		t.Errorf("outside of a survey: %v", err)
	}
}

// TestDiffBehaviour: what two versions do differently to which session.
func TestDiffBehaviour(t *testing.T) {
	features.Proves(t, "N6")
	parcel, ledger, gone := work("parcel", 12, "--- FAIL: TestParcel"), work("ledger", 12,
		"ok: the test of the step passed"), work("gone", 12, "ok: the test of the step passed")
	old := run(t, "notes1", []*survey.Session{parcel, ledger, gone})
	new := run(t, "notes2", []*survey.Session{work("new", 12, "ok: the test of the step passed"), parcel, ledger})
	c := survey.Compare(old, new)
	if len(c.Sessions) != 2 || c.Same != 0 || !slices.Equal(c.Came, []string{"new"}) ||
		!slices.Equal(c.Went, []string{"gone"}) {
		t.Fatalf("%+v", c)
	}
	d := c.Of("parcel")
	if d == nil || !slices.Contains(d.NewlyKept, "m2") || d.Pinned == nil || len(d.Pinned.New) != len(d.Pinned.Old)+1 {
		t.Errorf("%+v", d)
	}
	want := &survey.Pair[[]string]{Old: []string{"keep to the plan"}, New: []string{"keep to the plan, and to the tests"}}
	if !reflect.DeepEqual(d.Injected, want) {
		t.Errorf("injected %+v", d.Injected)
	}
	if d.Retained == nil || len(d.Retained.Old) != 1 || d.Retained.New != nil {
		t.Errorf("retained %+v", d.Retained)
	}
	if d.Failures != nil || d.Reason != nil || d.Strategy != nil {
		t.Errorf("%+v", d)
	}
	if c.Of("gone") != nil || c.Totals.Old.Sessions != 2 || c.Totals.New.Sessions != 2 {
		t.Errorf("totals are of what both have: %+v", c.Totals)
	}

	broken := run(t, "notes3", []*survey.Session{parcel, ledger})
	c = survey.Compare(run(t, "notes1", []*survey.Session{parcel, ledger}), broken)
	if d := c.Of("parcel"); d == nil || !reflect.DeepEqual(d.Failures,
		&survey.Pair[[]string]{New: []string{"pre_compact: exit"}}) {
		t.Errorf("%+v", d)
	}
}

func TestSurveyFaster(t *testing.T) {
	session := []*survey.Session{work("parcel", 12, "ok: the test of the step passed")}
	a, b := run(t, "notes1", session), run(t, "notes1", session)
	a.Sessions[0].Use.MS, b.Sessions[0].Use.MS = 5, 7
	if b.Faster(a); b.Sessions[0].Use.MS != 5 || b.Totals.MS != 5 {
		t.Errorf("%+v", b.Totals)
	}
}

// TestSharedSessions: every recorded session goes through, the project's own
// where there are no others, and the second
// survey, for which nothing has to be read or counted, does the same.
func TestSharedSessions(t *testing.T) {
	paths := shared.With(t, nil)
	if paths = soak.Sample(paths, 4, len(paths)); len(paths) == 0 {
		paths = []string{filepath.Join(shared.Root(t), "testdata", "demo.jsonl")}
	}
	corpus := survey.NewCorpus(paths...)
	p := load(t, "notes2")
	var last *survey.Survey
	for range 2 {
		begin := time.Now()
		sessions, _, err := corpus.Sessions()
		if err != nil {
			t.Fatal(err)
		}
		s, err := survey.Run(t.Context(), p, sessions, options())
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d sessions, %d compacted, %d with failures, in %v", s.Totals.Sessions, s.Totals.Compacted, s.Totals.Failed,
			time.Since(begin))
		for _, o := range s.Sessions {
			for _, e := range o.Failures() {
				if e.Code != abi.CodeExceedsWindow {
					t.Errorf("%s: %v", o.Session, e)
				}
			}
		}
		if last != nil && survey.Compare(last, s).Differs() {
			t.Errorf("the second time it is different: %+v", survey.Compare(last, s).Sessions)
		}
		last = s
	}
	if 10*last.Totals.Compacted < 9*last.Totals.Sessions {
		t.Errorf("%d of %d sessions were compacted: the default share is for nearly all", last.Totals.Compacted,
			last.Totals.Sessions)
	}
}
