package names_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
	"github.com/kagewasm/kagewasm/strategies/redact"
)

func TestWorkingDirectory(t *testing.T) {
	features.Proves(t, "N8")
	for _, tc := range []struct{ why, text, want string }{
		{"where absolute and relative paths agree", "/srv/kw/a/b.go is a/b.go, and /srv/kw/c/d.go", "/srv/kw"},
		{"the outermost of several", "/srv/kw/a/b/c.go /srv/kw/a/b/d.go a/b/c.go a/b/d.go b/c.go", "/srv/kw"},
		{"not an example in a text", "/repo/api/file.ts as api/file.ts; /srv/kw/a/b.go /srv/kw/a/c.go /srv/kw/d.go " +
			"/srv/kw/e.go /srv/kw/f.go a/b.go", "/srv/kw"},
		{"the folder of nearly all, where no relative path says so", "/srv/kw/x/a.go /srv/kw/x/b.go /srv/kw/y/c.go",
			"/srv/kw"},
		{"not less than two levels", "/usr/a.go /usr/b.go /usr/c.go", ""},
		{"nor of a few", "/srv/kw/x/a.go /srv/kw/x/b.go", ""},
		{"nor where they lie all over", "/srv/kw/x/a.go /opt/kw/x/b.go /var/lib/c.go", ""},
		{"nothing absolute", "a/b.go c/d.go", ""},
		{"urls are no paths of the machine", "https://a.io/b/c.go https://a.io/b/d.go https://a.io/b/e.go", ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got := lines(build([]abi.Message{user(tc.text)}).Render(1000, byRune))
			if got["root"] != tc.want {
				t.Errorf("%q, want %q", got["root"], tc.want)
			}
			for head, list := range got {
				if tc.want != "" && head != "root" && strings.Contains(list, tc.want+"/") {
					t.Errorf("%s still has the whole path: %s", head, list)
				}
				for _, name := range strings.Fields(list) {
					if name == tc.want && head != "root" {
						t.Errorf("%s has the root itself: %s", head, list)
					}
				}
			}
		})
	}
}

// TestOneFileManyNames: the ways to name a file are one entry, and one more where its
// name was used alone.
func TestOneFileManyNames(t *testing.T) {
	features.Proves(t, "N8")
	msgs := called("Edit", "file_path", "/srv/kw/internal/store/lease.go", "ok", false)
	msgs = append(msgs, said("internal/store/lease.go and store/lease.go, that is lease.go in "+
		"/srv/kw/internal/store/lease.go"))
	got := lines(build(msgs).Render(1000, byRune))
	if got["Modified in what went"] != "internal/store/lease.go" || got["File names without folders"] != "lease.go" ||
		got["Paths mentioned"] != "" {
		t.Errorf("%v", got)
	}
	// What was opened by a short name is listed by that, also where a longer
	// one (of an import) ends in it.
	msgs = append([]abi.Message{said("import example.com/kw/internal/queue")},
		called("Read", "path", "internal/queue", "…", false)...)
	got = lines(build(msgs).Render(1000, byRune))
	if got["Read in what went"] != "internal/queue" {
		t.Errorf("%v", got)
	}
}

func TestCommandsFail(t *testing.T) {
	features.Proves(t, "N8")
	run := func(command, output string, failed bool) []abi.Message {
		return called("Bash", "command", command, output, failed)
	}
	for _, tc := range []struct {
		why      string
		msgs     [][]abi.Message
		commands string
		failed   string
	}{
		{"an exit code marks the command", [][]abi.Message{run("make lint", "Exit code 1", false)},
			"make lint (failed)", "$ make lint / \n"},
		{"zero is none", [][]abi.Message{run("make lint", "exit code: 0", false)}, "make lint", ""},
		{"what its source calls failed has", [][]abi.Message{run("make it_all", "make: *** no rule\nmore", true)},
			"make it_all (failed)", "$ make it_all / make: *** no rule / more\n"},
		{"the last time counts", [][]abi.Message{run("make a_b", "error: x", false),
			run("make a_b", "12 passed", false)}, "make a_b", "$ make a_b / error: x (passed)\n"},
		{"the same command moves to the end", [][]abi.Message{run("make a_b", "", false), run("make c_d", "", false),
			run("make a_b", "", false)}, "make c_d, make a_b", ""},
		{"three lines of an output, and how many more there are",
			[][]abi.Message{run("make a_b", "error: 1\nerror: 2\nerror: 3\nerror: 4\nerror: 5", false)},
			"make a_b (failed)", "$ make a_b / error: 1 / error: 2 / error: 3 / [... more lines like these ...]\n"},
		{"the same failure moves to the end",
			[][]abi.Message{run("make a_b", "error: x", false), run("make c_d", "error: y", false),
				run("make a_b", "error: x", false)},
			"make c_d (failed), make a_b (failed)", "$ make c_d / error: y\n$ make a_b / error: x\n"},
		{"a heading takes the next line along", [][]abi.Message{run("make a_b", "ERROR:\nno such target", false)},
			"make a_b (failed)", "$ make a_b / ERROR: no such target\n"},
		{"what a viewer shows is no error", [][]abi.Message{run("cat main.go", "package main\nerror: not one\n", false),
			run("cd /x && grep -n error log_file", "one\n2:error: two", false)},
			"cat main.go, cd /x && grep -n error log_file", ""},
		{"what it says itself is", [][]abi.Message{run("cat no_file", "cat: no_file: No such file or directory",
			false)}, "cat no_file (failed)", "$ cat no_file / cat: no_file: No such file or directory\n"},
		{"a tool that reads has no errors inside",
			[][]abi.Message{called("Read", "file_path", "a/b.go", "func f()\nerror: not one", false)}, "", ""},
		{"but its own", [][]abi.Message{called("Read", "file_path", "a/b.go",
			"<tool_use_error>File does not exist.</tool_use_error>", true)}, "",
			"Read a/b.go / <tool_use_error>File does not exist.</tool_use_error>\n"},
		{"counts of none are none", [][]abi.Message{run("make a_b", "errors: 0\nError: (none)", false)}, "make a_b", ""},
		{"what its harness did not run is no command", [][]abi.Message{run("make a_b",
			"<tool_use_error>Sibling tool call errored</tool_use_error>", true)}, "", ""},
		{"nor what the person did not allow", [][]abi.Message{run("make a_b",
			"The user doesn't want to proceed with this tool use. The tool use was rejected.", true)}, "",
			"$ make a_b / The user doesn't want to proceed with this tool use. The tool use was rejected.\n"},
		{"nor one without a result", [][]abi.Message{run("make a_b", "", false)[:1]}, "", ""},
		{"lines in their order, marks between, and where a panic is", [][]abi.Message{run("make a_b",
			"ok one\n--- FAIL: TestA (0.4s)\n    a_test.go:38: INFO x\n    a_test.go:101: Expected 2, got 0\n"+
				"--- FAIL: TestB (0.6s)\n    b_test.go:404: so far\npanic: nil pointer\n\ngoroutine 352 [running]:\n"+
				"testing.tRunner(0x1)\n\t/go/src/testing/testing.go:1934 +0x168\nkw.TestB(0x1)\n\t/w/kw/b_test.go:411 +0x39c\n"+
				"FAIL\tkw\t10.1s", false)}, "make a_b (failed)",
			"$ make a_b / [...] / --- FAIL: TestA (0.4s) / [...] / a_test.go:101: Expected 2, got 0 / [...] / " +
				"panic: nil pointer / [...] / /w/kw/b_test.go:411 +0x39c / FAIL\tkw\t10.1s / [... more lines like these ...]\n"},
		{"where Rust says that it is", [][]abi.Message{run("cargo build",
			"Compiling kw\nerror[E0382]: borrow of moved value: `n`\n   --> src/settle.rs:142:9\n    |\n", false)},
			"cargo build (failed)",
			"$ cargo build / [...] / error[E0382]: borrow of moved value: `n` / --> src/settle.rs:142:9 / [...]\n"},
		{"where Python says that it is, and what it is", [][]abi.Message{run("python a_b.py",
			"w.py:3: DeprecationWarning: old\nTraceback (most recent call last):\n  File \"a_b.py\", line 3, in f\n    g()\n"+
				"  File \"/usr/lib/python3.12/json/x.py\", line 9, in g\nKeyError: 'x'", false)},
			"python a_b.py (failed)",
			"$ python a_b.py / [...] / Traceback (most recent call last): / File \"a_b.py\", line 3, in f / [...] / " +
				"KeyError: 'x'\n"},
		{"where JavaScript says that it is", [][]abi.Message{run("node a_b.js",
			"TypeError: x is undefined\n    at n (/w/node_modules/q/i.js:1:2)\n    at run (/w/src/a.ts:3:5)\n", false)},
			"node a_b.js (failed)",
			"$ node a_b.js / TypeError: x is undefined / [...] / at run (/w/src/a.ts:3:5)\n"},
		{"an editor's verb is no command",
			[][]abi.Message{called("str_replace_editor", "command", "view", "error: no file", false)}, "",
			"str_replace_editor / error: no file\n"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			var msgs []abi.Message
			for _, m := range tc.msgs {
				msgs = append(msgs, m...)
			}
			l := build(append(msgs, said("so_it_is")))
			commands, failed := strings.Join(l.Commands(9, ""), ", "), ""
			for _, f := range l.Failures() {
				if failed += strings.ReplaceAll(f.Text, "\n", " / "); f.Passed {
					failed += " (passed)"
				}
				failed += "\n"
			}
			if commands != tc.commands || failed != tc.failed {
				t.Errorf("commands %q, want %q\nfailed %q, want %q", commands, tc.commands, failed, tc.failed)
			}
		})
	}
}

// TestErrorsVerbatim: an error text is kept word for word, up to the end of the word
// after 200 characters.
func TestErrorsVerbatim(t *testing.T) {
	features.Proves(t, "I4")
	for _, n := range []int{20, 199, 200, 201, 1000} {
		t.Run(fmt.Sprintf("%d bytes", n), func(t *testing.T) {
			text := "error: " + strings.Repeat("é\t\"x\"  ", n)[:max(0, n-7)]
			text = strings.TrimSpace(strings.ToValidUTF8(text, ""))
			want := clip.Whole(text, 200)
			if !strings.HasPrefix(want, clip.Chars(text, 200)) {
				t.Fatalf("%q is not whole", want)
			}
			list := build(called("Bash", "command", "make a_b", text, false)).Failures()
			if len(list) != 1 || list[0].Text != "$ make a_b\n"+want {
				t.Errorf("%d bytes: %+v, want %q", n, list, want)
			}
		})
	}
}

// TestFailedCallsNameTheirAddress: an approach that failed is told with what was tried, also where that is an
// address: without it nobody knows what not to try again.
func TestFailedCallsNameTheirAddress(t *testing.T) {
	features.Proves(t, "I4", "I10")
	const said = "Request failed with status code 404"
	for _, tc := range []struct{ why, tool, args, want string }{
		{"an address", "WebFetch", `{"url":"https://example.com/docs","prompt":"What does it say?"}`,
			"WebFetch https://example.com/docs"},
		{"a long one", "WebFetch", `{"url":"https://example.com/` + strings.Repeat("d", 100) + `"}`,
			"WebFetch https://example.com/" + strings.Repeat("d", 60) + "…"},
		{"words", "ask", `{"question":"see https://example.com/docs?"}`, "ask"},
		{"a file comes first", "Edit", `{"note":"quick","file_path":"/srv/a/b.go"}`, "Edit /srv/a/b.go"},
		{"nothing", "status", `{}`, "status"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			list := build([]abi.Message{
				{Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{ID: "c", Name: tc.tool, Arguments: tc.args}}},
				{Role: abi.RoleTool, ToolCallID: "c", IsError: true, Content: abi.Text(said)}}).Failures()
			if len(list) != 1 || list[0].Text != tc.want+"\n"+said {
				t.Errorf("%+v, want %q", list, tc.want+"\n"+said)
			}
		})
	}
}

func TestArguments(t *testing.T) {
	features.Proves(t, "N8")
	call := func(args string) abi.Message {
		return abi.Message{Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{ID: "c", Name: "Tool", Arguments: args}}}
	}
	for _, tc := range []struct{ why, args, want string }{
		{"escapes are read", `{"text":"one_a\nTwoName\tfour_b \u00fcber_c"}`, "one_a TwoName four_b über_c"},
		{"numbers are names too", `{"offset":120000,"deep":{"list":[{"limit":2500}]}}`, "120000 2500"},
		{"text that is no JSON", `just some_name here`, "some_name"},
		{"half a document", `{"text":"some_name`, "some_name"},
		{"a list of words is a command", `{"command":["bash","-lc","make some_name"]}`, "some_name"},
		{"nothing", ``, ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got := lines(build([]abi.Message{call(tc.args), said("zz_zz_zz")}).Render(2000, byRune))
			all := fmt.Sprint(got)
			for _, name := range strings.Fields(tc.want) {
				if !strings.Contains(all, name) {
					t.Errorf("no %s in %s", name, all)
				}
			}
		})
	}
}

// TestChangesInChains: what was done to a file is counted on over compactions, and said in
// as few words as tell it.
func TestChangesInChains(t *testing.T) {
	features.Proves(t, "I8", "N8")
	edit := func(n int, input string) (msgs []abi.Message) {
		for range n {
			msgs = append(msgs, called("apply_patch", "input", input, "Done", false)...)
		}
		return msgs
	}
	const one, two = "--- a/pkg/a.go\n+++ b/pkg/a.go\n@@ -10,2 +12,3 @@ f\n-x\n+y\n",
		"*** Begin Patch\n*** Update File: pkg/a.go\n@@\n-x\n+y\n*** End Patch"
	const add = "*** Begin Patch\n*** Add File: pkg/a.go\n+z\n*** End Patch"
	move := append(called("Bash", "command", "git mv pkg/a.go pkg/b.go", "", false),
		called("Bash", "command", "make lint", "Exit code 1", true)...)
	for _, tc := range []struct {
		why    string
		rounds [][]abi.Message
		want   string
	}{
		{"edited once", [][]abi.Message{edit(1, two)}, "pkg/a.go"},
		{"and once more", [][]abi.Message{edit(1, two), edit(1, two)}, "pkg/a.go×2"},
		{"three times, and twice", [][]abi.Message{edit(3, two), edit(2, two)}, "pkg/a.go×5"},
		{"created", [][]abi.Message{edit(1, add), nil}, "pkg/a.go (created)"},
		{"created, and edited in turn", [][]abi.Message{edit(1, add), edit(1, two)}, "pkg/a.go (created, edited)"},
		{"created, and edited twice", [][]abi.Message{edit(1, add), edit(1, two), edit(1, two), nil},
			"pkg/a.go×2 (created first)"},
		{"the last lines", [][]abi.Message{edit(1, two), edit(1, one), nil}, "pkg/a.go×2 (last line 12)"},
		{"moved, not edited", [][]abi.Message{move, nil},
			"pkg/a.go (moved to pkg/b.go) pkg/b.go (was a.go)"},
		{"moved over one that was edited", [][]abi.Message{edit(3, strings.ReplaceAll(two, "a.go", "b.go")), move},
			"pkg/b.go (was a.go) pkg/a.go (moved to pkg/b.go)"},
		{"created, and moved over one that was edited", [][]abi.Message{edit(3, strings.ReplaceAll(two, "a.go", "b.go")),
			append(edit(1, add), move...)}, "pkg/a.go (created, moved to pkg/b.go) pkg/b.go (written, was a.go)"},
		{"moved, and edited there", [][]abi.Message{move, edit(1, strings.ReplaceAll(two, "a.go", "b.go"))},
			"pkg/b.go (edited, was a.go) pkg/a.go (moved to pkg/b.go)"},
		{"removed by a pattern", [][]abi.Message{edit(1, two), called("Bash", "command", "rm pkg/*.go", "", false), nil},
			"pkg/a.go (edited, perhaps deleted)"}, // nobody says that it ended well
		{"removed by a pattern, and it ended well", [][]abi.Message{edit(1, two), append(called("Bash", "command",
			"rm pkg/*.go", "", false), called("Bash", "command", "make lint", "Exit code 1", true)...), nil},
			"pkg/a.go (edited, deleted)"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			text := ""
			for _, msgs := range tc.rounds {
				if text != "" {
					msgs = append([]abi.Message{summary(text)}, msgs...)
				}
				text = build(msgs).Render(1000, byRune)
			}
			_, files, _ := strings.Cut(text, "Modified in what went:\n- ")
			if got, _, _ := strings.Cut(files, "\n"); strings.TrimPrefix(got, "pkg/: ") != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestNotRead: what a search went through, a folder, and the case of a test are no files that were read.
func TestNotRead(t *testing.T) {
	features.Proves(t, "N8")
	msgs := called("Read", "file_path", "/srv/kw/store/lease.go", "package store", false)
	msgs = append(msgs, called("Grep", "path", "/srv/kw/store/lock.go", "12: func Lock", false)...)
	msgs = append(msgs, called("Glob", "path", "/srv/kw/docs", "/srv/kw/docs/a.md", false)...)
	msgs = append(msgs, called("view", "path", "/srv/kw/store", "lease.go lock.go", false)...)
	msgs = append(msgs, said("TestLease/after_a_restart fails, and BenchmarkSweep/big_table is slow."))
	got := lines(build(msgs).Render(1000, byRune))
	read := got["Read in what went"]
	if !strings.HasSuffix(read, "lease.go") || strings.Contains(read, " ") {
		t.Errorf("read: %s", read)
	}
	if names := got["Names"]; !strings.Contains(names, "TestLease/after_a_restart") ||
		!strings.Contains(names, "BenchmarkSweep/big_table") {
		t.Errorf("%v", got)
	}
}

// TestWrittenAgain: a file that one script deletes and writes is there, also where it is not known how the script
// ended.
func TestWrittenAgain(t *testing.T) {
	features.Proves(t, "N8")
	msgs := called("Write", "file_path", "/srv/kw/out/a.go", "ok", false)
	msgs = append(msgs, called("Bash", "command",
		"rm -rf /srv/kw/out && mkdir -p /srv/kw/out && echo x > /srv/kw/out/a.go && make | tail -1", "x", false)...)
	if text := build(msgs).Render(1000, byRune); strings.Contains(text, "a.go (created, deleted)") {
		t.Errorf("%s", text)
	}
}

// TestRemovedByPatterns: files that a pattern may hold are told as what they may be, also in the next note.
func TestRemovedByPatterns(t *testing.T) {
	features.Proves(t, "N8")
	msgs := called("Write", "file_path", "/srv/kw/a.html", "ok", false)
	msgs = append(msgs, called("Bash", "command", "rm *.html; make", "", false)...)
	text := build(msgs).Render(1000, byRune)
	for range 2 {
		if !strings.Contains(text, "a.html (created, perhaps deleted)") {
			t.Fatalf("%s", text)
		}
		text = build([]abi.Message{summary(text)}).Render(1000, byRune)
	}
}

// TestMadeAgain: a folder that was deleted and made again is told as that, also in the next note.
func TestMadeAgain(t *testing.T) {
	features.Proves(t, "N8")
	msgs := called("Write", "file_path", "/srv/kw/out/a.go", "ok", false)
	msgs = append(msgs, called("Bash", "command", "rm -rf /srv/kw/out && mkdir -p /srv/kw/out", "", false)...)
	text := build(msgs).Render(1000, byRune)
	for range 2 {
		if !strings.Contains(text, "out (deleted and made again)") || !strings.Contains(text, "a.go (created, deleted)") {
			t.Fatalf("%s", text)
		}
		text = build([]abi.Message{summary(text)}).Render(1000, byRune)
	}
}

// TestMoreFiles: a list of files that there was no room for says how many are left out, and one that goes on from it
// that there are more: who reads it takes it for a whole one else.
func TestMoreFiles(t *testing.T) {
	features.Proves(t, "N8", "N13")
	const files = 200
	var msgs []abi.Message
	for i := range files {
		msgs = append(msgs, called("Edit", "file_path", fmt.Sprintf("/srv/kw/part%02d/store.go", i), "done", false)...)
	}
	list := func(text string) []string {
		_, rest, _ := strings.Cut(text, "Modified in what went:\n")
		rest, _, _ = strings.Cut(rest, "\n\n")
		return strings.Split(rest, "\n")
	}
	text := build(msgs).Render(300, byRune)
	lines := list(text)
	listed := strings.Count(strings.Join(lines, "\n"), "store.go")
	if last := lines[len(lines)-1]; listed == 0 || last != fmt.Sprintf("- %d more", files-listed) {
		t.Errorf("%d are listed, and then %q", listed, last)
	}
	again := build([]abi.Message{summary(text)}).Render(300, byRune)
	lines = list(again)
	if last := lines[len(lines)-1]; last != "- and more" {
		t.Errorf("then %q in\n%s", last, again)
	}
	if all := list(build(msgs[:6]).Render(2000, byRune)); strings.Contains(strings.Join(all, "\n"), "more") {
		t.Errorf("a whole list: %q", all)
	}
}

// TestMoreTools: where there is no room for all tools the list says that there are others, also in the next note.
func TestMoreTools(t *testing.T) {
	features.Proves(t, "N8", "N13")
	tools := func(text string) string { return lines(text)["Tools called in what went"] }
	var msgs []abi.Message
	for i := range 30 {
		msgs = append(msgs, called(fmt.Sprintf("tool_number_%d", i), "query", "x", "done", false)...)
	}
	text := build(msgs).Render(400, byRune)
	for range 2 {
		if got := tools(text); !strings.HasSuffix(got, "×1 and others") && !strings.HasSuffix(got, "×1 and perhaps others") {
			t.Errorf("%q", got)
		}
		text = build([]abi.Message{summary(text)}).Render(400, byRune)
	}
	again := called("tool_number_0", "query", "x", "done", false)
	if got := tools(build(append([]abi.Message{summary(text)}, again...)).Render(4000, byRune)); !strings.Contains(got,
		"tool_number_0(query)×1+ ") {
		t.Errorf("one that an earlier note may not have listed: %q", got)
	}
	toolless := summary("## Thread\n[1]\n> Mend it.\n- Besides: 2 reads and searches\n")
	if got := tools(build(append([]abi.Message{toolless}, again...)).Render(4000, byRune)); got !=
		"tool_number_0(query)×1+ and perhaps others" {
		t.Errorf("behind a note that had no room for tools: %q", got)
	}
	if got := tools(build(msgs[:2]).Render(400, byRune)); strings.Contains(got, "others") {
		t.Errorf("all of them: %q", got)
	}
}

// TestNoNameStandsForASecret: an option that a secret stands behind is the last of its list, so that no name is taken
// for one.
func TestNoNameStandsForASecret(t *testing.T) {
	features.Proves(t, "N8")
	got := build([]abi.Message{said("--api-key SettingsManager --provider SessionManager")}).Render(1000, byRune)
	if !strings.Contains(got, "SettingsManager --provider SessionManager --api-key\n") &&
		!strings.HasSuffix(got, "--api-key") {
		t.Errorf("%s", got)
	}
	redactor, err := redact.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, n := redactor.Redact(got); n > 0 {
		t.Errorf("%d secrets are found in\n%s", n, got)
	}
}

// TestPathsAsTheyWereWritten: a list of any size says that a path of it may not lie below the root.
func TestPathsAsTheyWereWritten(t *testing.T) {
	features.Proves(t, "N8", "N13")
	read := func(file string) []abi.Message { return called("Read", "file_path", file, "text", false) }
	rooted := slices.Concat(read("/srv/kw/a/main.go"), read("/srv/kw/b/list.go"), read("/srv/kw/b/text.go"))
	const line = "Paths are relative to /srv/kw"
	if got := build(rooted).Render(150, byRune); !strings.Contains(got, line+"\n") {
		t.Errorf("all lie below the root:\n%s", got)
	}
	some := build(slices.Concat(rooted, read("plugins/skills/explain.md"))).Render(150, byRune)
	if !strings.Contains(some, "explain.md") || !strings.Contains(some, line+", or as written\n") {
		t.Errorf("one may not:\n%s", some)
	}
}

// TestFilesBelowARoot: files that stand right below the folder that paths are relative to are read back as these, and
// are listed as read where people say their names alone too.
func TestFilesBelowARoot(t *testing.T) {
	features.Proves(t, "N8", "A6")
	read := func(file string) []abi.Message {
		return called("Read", "file_path", "/srv/kw/src/"+file, "text", false)
	}
	first := build(slices.Concat(read("main.go"), read("tui/list.go"), read("tui/text.go"))).Render(400, byRune)
	if !strings.Contains(first, "Paths are relative to /srv/kw/src") {
		t.Fatalf("%s", first)
	}
	second := build(slices.Concat([]abi.Message{summary(first)}, read("main.go"))).Render(400, byRune)
	if got := lines(second)["Read in what went"]; strings.Count(got, "main.go") != 1 {
		t.Errorf("%q in\n%s", got, second)
	}
	if !names.ListedAsRead("main.go", true, true) || !names.ListedAsRead("main.go", false, true) ||
		names.ListedAsRead("main.go", true, false) {
		t.Error("a file below the root is not listed as read, or one is whose folder is not known")
	}
}
