package note_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/strategies/note"
)

var byRune = sessiongen.Counter{}.Text

func user(text string) abi.Message { return abi.Message{Role: abi.RoleUser, Content: abi.Text(text)} }
func said(text string) abi.Message {
	return abi.Message{Role: abi.RoleAssistant, Content: abi.Text(text)}
}

// summary is a message as a compaction leaves it.
func summary(text string) abi.Message {
	return abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text(abi.Fence(abi.KindSummary, "strategy:drop", "a note", text))}
}

// called is a call to a tool with these arguments, and its result.
func called(tool string, args map[string]any, output string, failed bool) []abi.Message {
	doc, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return []abi.Message{
		{Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{ID: "c", Name: tool, Arguments: string(doc)}}},
		{Role: abi.RoleTool, ToolCallID: "c", Content: abi.Text(output), IsError: failed},
	}
}

func run(command, output string, failed bool) []abi.Message {
	return called("Bash", map[string]any{"command": command}, output, failed)
}

func todoWrite(list ...string) []abi.Message {
	todos := []any{}
	for i := 0; i < len(list); i += 2 {
		todos = append(todos, map[string]any{"content": list[i], "status": list[i+1]})
	}
	return called("TodoWrite", map[string]any{"todos": todos}, "ok", false)
}

// work is a piece of work with everything in it that a digest keeps.
func work() []abi.Message {
	msgs := []abi.Message{
		user("hello!"),
		user("Make the lease table safe.\n\n- [ ] no parcel is handed out twice\n- [x] a test shows it\n\nYou must not change the wire format. Thanks"),
		said("I decided to use one lock for the table because two were the cause. Let me read it."),
	}
	msgs = append(msgs, todoWrite("write the test", "completed", "add the lock", "in_progress", "run everything", "pending")...)
	msgs = append(msgs, called("Read", map[string]any{"file_path": "/srv/kw/docs/leases.md"}, "# parcel_lease_ttl", false)...)
	msgs = append(msgs, called("Write", map[string]any{"file_path": "/srv/kw/internal/store/lock.go", "content": "package store"}, "File created", false)...)
	msgs = append(msgs, called("Edit", map[string]any{"file_path": "/srv/kw/internal/store/lease.go", "old_string": "a", "new_string": "b"}, "updated:\n    12→func acquireLocked()\n    13→}\n", false)...)
	msgs = append(msgs, called("Edit", map[string]any{"file_path": "/srv/kw/internal/store/lease.go", "old_string": "x"}, "<tool_use_error>String to replace not found in file.</tool_use_error>", true)...)
	msgs = append(msgs, run("go test ./internal/store/... -run TestLease", "Exit code 1\n--- FAIL: TestLease (0.41s)\n    lease_test.go:40: got 2, want 1", true)...)
	msgs = append(msgs, run("go test ./internal/store/...", "ok", false)...)
	return append(msgs, said("The lock works. Next I will run the race detector over PAR-2291."), user("ok"))
}

func render(msgs []abi.Message, o note.Options) string {
	if o.Count == nil {
		o.Count = byRune
	}
	if o.Budget == 0 {
		o.Budget = 3000
	}
	return note.Build(context.Background(), msgs, nil, nil).Render(o)
}

// TestMechanicalSummary, TestNoteMechanicalSummary: without a model every
// section is filled with what can be read off the session, or marked.
func TestMechanicalSummary(t *testing.T) {
	features.Proves(t, "K24")
	text := render(work(), note.Options{})
	sections(t, text, note.Handoff, map[string]string{
		"goal":                      "- Make the lease table safe.",
		"constraints & preferences": "- [ ] no parcel is handed out twice\n- [x] a test shows it\n- You must not change the wire format.",
		"progress":                  "- [x] write the test\n- [-] add the lock\n- [ ] run everything",
		"key decisions":             "- I decided to use one lock for the table because two were the cause.",
		"next steps":                "- Next I will run the race detector over PAR-2291.",
		"critical context":          "Exit code 1\n--- FAIL: TestLease (0.41s)\n    lease_test.go:40: got 2, want 1",
		"additional notes":          note.None,
	})
}

func TestNoteMechanicalSummary(t *testing.T) {
	features.Proves(t, "I4")
	text := render(work(), note.Options{Outline: note.Continuation})
	sections(t, text, note.Continuation, map[string]string{
		"session intent":     "Make the lease table safe.",
		"current task":       "- [-] add the lock",
		"files modified":     "- internal/store/: ",
		"files read":         "- docs/: leases.md",
		"key decisions":      "because two were the cause.",
		"failed approaches":  "$ go test ./internal/store/... -run TestLease\nExit code 1",
		"errors encountered": "Edit /srv/kw/internal/store/lease.go\n<tool_use_error>String to replace not found in file.</tool_use_error>",
		"next steps":         "race detector",
	})
	if empty := render([]abi.Message{user("see foo_bar_baz")}, note.Options{Outline: note.Continuation}); strings.Count(empty, note.None) != 7 {
		t.Errorf("sections without anything are not marked:\n%s", empty)
	}
}

func sections(t *testing.T, text string, o note.Outline, want map[string]string) {
	t.Helper()
	if missing := o.Missing(text); len(missing) > 0 {
		t.Errorf("no section %v:\n%s", missing, text)
	}
	got := note.Parse(text)
	for title, part := range want {
		if !strings.Contains(got[title], part) {
			t.Errorf("%s: %q is not in %q", title, part, got[title])
		}
	}
}

// TestClasses: what is kept, what is kept as a reference, and what goes.
func TestClasses(t *testing.T) {
	features.Proves(t, "I8")
	text := render(work(), note.Options{})
	for _, tc := range []struct{ why, part string }{
		{"an edit is the lines it changed", "lease.go (edited, lines 12-13)"},
		{"a new file is named", "lock.go (created)"},
		{"a failed command has what replaced it", "Worked instead: `go test ./internal/store/...`"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if !strings.Contains(text, tc.part) {
				t.Errorf("no %q in\n%s", tc.part, text)
			}
		})
	}
	for _, tc := range []struct{ why, part string }{
		{"greetings are dropped", "hello"},
		{"what was typed to go on is dropped", "- ok"},
		{"contents are dropped", "package store"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if strings.Contains(text, tc.part) {
				t.Errorf("%q is in\n%s", tc.part, text)
			}
		})
	}
	for _, greeting := range []string{"Hi!", "thanks", "OK.", "Danke!", "谢谢", "ありがとう", "…", "[Request interrupted by user]"} {
		t.Run(greeting, func(t *testing.T) {
			if text := render([]abi.Message{user(greeting), said("see foo_bar_baz")}, note.Options{}); strings.Contains(text, "Requests") {
				t.Errorf("%q was taken for a request", greeting)
			}
		})
	}
	for _, request := range []string{"ok, use tabs", "修复这个错误", "1", "thanks, now the second"} {
		t.Run(request, func(t *testing.T) {
			if text := render([]abi.Message{user(request)}, note.Options{}); !strings.Contains(text, "- "+request) {
				t.Errorf("%q was lost", request)
			}
		})
	}
}

// TestPatches: of a patch the files and the lines stay.
func TestPatches(t *testing.T) {
	features.Proves(t, "I8")
	for _, tc := range []struct{ why, patch, want string }{
		{"a patch of files", "*** Begin Patch\n*** Update File: internal/a.go\n@@\n-x\n+y\n*** Add File: internal/b.go\n+z\n*** Delete File: internal/c.go\n*** End Patch", "internal/a.go (edited) internal/b.go (created) internal/c.go (deleted)"},
		{"a unified diff", "--- a/internal/a.go\n+++ b/internal/a.go\n@@ -10,2 +12,3 @@ func f() {\n-x\n+y\n", "a.go (edited, lines 12-14)"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			text := render(called("apply_patch", map[string]any{"input": tc.patch}, "Done", false), note.Options{})
			got, _, _ := strings.Cut(text[strings.Index(text, "Files modified:"):], "\n\n")
			for _, file := range strings.SplitAfter(tc.want, ") ") {
				if !strings.Contains(got, strings.TrimSpace(file)) {
					t.Errorf("no %q in %q", file, got)
				}
			}
		})
	}
}

// TestFiles: what was read and what was modified, as data and as a footer
// below a summary, cumulative over compactions.
func TestFiles(t *testing.T) {
	features.Proves(t, "T7")
	want := abi.Files{Read: []string{"/srv/kw/docs/leases.md"}, Modified: []string{"/srv/kw/internal/store/lease.go", "/srv/kw/internal/store/lock.go"}}
	if got := note.Build(context.Background(), work(), nil, nil).Files(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	for what, o := range map[string]note.Options{
		"facts alone": {}, "a model's summary": {Summary: "A model wrote this."}, "another outline": {Outline: note.Continuation},
	} {
		t.Run(what, func(t *testing.T) {
			later := append([]abi.Message{summary(render(work(), o))}, called("Read", map[string]any{"file_path": "/srv/kw/go.mod"}, "module kw", false)...)
			want.Read = []string{"/srv/kw/docs/leases.md", "/srv/kw/go.mod"}
			if got := note.Build(context.Background(), later, nil, nil).Files(); !reflect.DeepEqual(got, want) {
				t.Errorf("after a compaction %+v, want %+v", got, want)
			}
		})
	}
}

// TestKeptBelowASummary: what a model wrote stands first and unchanged, and
// what models lose is added to it.
func TestKeptBelowASummary(t *testing.T) {
	features.Proves(t, "A6")
	const model = "## Goal\nMend the lease table.\n\n## Next Steps\n(none)"
	text := render(work(), note.Options{Summary: model})
	if !strings.HasPrefix(text, model+"\n\n") {
		t.Fatalf("the summary is not first:\n%s", text)
	}
	for _, part := range []string{"[-] add the lock", "$ go test ./internal/store/... -run TestLease\nExit code 1", "String to replace not found", "Files modified:\n- internal/store/: ", "Files read:\n- docs/: leases.md", "acquireLocked"} {
		t.Run(fmt.Sprintf("%.40q", part), func(t *testing.T) {
			if n := strings.Count(text, part); n != 1 {
				t.Errorf("%q stands there %d times:\n%s", part, n, text)
			}
		})
	}
	if got := render(nil, note.Options{Summary: model}); got != model {
		t.Errorf("nothing to add adds %q", got)
	}
}

// TestTodos: the list in its last state, whoever's tool keeps it.
func TestTodos(t *testing.T) {
	features.Proves(t, "A6")
	list := []any{map[string]any{"step": "one", "status": "completed"}, map[string]any{"step": "two", "status": "in_progress"}}
	for _, tc := range []struct {
		why  string
		msgs []abi.Message
		want string
	}{
		{"the last call counts", append(todoWrite("old", "pending"), todoWrite("one", "completed", "two", "in_progress")...), "- [x] one\n- [-] two\n"},
		{"a plan", called("update_plan", map[string]any{"explanation": "x", "plan": list}, "", false), "- [x] one\n- [-] two\n"},
		{"words", called("write_todos", map[string]any{"todos": []any{"one", "two"}}, "", false), "- [ ] one\n- [ ] two\n"},
		{"a checklist in markdown", called("todo_write", map[string]any{"todos": "- [x] one\n- [ ] two\n"}, "", false), "- [x] one\n- [ ] two\n"},
		{"true for done", called("set_todos", map[string]any{"items": []any{map[string]any{"title": "one", "done": true}}}, "", false), "- [x] one\n"},
		{"one by one, by number", append(append(called("TaskCreate", map[string]any{"subject": "one"}, "Task #7 created", false), called("TaskCreate", map[string]any{"subject": "two"}, "Task #8 created", false)...),
			called("TaskUpdate", map[string]any{"taskId": "7", "status": "completed"}, "", false)...), "- [x] #7 one\n- [ ] #8 two\n"},
		{"cleared", append(todoWrite("one", "pending"), todoWrite()...), ""},
		{"arguments that are none change nothing", append(todoWrite("one", "pending"), abi.Message{Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{Name: "TodoWrite", Arguments: `{"todos":`}}}), "- [ ] one\n"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			for round, msgs := range [][]abi.Message{tc.msgs, {summary(render(append(tc.msgs, user("see foo_bar")), note.Options{}))}} {
				t.Run(fmt.Sprintf("round %d", round), func(t *testing.T) {
					_, got, _ := strings.Cut(render(append(msgs, user("see foo_bar")), note.Options{}), "Todos:\n")
					got, _, _ = strings.Cut(got+"\n", "\n\n")
					if got = strings.TrimSuffix(got, "\n"); got+"\n" != tc.want && got != tc.want {
						t.Errorf("%s, round %d: %q, want %q", tc.why, round, got, tc.want)
					}
				})
			}
		})
	}
}

// TestRequirementsVerbatim: lists, boxes and sentences that say what has to
// be, in any language; not code, and not what was pasted.
func TestRequirementsVerbatim(t *testing.T) {
	features.Proves(t, "A6")
	for _, tc := range []struct{ why, text, want string }{
		{"a numbered list", "Do:\n1. use `pflag`, not flag\n2) keep v1.2", "- use `pflag`, not flag\n- keep v1.2"},
		{"a sentence", "It is slow. It must take under 5 ms. Look.", "- It must take under 5 ms."},
		{"German", "Das muss schneller sein!", "- Das muss schneller sein!"},
		{"Chinese", "很慢。必须保持兼容。请看", "- 必须保持兼容。"},
		{"code is none", "see\n```\n- must not\n```", ""},
		{"a plain request is none", "Read the file.", ""},
		{"nor is a list in a long log", strings.Repeat("- line of a log\n", 2000), ""},
		{"a box in one is", strings.Repeat("- line of a log\n", 2000) + "- [ ] the box\n", "- [ ] the box"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			_, got, _ := strings.Cut(render([]abi.Message{user(tc.text)}, note.Options{}), "Required:\n")
			if got, _, _ = strings.Cut(got, "\n\n"); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestOnlyStatedDecisions: an error or work in progress decides nothing.
func TestOnlyStatedDecisions(t *testing.T) {
	features.Proves(t, "A6")
	for _, tc := range []struct {
		text   string
		stated bool
	}{
		{"We decided to keep SQLite.", true},
		{"Going with wazero because it needs no cgo.", true},
		{"我们决定用 SQLite。", true},
		{"The build failed with DuckDB.", false},
		{"I changed the import to SQLite.", false},
	} {
		t.Run(tc.text, func(t *testing.T) {
			text := render([]abi.Message{said(tc.text), said("see foo_bar")}, note.Options{})
			if strings.Contains(text, "Stated:\n- "+tc.text) != tc.stated {
				t.Errorf("stated %v wanted:\n%s", tc.stated, text)
			}
		})
	}
}

// TestChains: with room for it, no compaction loses what the one
// before it kept, whatever was written above it and whatever comes between.
func TestChains(t *testing.T) {
	features.Proves(t, "complaint 8")
	keeps := []string{"Make the lease table safe.", "no parcel is handed out twice", "You must not change the wire format.", "[-] add the lock", "I decided to use one lock",
		"lock.go (created)", "lease.go (edited, lines 12-13)", "leases.md", "--- FAIL: TestLease (0.41s)", "String to replace not found", "Worked instead: `go test", "acquireLocked", "PAR-2291"}
	outlines := note.Outlines()
	text := render(work(), note.Options{})
	for round := range 6 {
		for _, part := range keeps {
			t.Run(part, func(t *testing.T) {
				if round%2 == 0 && !strings.Contains(text, part) {
					t.Errorf("round %d lost %q:\n%s", round, part, text)
				}
			})
		}
		o := note.Options{Outline: outlines[round%len(outlines)], Budget: 4000}
		if round%2 == 0 {
			o.Outline = note.Continuation
		}
		msgs := []abi.Message{summary(text)}
		msgs = append(msgs, run(fmt.Sprintf("make step_%d", round), "ok", false)...)
		text = render(append(msgs, said(fmt.Sprintf("Now step %d.", round))), o)
	}
	if strings.Count(text, "make step_") == 0 {
		t.Errorf("the steps of later rounds are lost:\n%s", text)
	}
}

// TestForeign: a summary of another program is quoted, and its names
// are kept; so is one that a model wrote in an earlier round.
func TestForeign(t *testing.T) {
	features.Proves(t, "complaint 8")
	foreign := abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text("# Summary\nThe user wants maxRetries in src/app/main.go.\n\n## Pending\n- raise it to 5")}
	for whose, m := range map[string]abi.Message{
		"another program":  foreign,
		"an earlier round": summary(render(work(), note.Options{Summary: foreign.Content.Text()})),
	} {
		t.Run(whose, func(t *testing.T) {
			text := render([]abi.Message{m}, note.Options{Budget: 5000})
			for round := range 3 {
				for _, line := range []string{"> Summary\n", "> The user wants maxRetries in src/app/main.go.\n", "> Pending\n", "> - raise it to 5"} {
					t.Run(fmt.Sprintf("round %d: %q", round, line), func(t *testing.T) {
						if strings.Count(text, line) != 1 {
							t.Errorf("%q stands there %d times:\n%s", line, strings.Count(text, line), text)
						}
					})
				}
				text = render([]abi.Message{summary(text)}, note.Options{Budget: 5000})
			}
		})
	}
}

// TestForeignCode: code that a summary quotes is no failure.
func TestForeignCode(t *testing.T) {
	features.Proves(t, "complaint 8")
	foreign := abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text("Added:\n```\nfunc f_g() {}\n```\n")}
	if text := render([]abi.Message{foreign}, note.Options{}); strings.Contains(text, "Failed, newest") || strings.Contains(text, "Errors, newest") {
		t.Errorf("%s", text)
	}
}

// TestBounded: whatever the session and however long the chain, a
// note is never over its budget, and the same comes out again.
func TestBounded(t *testing.T) {
	features.Proves(t, "complaint 18")
	rapid.Check(t, func(t *rapid.T) {
		budget := rapid.IntRange(0, 6000).Draw(t, "budget")
		o := note.Options{Budget: budget, Count: byRune, Outline: rapid.SampledFrom(note.Outlines()).Draw(t, "outline")}
		var chain []abi.Message
		for range rapid.IntRange(1, 4).Draw(t, "rounds") {
			chain = append(chain, sessiongen.Messages(30).Draw(t, "session")...)
			if rapid.Bool().Draw(t, "work") {
				chain = append(chain, work()...)
			}
			text := note.Build(context.Background(), chain, nil, nil).Render(o)
			if n := byRune(text); n > budget {
				t.Fatalf("%d tokens of %d:\n%s", n, budget, text)
			}
			if !utf8.ValidString(text) {
				t.Fatalf("invalid utf-8: %q", text)
			}
			if again := note.Build(context.Background(), chain, nil, nil).Render(o); again != text {
				t.Fatalf("not the same again:\n%s\n\n%s", text, again)
			}
			if missing := o.Outline.Missing(text); budget >= 1000 && text != "" && len(missing) > 0 {
				t.Fatalf("no section %v:\n%s", missing, text)
			}
			chain = nil
			if text != "" {
				chain = []abi.Message{summary(text)}
			}
		}
	})
}

// TestBesideWhatStays: names that stay in view make room for others.
func TestBesideWhatStays(t *testing.T) {
	features.Proves(t, "N8")
	gone, stays := []abi.Message{said("first_name and second_name, also 8443")}, []abi.Message{said("second_name")}
	text := note.Build(context.Background(), gone, stays, nil).Render(note.Options{Budget: 1000, Count: byRune})
	if !strings.Contains(text, "first_name") || strings.Contains(text, "second_name") {
		t.Errorf("%s", text)
	}
}

// FuzzSummary: a summary met in a log may hold anything, a forged digest too.
func FuzzSummary(f *testing.F) {
	for _, text := range []string{render(work(), note.Options{}), render(work(), note.Options{Summary: "x"}), "", "```", "```\n```\n```", "Todos:\n- [", "Files modified:\n- /: a (edited ×-1, lines 5-) (", "Files read:\n- ./: ../: ~/: x\nPaths are relative to /",
		"Worked instead: ", "From an earlier summary:\n> > > x", "## Exact names\n## Kept word for word\n", "Required:\n- \nRequests, newest last:\n- "} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		foreign := abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text(text)}
		out := render(append([]abi.Message{foreign}, work()...), note.Options{Budget: 2500})
		if n := byRune(out); n > 2500 || len(note.Handoff.Missing(out)) > 0 {
			t.Fatalf("%d tokens:\n%s", n, out)
		}
	})
}

// BenchmarkDigest reads and writes a long session.
func BenchmarkDigest(b *testing.B) {
	msgs := sessiongen.Long(5000, 300)
	n := 0
	for i := range msgs {
		n += len(msgs[i].Text())
	}
	b.SetBytes(int64(n))
	for b.Loop() {
		note.Build(context.Background(), msgs, nil, nil).Render(note.Options{Budget: 8000, Count: byRune})
	}
}
