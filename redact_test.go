package kagewasm_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/hosttest"
	"github.com/kagewasm/kagewasm/internal/secretforms"
	"github.com/kagewasm/kagewasm/strategies"
)

// TestSecrets do not get into what a compaction inserts.
func TestSecrets(t *testing.T) {
	features.Proves(t, "complaint 16")
	msgs := chat(60)
	const key = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	msgs[4].Content = abi.Text("export TOKEN=" + key + " and run ./deploy_all.sh with ticket-4711")
	p := compactor(answers(&abi.Output{Summary: "The key is " + key + ", the ticket ticket-4711."}))
	for why, opts := range map[string]kagewasm.Options{
		"the ledger": {},
		"a summary":  {Plugins: plugins(p)},
		"own patterns": {Policy: kagewasm.Policy{
			Note: strategies.NoteConfig{Redact: []*regexp.Regexp{regexp.MustCompile(`ticket-\d+`)}}}},
		"an injected one": {Plugins: plugins(&fakePlugin{Name: "obs", Pre: answers(&abi.Output{Inject: "Use " + key})})},
	} {
		t.Run(why, func(t *testing.T) {
			r := compact(t, newCompactor(t, opts), request(1200, msgs))
			text := sessionText(r.Messages)
			if !r.Report.Compacted || strings.Contains(text, key) || r.Report.Metrics.Redacted != strings.Count(
				text, "[redacted: ") {
				t.Errorf("%d redacted: %s", r.Report.Metrics.Redacted, r.Report.Reason)
			}
			if why == "own patterns" && strings.Contains(text, "ticket-4711") {
				t.Errorf("%s: the ticket is there", why)
			}
		})
	}
	r := compact(t, newCompactor(t, kagewasm.Options{
		Policy: kagewasm.Policy{Note: strategies.NoteConfig{NoRedact: true}}, Plugins: plugins(p)}), request(1200, msgs))
	if !strings.Contains(sessionText(r.Messages), key) {
		t.Error("switched off, and redacted")
	}
}

// TestNamesOfSecrets: a secret that is known by what stands around it
// does not get into the list of names, where nothing does.
func TestNamesOfSecrets(t *testing.T) {
	features.Proves(t, "complaint 16")
	counter := realCounter()
	for why, tc := range map[string]struct{ text, secret string }{
		"a web token": {"Authorization: Bearer " +
			"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
			"dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"},
		"a password":        {"DB_PASSWORD=hunter2Hunter_2x psql -c 'select 1'", "hunter2Hunter_2x"},
		"a flag":            {"curl --token Zx81_kkQ2_aa9", "Zx81_kkQ2_aa9"},
		"the operator's":    {"the ticket code Qx7_Zebra_99 is valid", "Qx7_Zebra_99"},
		"one in a document": {`{"client_secret": "kQ9_ppL2_zz71x"}`, "kQ9_ppL2_zz71x"},
	} {
		t.Run(why, func(t *testing.T) {
			c := newCompactor(t, kagewasm.Options{Counter: counter,
				Policy: kagewasm.Policy{Note: strategies.NoteConfig{
					Redact: []*regexp.Regexp{regexp.MustCompile(`ticket code [A-Za-z0-9_]+`)}}}})
			msgs := chat(60)
			msgs[3].Content = abi.Text(tc.text)
			msgs[6].ToolCalls[0].Arguments = fmt.Sprintf(`{"command": %q}`, tc.text)
			r := compact(t, c, request(2000, msgs))
			if text := sessionText(r.Messages); !r.Report.Compacted || strings.Contains(text, tc.secret) {
				t.Errorf("%s is in the note:\n%s", why, text)
			}
		})
	}
}

func sessionText(msgs []abi.Message) string {
	var b strings.Builder
	for i := range msgs {
		b.WriteString(msgs[i].Text() + "\n")
	}
	return b.String()
}

// TestCountSummary: the same for a summary that was refused first.
func TestCountSummary(t *testing.T) {
	features.Proves(t, "complaint 16")
	for _, n := range []int{100, 300} {
		t.Run(fmt.Sprintf("%d messages", n), func(t *testing.T) {
			for _, w := range []int{20000, 40000, 60000} {
				t.Run(fmt.Sprintf("window of %d", w), func(t *testing.T) {
					msgs := chat(n)
					for i := range msgs {
						if msgs[i].Role == abi.RoleTool {
							msgs[i].Content = abi.Text(strings.Repeat("plain words here ", 100))
						}
						if msgs[i].ID == "t5" {
							msgs[i].Content = abi.Text("error: bad token ghp_abcdefghijklmnopqrstuvwxyz0123456789 refused\nexit status 1")
							msgs[i].IsError = true
						}
					}
					c := newCompactor(t, kagewasm.Options{})
					req := request(w, msgs)
					req.Force = true
					r := compact(t, c, req)
					marks := strings.Count(strings.ToLower(r.Report.Summary), "[redacted")
					t.Logf("%d/%d: %d reported, %d there, superseded %d", n, w, r.Report.Metrics.Redacted, marks,
						len(r.Report.Superseded))
					if r.Report.Metrics.Redacted != marks {
						t.Errorf("accounting")
					}
				})
			}
		})
	}
}

// TestCount: secrets are counted as they stand in the result, not as they were tried.
func TestCount(t *testing.T) {
	features.Proves(t, "complaint 16")
	msgs := chat(400)
	for i := range msgs {
		if msgs[i].ID == "a5" {
			msgs[i].ToolCalls[0].Arguments = `{"command": "deploy --token ghp_abcdefghijklmnopqrstuvwxyz0123456789 now"}`
		}
		if msgs[i].ID == "t5" {
			msgs[i].Content = abi.Text("error: bad token ghp_abcdefghijklmnopqrstuvwxyz0123456789 refused\nexit status 1")
			msgs[i].IsError = true
		}
	}
	for _, w := range []int{1500, 3000, 5000, 8000} {
		t.Run(fmt.Sprintf("window of %d", w), func(t *testing.T) {
			c := newCompactor(t, kagewasm.Options{})
			req := request(w, msgs)
			req.Force = true
			r := compact(t, c, req)
			marks := strings.Count(r.Report.Summary, "[redacted") + strings.Count(r.Report.Summary, "[REDACTED")
			t.Logf("%d reported, %d there", r.Report.Metrics.Redacted, marks)
			if marks > 0 && r.Report.Metrics.Redacted != marks {
				t.Errorf("accounting %.300s", r.Report.Summary)
			}
		})
	}
}

// TestFormsEndToEnd: of no secret, in whatever form it is told, is anything left in
// what a compaction inserts, in its report and record, and in what plugins retain.
func TestFormsEndToEnd(t *testing.T) {
	features.Proves(t, "complaint 16")
	forms := secretforms.Forms(t)
	for at := 0; at < len(forms); at += 20 {
		some := forms[at:min(len(forms), at+20)]
		t.Run(some[0].Text, func(t *testing.T) {
			var texts []string
			msgs := chat(400)
			for i, f := range some {
				texts = append(texts, f.Text)
				arguments, err := json.Marshal(map[string]string{"command": f.Text})
				if err != nil {
					t.Fatal(err)
				}
				msgs[3*i+1].Content = abi.Text("Do this: " + f.Text)
				if calls := msgs[3*i+3].ToolCalls; len(calls) > 0 {
					calls[0].Arguments = string(arguments)
				}
			}
			all := strings.Join(texts, "\n")
			talks := func(out *abi.Output) hosttest.Handler {
				return func(*abi.Input) (*abi.Output, error) { return out, nil }
			}
			failing := func(*abi.Input) (*abi.Output, error) {
				return nil, &abi.Error{Code: abi.CodeTrap, Phase: abi.PhaseCall, Message: all, Hint: all}
			}
			mem := memory{}
			out := &abi.Output{Retain: texts, Inject: all}
			c := newCompactor(t, kagewasm.Options{Memory: mem, Plugins: plugins(
				&fakePlugin{Name: "obs", Pre: talks(out), Post: talks(&abi.Output{Retain: texts}),
					Turn: talks(&abi.Output{Retain: texts})},
				&fakePlugin{Name: "bad", Pre: failing, Post: failing, Turn: failing})})
			r := compact(t, c, request(4000, msgs))
			turn, err := c.TurnEnd(t.Context(), request(4000, msgs))
			if err != nil || !r.Report.Compacted || len(mem) == 0 || len(turn.Retained) == 0 {
				t.Fatalf("%v, %s, %d facts", err, r.Report.Reason, len(mem))
			}
			texts = []string{inserted(r)}
			for _, v := range []any{r.Report, r.Record, turn, mem} {
				b := new(strings.Builder)
				e := json.NewEncoder(b)
				e.SetEscapeHTML(false)
				if err := e.Encode(v); err != nil {
					t.Fatal(err)
				}
				texts = append(texts, b.String())
			}
			for i, name := range []string{"what is inserted", "the report", "the record", "the end of a turn", "the memory"} {
				for _, f := range some {
					for _, secret := range f.Secrets {
						if at := strings.Index(texts[i], strings.Split(secret, "\n")[0]); at >= 0 {
							t.Errorf("%s has %q of %q: %q", name, secret, f.Text, texts[i][max(0, at-60):min(len(texts[i]), at+60)])
						}
					}
				}
			}
		})
	}
}

// inserted is the text of what a compaction inserted.
func inserted(r *kagewasm.Result) string {
	var list []abi.Message
	for i := range r.Messages {
		if slices.Contains(r.Report.Inserted, r.Messages[i].ID) {
			list = append(list, r.Messages[i])
		}
	}
	return sessionText(list)
}
