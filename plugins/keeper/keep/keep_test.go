package keep_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/abitest"
	"github.com/kagewasm/kagewasm/abi/guest/guesttest"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/plugins/keeper/keep"
	"github.com/kagewasm/kagewasm/strategies/note"
	"pgregory.net/rapid"
)

// manifest is the plugin's own, so that what it says is what is tested.
var manifest = sync.OnceValue(func() *abi.Manifest {
	m, err := abitest.ReadManifest("../plugin.yaml")
	if err != nil {
		panic(err)
	}
	return m
})

func TestConformance(t *testing.T) {
	abitest.Run(t, manifest(), &guesttest.Plugin{Plugin: keep.Plugin})
}

func say(role abi.Role, text string) abi.Message {
	return abi.Message{Role: role, Content: abi.Text(text)}
}

func use(name, args, result string) []abi.Message {
	id := name + args
	m := say(abi.RoleAssistant, "")
	m.ToolCalls = []abi.ToolCall{{ID: id, Name: name, Arguments: args}}
	r := say(abi.RoleTool, result)
	r.ToolCallID = id
	return []abi.Message{m, r}
}

func call(t *testing.T, in *abi.Input) *abi.Output {
	t.Helper()
	out, _, err := (&guesttest.Plugin{Plugin: keep.Plugin}).Call(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func summaryOf(out *abi.Output) string {
	for _, m := range out.Messages {
		if m.Kind == abi.KindSummary {
			return m.Text()
		}
	}
	return ""
}

func filler(n int) string { return strings.Repeat("some output\n", n) }

// TestLines: what is superseded leaves a line that says what it was.
func TestLines(t *testing.T) {
	for _, c := range []struct {
		why  string
		msgs []abi.Message
		want string
	}{
		{"a person's words", []abi.Message{say(abi.RoleUser, "please port\n the store "+filler(100))},
			"- user asked: please port the store some"},
		{"a failed command, with the line that says so",
			use("bash", `{"command":"go test ./..."}`, "ok a\n--- FAIL: TestX (0.1s)\n"+filler(100)),
			"- ran `go test ./...` → --- FAIL: TestX (0.1s)"},
		{"a command as a list", use("shell", `{"command":["bash","-lc","make"]}`, filler(100)), "- ran `bash -lc make`"},
		{"a file read", use("Read", `{"file_path":"internal/x.go"}`, filler(100)), "- read internal/x.go"},
		{"a file edited", use("Edit", `{"file_path":"y.go","old_string":"a"}`, filler(100)), "- edited y.go"},
		{"one tool for everything", use("editor", `{"command":"str_replace","path":"z.go"}`, filler(100)), "- edited z.go"},
		{"a search", use("grep", `{"pattern":"TODO"}`, filler(100)), "- grep: TODO"},
		{"arguments that are not JSON", use("noop", `whatever`, filler(100)), "- noop whatever"},
		{"the same thing twice", slices.Concat(use("Read", `{"path":"a"}`, filler(100)),
			use("Read", `{"path":"a"}`, filler(100))), "\n- read a"},
	} {
		t.Run(c.why, func(t *testing.T) {
			msgs := slices.Concat([]abi.Message{say(abi.RoleUser, "start")}, c.msgs,
				[]abi.Message{say(abi.RoleUser, "and?"), say(abi.RoleAssistant, "so")})
			in := abitest.NewInput(manifest(), msgs, 200)
			in.Budget.SummaryTokens = 150
			out := call(t, in)
			if got := summaryOf(out); !strings.Contains(got, c.want) {
				t.Errorf("the summary lacks %q:\n%s", c.want, got)
			}
			if err := abitest.CheckOutput(manifest(), in, out); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestWhatStays: errors and decisions go last.
func TestWhatStays(t *testing.T) {
	msgs := []abi.Message{say(abi.RoleSystem, "be good"), say(abi.RoleUser, "start")}
	for i := range 30 {
		switch i {
		case 3:
			msgs = append(msgs, say(abi.RoleUser, "We decided to use sqlite instead of files."))
		case 5:
			msgs = append(msgs, use("bash", `{"command":"make"}`, "error: undefined: Foo")...)
		}
		msgs = append(msgs, use("read", fmt.Sprintf(`{"path":"f%d.go"}`, i), filler(30))...)
	}
	msgs = append(msgs, say(abi.RoleUser, "go on"), say(abi.RoleAssistant, "yes"))
	in := abitest.NewInput(manifest(), msgs, 1200)
	out := call(t, in)
	var kept []string
	for _, m := range out.Messages {
		kept = append(kept, m.Ref)
	}
	for i, m := range msgs {
		t.Run(in.Messages[i].ID, func(t *testing.T) {
			id := in.Messages[i].ID
			if s := m.Text() + fmt.Sprint(m.ToolCalls); (strings.Contains(s, "decided") ||
				strings.Contains(s, "make")) && !slices.Contains(kept, id) {
				t.Errorf("%q is gone", s)
			}
		})
	}
	if in.Messages[len(msgs)-3].Role != abi.RoleTool || !slices.Contains(kept, in.Messages[len(msgs)-3].ID) {
		t.Error("the newest exchange is gone")
	}
	if out.Messages[2].Kind != abi.KindSummary {
		t.Errorf("the summary is not behind the stable prefix: %+v", out.Messages[:4])
	}
	if err := abitest.CheckOutput(manifest(), in, out); err != nil {
		t.Error(err)
	}
}

// TestHostsPart: what the host added to an earlier summary is no line of the next one, as the host says it again. Of a
// note that is the host's alone its entries are carried, and no headings.
func TestHostsPart(t *testing.T) {
	features.Proves(t, "A6")
	went := slices.Concat([]abi.Message{say(abi.RoleUser, "Port the store to cents.")},
		use("TodoWrite", `{"todos":[{"content":"Backfill order_totals","status":"pending"}]}`, "ok"),
		use("Read", `{"file_path":"internal/ledger/cents.go"}`, "package ledger"))
	session := note.Session{Messages: went, Gone: []bool{true, true, true, true, true}}
	hosts, _ := note.Build(t.Context(), session).Write(note.Options{Budget: 2000, Count: sessiongen.Counter{}.Text})
	for _, c := range []struct {
		why, said  string
		want, gone []string
	}{
		{"below what the plugin said", "Earlier messages were superseded. What they were, oldest first:\n- edited a.go\n\n",
			[]string{"- edited a.go\n"}, []string{"##", "Backfill", "cents.go", "Read off", "Words of persons"}},
		{"alone", "", []string{"- > Port the store to cents.", "- [ ] Backfill order_totals"},
			[]string{"##", "Read off", "Words of persons", "- [1]"}},
	} {
		t.Run(c.why, func(t *testing.T) {
			old := say(abi.RoleUser, abi.Fence(abi.KindSummary, "keeper", "data", c.said+hosts))
			old.Kind = abi.KindSummary
			in := abitest.NewInput(manifest(), slices.Concat([]abi.Message{say(abi.RoleUser, "start"), old},
				use("Read", `{"path":"b.go"}`, filler(400)), []abi.Message{say(abi.RoleUser, "more?"), say(abi.RoleAssistant, "no")}), 150)
			in.Budget.SummaryTokens = 200
			got := summaryOf(call(t, in))
			for _, want := range append(c.want, "- read b.go") {
				if !strings.Contains(got, want) {
					t.Errorf("%q is lost", want)
				}
			}
			for _, gone := range c.gone {
				if strings.Contains(got, gone) {
					t.Errorf("%q is a line of it", gone)
				}
			}
			if t.Failed() {
				t.Logf("the host's part:\n%s\nthe summary:\n%s", hosts, got)
			}
		})
	}
}

// TestChain: what a first compaction kept of a session is not lost by the
// second.
func TestChain(t *testing.T) {
	old := say(abi.RoleUser, abi.Fence(abi.KindSummary, "keeper", "data",
		"Earlier messages were superseded. What they were, oldest first:\n- edited a.go\n- user asked: port "+
			"it, all of "+strings.Repeat("it ", 200)+"\n- (3 more)"))
	old.Kind = abi.KindSummary
	msgs := slices.Concat([]abi.Message{say(abi.RoleUser, "start"), old}, use("Read", `{"path":"b.go"}`, filler(200)),
		[]abi.Message{say(abi.RoleUser, "more?"), say(abi.RoleAssistant, "no")})
	in := abitest.NewInput(manifest(), msgs, 150)
	in.Budget.SummaryTokens = 80
	in.Config["line_length"] = json.RawMessage("40")
	got := summaryOf(call(t, in))
	for _, want := range []string{"- edited a.go\n", "- user asked: port it, all of it", "- read b.go"} {
		t.Run(fmt.Sprintf("%q", want), func(t *testing.T) {
			if !strings.Contains(got, want) {
				t.Errorf("%q is lost:\n%s", want, got)
			}
		})
	}
	if strings.Contains(got, "(3 more)") || strings.Count(got, "oldest first") != 1 {
		t.Errorf("the frame of the first is in the second:\n%s", got)
	}
}

func TestNothingToDo(t *testing.T) {
	msgs := []abi.Message{say(abi.RoleUser, "start"), say(abi.RoleAssistant, filler(100)), say(abi.RoleUser, "thanks")}
	if out := call(t, abitest.NewInput(manifest(), msgs, 10_000)); out != nil {
		t.Errorf("below the target: %+v", out)
	}
	if out := call(t, abitest.NewInput(manifest(), msgs[:2], 1)); out != nil {
		t.Errorf("all is pinned or current: %+v", out)
	}
}

func TestTargetOfNothing(t *testing.T) {
	msgs := []abi.Message{say(abi.RoleUser, "start"), say(abi.RoleAssistant, filler(100)), say(abi.RoleUser, "thanks")}
	in := abitest.NewInput(manifest(), msgs, 0)
	in.Budget = abi.Budget{TargetTokens: 0, SummaryTokens: 100}
	if out := call(t, in); out == nil || len(out.Superseded) != 2 || summaryOf(out) == "" {
		t.Errorf("the current turn goes too, and a summary stands for it: %+v", out)
	}
}

// TestAnySession: the rules hold for sessions nobody would write.
func TestAnySession(t *testing.T) {
	p := &guesttest.Plugin{Plugin: keep.Plugin}
	roles := rapid.SampledFrom([]abi.Role{abi.RoleSystem, abi.RoleUser, abi.RoleUser, abi.RoleAssistant,
		abi.RoleAssistant, abi.RoleTool, abi.RoleTool})
	ids := rapid.SampledFrom([]string{"a", "b", "c", ""})
	message := rapid.Custom(func(t *rapid.T) abi.Message {
		m := say(roles.Draw(t, "role"), rapid.StringN(0, 300, -1).Draw(t, "text"))
		switch m.Role {
		case abi.RoleAssistant:
			for range rapid.IntRange(0, 2).Draw(t, "calls") {
				m.ToolCalls = append(m.ToolCalls,
					abi.ToolCall{ID: ids.Draw(t, "id"), Name: "bash", Arguments: rapid.String().Draw(t, "arguments")})
			}
		case abi.RoleTool:
			m.ToolCallID = ids.Draw(t, "answers")
		case abi.RoleUser:
			m.Kind = rapid.SampledFrom([]abi.Kind{"", "", abi.KindSummary, abi.KindMeta}).Draw(t, "kind")
		}
		return m
	})
	rapid.Check(t, func(t *rapid.T) {
		msgs := rapid.SliceOfN(message, 0, 30).Draw(t, "messages")
		in := abitest.NewInput(manifest(), msgs, rapid.IntRange(0, 3000).Draw(t, "target"))
		in.Config["recent_share"] = json.RawMessage(fmt.Sprint(rapid.Float64Range(0, 1).Draw(t, "share")))
		out, _, err := p.Call(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if out != nil {
			if err := abitest.CheckOutput(manifest(), in, out); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestSharedSessions(t *testing.T) {
	p := &guesttest.Plugin{Plugin: keep.Plugin}
	for _, path := range shared.Sessions(t) {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		var msgs []abi.Message
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<26)
		for lines.Scan() {
			var m abi.Message
			if err := json.Unmarshal(lines.Bytes(), &m); err != nil {
				t.Fatal(err)
			}
			if m.Role != "" {
				msgs = append(msgs, m)
			}
		}
		f.Close()
		for _, share := range []int{10, 50} {
			t.Run(fmt.Sprintf("%s at %d%%", filepath.Base(path), share), func(t *testing.T) {
				whole := abitest.NewInput(manifest(), msgs, 0)
				in := abitest.NewInput(manifest(), msgs, whole.Trigger.Tokens*share/100)
				out, _, err := p.Call(t.Context(), in)
				if err != nil {
					t.Fatal(err)
				}
				if out == nil {
					t.Logf("%s to %d%%: nothing to supersede", path, share)
					return
				}
				if err := abitest.CheckOutput(manifest(), in, out); err != nil {
					t.Errorf("%s to %d%%: %v", path, share, err)
				}
			})
		}
	}
}
