package hooks_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
)

// trusted is an observer that is granted every capability, in every hook.
func trusted(name string, do call) *fake {
	f := observer(name, do)
	f.hooks, f.granted = abi.Hooks, abi.Capabilities
	return f
}

func proposals(pre *hooks.Pre) string {
	var list []string
	for _, p := range pre.Proposals {
		list = append(list, p.Source.Name+"="+p.Output.Summary)
	}
	return strings.Join(list, " ")
}

// a list of messages is the compactor's alone.
func TestSummariesOfObservers(t *testing.T) {
	features.Proves(t, "O2", "K6")
	summary := func(s string) call { return says(&abi.Output{Summary: s}) }
	list := says(&abi.Output{Summary: "list", Messages: []abi.OutputMessage{}})
	for _, tc := range []struct {
		why     string
		plugins []*fake
		want    string // proposals, in the order to try them
		warned  string // the plugins with warnings
	}{
		{"granted, it is a proposal", []*fake{trusted("a", summary("1"))}, "a=1", ""},
		{"not granted, it is a warning", []*fake{observer("a", summary("1"))}, "", "a"},
		{"of several the last comes first", []*fake{trusted("a", summary("1")), observer("b", summary("2")),
			trusted("c", summary("3"))}, "c=3 a=1", "b"},
		{"the compactor comes before all", []*fake{compactor("z", summary("9")), trusted("a", summary("1")),
			trusted("b", summary("2"))}, "z=9 b=2 a=1", ""},
		{"a compactor with nothing to say leaves it to them",
			[]*fake{compactor("z", says(nil)), trusted("a", summary("1"))}, "a=1", ""},
		{"so does one that cancels", []*fake{compactor("z", says(&abi.Output{Cancel: true})),
			trusted("a", summary("1"))}, "a=1", "z"},
		{"a message list is the compactor's alone; the summary beside it counts", []*fake{trusted("a", list)}, "a=list", "a"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got := dispatcher(t, 0, tc.plugins...).Pre(t.Context(), input(abi.HookPreCompact), patient)
			if proposals(got) != tc.want {
				t.Errorf("proposals %q, want %q", proposals(got), tc.want)
			}
			warned := ""
			for _, o := range got.Outcomes {
				if len(o.Warnings) > 0 {
					warned += o.Plugin
				}
			}
			if warned != tc.warned {
				t.Errorf("warned %q, want %q", warned, tc.warned)
			}
			for _, p := range got.Proposals {
				if p.Output.Messages != nil {
					t.Errorf("a message list of %s", p.Source.Name)
				}
			}
		})
	}
}

// TestTheOthersAreTold: whoever proposed in vain hears why.
func TestTheOthersAreTold(t *testing.T) {
	features.Proves(t, "O2")
	d := dispatcher(t, 0, trusted("a", says(&abi.Output{Summary: "1"})), trusted("b", says(&abi.Output{Summary: "2"})),
		trusted("c", says(&abi.Output{Summary: "3"})))
	got := d.Pre(t.Context(), input(abi.HookPreCompact), patient)
	list, failures := got.Settle("b", refused("c", &abi.Error{Code: abi.CodeGrew}))
	if s := outcomes(list); s != "a:ok b:ok c:refused" || len(failures) != 1 {
		t.Errorf("outcomes %s, failures %v", s, failures)
	}
	if w := list[0].Warnings; len(w) != 1 || !strings.Contains(w[0], "b proposed too") {
		t.Errorf("warnings of a: %q", w)
	}
}

// TestCancel: any observer that is granted it cancels for all, and the
// compactor is not asked.
func TestCancel(t *testing.T) {
	features.Proves(t, "T10")
	asked := false
	d := dispatcher(t, 0, compactor("z", func(c context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
		asked = true
		return nil, abi.CallStats{}, nil
	}), trusted("a", says(&abi.Output{Summary: "1", Inject: "x", Retain: []string{"f"}})), trusted("b",
		says(&abi.Output{Cancel: true, Reason: "in the middle\nof\u202e it"})))
	got := d.Pre(t.Context(), input(abi.HookPreCompact), patient)
	if !got.Cancelled || asked || len(got.Proposals)+len(got.Injected) > 0 || got.Fallback {
		t.Errorf("asked %v: %+v", asked, got)
	}
	if s := outcomes(got.Outcomes); s != "a:ok b:cancelled" || len(got.Retained) != 1 {
		t.Errorf("outcomes %s, retained %v: what is retained stays", s, got.Retained)
	}
	if w := got.Outcomes[0].Warnings; len(w) != 2 {
		t.Errorf("what came to nothing is told: %q", w)
	}
	if w := got.Outcomes[1].Warnings; len(w) != 1 || !strings.Contains(w[0], "in the middle of it") {
		t.Errorf("the reason is told, on one line: %q", w)
	}
}

func TestCancelsAreBounded(t *testing.T) {
	features.Proves(t, "O3")
	cancel := func(d *hooks.Dispatcher, change ...func(*abi.Input)) string {
		in := input(abi.HookPreCompact)
		for _, f := range change {
			f(in)
		}
		return d.Pre(t.Context(), in, patient).Outcomes[0].Outcome
	}
	session := func(id string) func(*abi.Input) { return func(in *abi.Input) { in.Session.ID = id } }
	dry := func(in *abi.Input) { in.Trigger.DryRun = true }
	always := func() *hooks.Dispatcher { return dispatcher(t, 0, trusted("a", says(&abi.Output{Cancel: true}))) }

	d, got := always(), ""
	for range 8 {
		got += cancel(d)[:1]
	}
	if got != "cccoccco" {
		t.Errorf("cancelled and overruled: %s, want every fourth overruled", got)
	}

	d = always()
	for range 3 {
		cancel(d)
	}
	for _, tc := range []struct {
		why    string
		change func(*abi.Input)
		want   string
	}{
		{"another session has cancels of its own", session("s2"), hooks.OutcomeCancelled},
		{"another agent of the session too", func(in *abi.Input) {
			in.Session.AgentPath = "main/sub"
		}, hooks.OutcomeCancelled},
		{"a dry run says what would happen", dry, "overruled"},
		{"and changes nothing", dry, "overruled"},
		{"the fourth in a row", session("s1"), "overruled"},
		{"after a compaction it counts from zero", session("s1"), hooks.OutcomeCancelled},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := cancel(d, tc.change); got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
		})
	}

	d = always()
	for _, tc := range []struct {
		why    string
		change func(*abi.Input)
	}{
		{"the provider refused the session as too long", func(in *abi.Input) { in.Trigger.Reason = abi.TriggerOverflow }},
		{"the session is over its window", func(in *abi.Input) { in.Trigger.Fraction = 1.01 }},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := cancel(d, tc.change); got != "overruled" {
				t.Errorf("%s, and waiting would not help", got)
			}
		})
	}
}

// TestCountsAreBounded: 1,000 sessions are counted; with more, the first is
// forgotten.
func TestCountsAreBounded(t *testing.T) {
	features.Proves(t, "O3")
	d := dispatcher(t, 0, trusted("a", says(&abi.Output{Cancel: true})))
	cancel := func(session string) string {
		in := input(abi.HookPreCompact)
		in.Session.ID = session
		return d.Pre(t.Context(), in, patient).Outcomes[0].Outcome
	}
	for range 3 {
		cancel("first")
		cancel("second")
	}
	for i := range 999 {
		cancel(fmt.Sprint("s", i))
	}
	if got := cancel("second"); got != "overruled" {
		t.Errorf("the 1,000th session back: %s", got)
	}
	if got := cancel("first"); got != hooks.OutcomeCancelled {
		t.Errorf("one further: %s", got)
	}
}

func TestRequestsAtTheEndOfATurn(t *testing.T) {
	features.Proves(t, "O4")
	asks := func(s string) call {
		return says(&abi.Output{RequestCompaction: &abi.CompactionRequest{Instructions: s}})
	}
	denied := trusted("denied", asks("mine"))
	denied.granted = nil
	long := strings.Repeat("é", 2000)
	d := dispatcher(t, 0, trusted("a", asks(" keep the ports\n")), denied,
		trusted("quiet", says(&abi.Output{Retain: []string{"f"}, Summary: "s"})), trusted("b", asks("")),
		trusted("c", asks(long)))
	turn := d.TurnEnd(t.Context(), input(abi.HookTurnEnd))
	want := []hooks.Wish{{Plugin: "a", Instructions: "keep the ports"}, {Plugin: "b"},
		{Plugin: "c", Instructions: strings.Repeat("é", 1000) + "…"}}
	if fmt.Sprint(turn.Wishes) != fmt.Sprint(want) {
		t.Errorf("wishes %v", turn.Wishes)
	}
	if got := hooks.Instructed(turn.Wishes); got != "a: keep the ports\nc: "+want[2].Instructions {
		t.Errorf("instructions %q: each with the name of who gives them", got)
	}
	if outcomes(turn.Outcomes) != "a:ok denied:ok quiet:ok b:ok c:ok" || len(turn.Retained) != 1 {
		t.Errorf("outcomes %s, retained %v", outcomes(turn.Outcomes), turn.Retained)
	}
	for i, n := range []int{0, 1, 1, 0, 0} {
		t.Run(turn.Outcomes[i].Plugin, func(t *testing.T) {
			if w := turn.Outcomes[i].Warnings; len(w) != n {
				t.Errorf("warnings of %s: %q", turn.Outcomes[i].Plugin, w)
			}
		})
	}
	if d := dispatcher(t, 0, observer("a", panics)); len(d.TurnEnd(t.Context(), input(abi.HookTurnEnd)).Outcomes) != 0 {
		t.Error("called a plugin that does not handle turn_end")
	}
}

func TestRequestsAreBounded(t *testing.T) {
	features.Proves(t, "O4")
	out := &abi.Output{RequestCompaction: &abi.CompactionRequest{}}
	does := says(out)
	d := dispatcher(t, 0, trusted("a", func(c context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
		return does(c, in)
	}))
	turn := func(change ...func(*abi.Input)) int {
		in := input(abi.HookTurnEnd)
		for _, f := range change {
			f(in)
		}
		turn := d.TurnEnd(t.Context(), in)
		if asked := out.RequestCompaction != nil; asked && (len(turn.Wishes) == 0) != (len(turn.Outcomes[0].Warnings) == 1) {
			t.Errorf("a request that is not taken is told: %+v", turn.Outcomes[0])
		}
		return len(turn.Wishes)
	}
	compaction := func(reason abi.TriggerReason, dry bool) {
		in := input(abi.HookPreCompact)
		in.Trigger.Reason, in.Trigger.DryRun = reason, dry
		does = says(nil)
		d.Pre(t.Context(), in, patient)
		does = says(out)
	}
	steps := []struct {
		why  string
		do   func()
		want int
	}{
		{"a first", nil, 1},
		{"a dry run is not counted", func() { turn(func(in *abi.Input) { in.Trigger.DryRun = true }) }, 1},
		{"a compaction it asked for ends no row", func() { compaction(abi.TriggerPlugin, false) }, 1},
		{"a fourth is one too many", nil, 0},
		{"and a fifth", nil, 0},
		{"another session is another row", func() {
			if turn(func(in *abi.Input) { in.Session.ID = "s2" }) != 1 {
				t.Error("another session")
			}
		}, 0},
		{"a compaction that was only tried changes nothing", func() { compaction(abi.TriggerThreshold, true) }, 0},
		{"a compaction for another reason ends the row", func() { compaction(abi.TriggerThreshold, false) }, 1},
		{"two", nil, 1},
		{"three", nil, 1},
		{"four", nil, 0},
		{"a turn without a request ends it too", func() {
			out.RequestCompaction = nil
			turn()
			out.RequestCompaction = &abi.CompactionRequest{}
		}, 1},
	}
	for _, s := range steps {
		t.Run(s.why, func(t *testing.T) {
			if s.do != nil {
				s.do()
			}
			if got := turn(); got != s.want {
				t.Errorf("%d requests, want %d", got, s.want)
			}
		})
	}
}
