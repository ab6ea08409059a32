package kagewasm_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies"
)

// listed is a compactor that answers a list with a summary beside it. inserted is what the
// list itself says of the messages that go, "" for nothing.
func listed(inserted, beside string) *fakePlugin {
	return compactor(func(in *abi.Input) (*abi.Output, error) {
		out, err := keepOnly(inserted, fixed)(in)
		out.Summary = beside
		return out, err
	})
}

// TestSummaryBesideAList: a compactor's optional summary beside its list is for people: it is
// in the record, the audit log and the report, and no model is shown it.
func TestSummaryBesideAList(t *testing.T) {
	features.Proves(t, "K30")
	for _, tc := range []struct{ name, inserted string }{
		{"the list says nothing of what goes", ""},
		{"the list has a summary of its own", "Forty steps went well."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			const beside = "six files, told to people"
			var events []kagewasm.Event
			post := listed(tc.inserted, beside)
			post.Post = answers(nil)
			c := newCompactor(t, kagewasm.Options{Plugins: plugins(post),
				Audit: func(e kagewasm.Event) { events = append(events, e) }})
			r := compact(t, c, request(400, chat(60)))
			if r.Report.Strategy != "delegate" || r.Report.AuditSummary != beside || r.Record.AuditSummary != beside {
				t.Errorf("by %s: the report says %q, the record %q", r.Report.Strategy, r.Report.AuditSummary,
					r.Record.AuditSummary)
			}
			if said := events[len(events)-1].Report.AuditSummary; said != beside {
				t.Errorf("the audit log says %q", said)
			}
			if said := post.Calls(abi.HookPostCompact)[0].Record.AuditSummary; said != beside {
				t.Errorf("post_compact is told %q", said)
			}
			for i := range r.Messages {
				if strings.Contains(r.Messages[i].Text(), beside) {
					t.Errorf("the model is shown it in %s", r.Messages[i].ID)
				}
			}
			if !strings.Contains(r.Report.Summary, tc.inserted) {
				t.Errorf("what the list says of it is not in the note: %q", r.Report.Summary)
			}
		})
	}
}

// TestSummaryBesideAListIsBounded: what is kept for people has no secrets, poses as nothing
// of the host's, and is not longer than somebody reads.
func TestSummaryBesideAListIsBounded(t *testing.T) {
	features.Proves(t, "K30", "complaint 16")
	secret := "AKIA" + "IOSFODNN7EXAMPLE"
	r := compact(t, newCompactor(t, kagewasm.Options{
		Plugins: plugins(listed("", "the key is "+secret+" "+strings.Repeat("x", 1<<20)))}), request(400, chat(60)))
	doc, err := json.Marshal(r.Record)
	if err != nil || r.Report.Strategy != "delegate" {
		t.Fatal(err, r.Report.Failures)
	}
	if said := r.Record.AuditSummary; strings.Contains(string(doc), secret) || len(said) > 20_000 || len(said) < 1000 {
		t.Errorf("%d bytes: %.80s", len(said), said)
	}
}

// TestNoteBy: the list is taken as it is, and the host adds what the policy asks for.
func TestNoteBy(t *testing.T) {
	features.Proves(t, "K30")
	const said, host = "Forty steps went well.", "## Exact names"
	for _, tc := range []struct {
		name             string
		by               strategies.NoteBy
		plugin           *fakePlugin
		note             bool // whether there is one
		hasSaid, hasHost bool
		audit            string
	}{
		{"by default both", "", listed(said, ""), true, true, true, ""},
		{"both", strategies.NoteByBoth, listed(said, "x"), true, true, true, "x"},
		{"the plugin's list", strategies.NoteByPlugin, listed(said, ""), true, true, false, ""},
		{"a list that says nothing, by the plugin", strategies.NoteByPlugin, listed("", "x"), false, false, false, "x"},
		{"the plugin's summary", strategies.NoteByPlugin, compactor(answers(&abi.Output{Summary: said})), true, true, false,
			""},
		{"the host's of a list", strategies.NoteByHost, listed(said, ""), true, false, true, said},
		{"the host's of a summary", strategies.NoteByHost, compactor(answers(&abi.Output{Summary: said})), true, false, true,
			said},
	} {
		t.Run(tc.name, func(t *testing.T) {
			policy := kagewasm.Policy{Note: strategies.NoteConfig{By: tc.by}}
			req := request(400, chat(60))
			req.Recall = "Ask the tool recall."
			r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(tc.plugin), Policy: policy}), req)
			if r.Report.Strategy != "delegate" || (len(r.Report.Inserted) > 0) != tc.note {
				t.Fatalf("by %s, inserted %v: %v", r.Report.Strategy, r.Report.Inserted, r.Report.Failures)
			}
			all := strings.Join(texts(r.Messages), "\n")
			if strings.Contains(all, said) != tc.hasSaid || strings.Contains(all, host) != tc.hasHost ||
				strings.Contains(all, req.Recall) && !tc.hasHost {
				t.Errorf("the model is shown %s", r.Report.Summary)
			}
			if r.Report.AuditSummary != tc.audit {
				t.Errorf("people are told %q, want %q", r.Report.AuditSummary, tc.audit)
			}
		})
	}
	t.Run("pins that last are told all the same", func(t *testing.T) {
		p := compactor(func(in *abi.Input) (*abi.Output, error) {
			out, err := keepOnly("", func(m *abi.InputMessage) bool { return fixed(m) || m.ID == "a3" || m.ID == "t3" })(in)
			out.AlwaysKeep = []string{"a3"}
			return out, err
		})
		r := compact(t, newCompactor(t, kagewasm.Options{Plugins: plugins(p),
			Policy: kagewasm.Policy{Note: strategies.NoteConfig{By: strategies.NoteByPlugin}}}), request(400, chat(60)))
		if !slices.Equal(abi.KeepersOf(r.Messages)["a3"], []string{"comp"}) {
			t.Errorf("%v of %s: %v", abi.KeepersOf(r.Messages), ids(r.Messages), r.Report.Failures)
		}
	})
	t.Run("anything else is refused", func(t *testing.T) {
		_, err := kagewasm.New(kagewasm.Options{Counter: wordCounter{},
			Policy: kagewasm.Policy{Note: strategies.NoteConfig{By: "nobody"}}})
		if abi.CodeOf(err) != abi.CodeUsage {
			t.Errorf("%v", err)
		}
	})
}

func texts(msgs []abi.Message) (list []string) {
	for i := range msgs {
		list = append(list, msgs[i].Text())
	}
	return list
}
