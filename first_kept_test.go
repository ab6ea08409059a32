package kagewasm_test

import (
	"slices"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

// TestFirstKept: the record of a compaction and its report name the first message that the model still sees behind
// the note. Where none is there, or nothing went, they name none.
func TestFirstKept(t *testing.T) {
	features.Proves(t, "T4")
	pinned := long()
	pinned[9].Meta = abi.Meta{abi.MetaAlwaysKeep: []byte("true")}
	marked := long()
	marked = slices.Insert(marked, len(marked)-4, abi.Message{ID: "mark", Role: abi.RoleUser, Kind: abi.KindBookmark,
		Content: abi.Text("here")})
	for why, tc := range map[string]struct {
		msgs   []abi.Message
		opts   kagewasm.Options
		dry    bool
		window int
		none   bool
	}{
		"drop":      {msgs: long()},
		"a model":   {msgs: long(), opts: kagewasm.Options{Model: writes("all is well")}},
		"a plugin":  {msgs: long(), opts: kagewasm.Options{Plugins: plugins(compactor(keepOnly("Forty steps.", fixed)))}},
		"a dry run": {msgs: long(), dry: true},
		"a message that is pinned amid what goes":   {msgs: pinned},
		"a bookmark that no model sees":             {msgs: marked},
		"a dry run of a session that is far within": {msgs: long(), window: 1 << 20, dry: true, none: true},
	} {
		t.Run(why, func(t *testing.T) {
			window := longWindow
			if tc.window > 0 {
				window = tc.window
			}
			req := request(window, tc.msgs)
			req.DryRun = tc.dry
			r := compact(t, newCompactor(t, tc.opts), req)
			if r.Record.FirstKept != r.Report.FirstKept {
				t.Errorf("%q in the record, %q in the report", r.Record.FirstKept, r.Report.FirstKept)
			}
			if tc.none {
				if r.Report.Compacted || r.Report.FirstKept != "" {
					t.Errorf("compacted: %v, from %q on", r.Report.Compacted, r.Report.FirstKept)
				}
				return
			}
			at := slices.IndexFunc(r.Messages, func(m abi.Message) bool { return m.ID == r.Report.FirstKept })
			if at < 0 || !slices.Contains(r.Report.Kept, r.Report.FirstKept) {
				t.Fatalf("%q is named, of %s", r.Report.FirstKept, ids(r.Messages))
			}
			before := r.Messages[:at]
			for len(before) > 0 && before[len(before)-1].Kind.Internal() {
				before = before[:len(before)-1]
			}
			last := before[len(before)-1]
			if !slices.Contains(r.Report.Inserted, last.ID) {
				t.Errorf("it stands behind %s: %s", last.ID, ids(r.Messages))
			}
		})
	}
}

// TestNoneKept: where nothing stays behind the note no message is named.
func TestNoneKept(t *testing.T) {
	features.Proves(t, "T4")
	msgs := long()
	req := request(longWindow, msgs[:len(msgs)-1])
	req.Force, req.Overrides = true, &kagewasm.Overrides{KeepLast: new(0)}
	r := compact(t, newCompactor(t, kagewasm.Options{}), req)
	last := r.Messages[len(r.Messages)-1]
	if !slices.Contains(r.Report.Inserted, last.ID) || r.Report.FirstKept != "" || r.Record.FirstKept != "" {
		t.Errorf("%q is named, of %s", r.Report.FirstKept, ids(r.Messages))
	}
}
