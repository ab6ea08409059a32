package outcome_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

func result(text string, failed bool) abi.Message {
	return abi.Message{Role: abi.RoleTool, ToolCallID: "c", Content: abi.Text(text), IsError: failed}
}

// run is what a call does that runs a command, or edits a file where there is none.
func run(t *testing.T, command string) *action.Action {
	t.Helper()
	if command == "" {
		return action.Of(&abi.ToolCall{Name: "Edit", Arguments: `{"file_path":"a.go"}`})
	}
	doc, err := json.Marshal(map[string]string{"command": command})
	if err != nil {
		t.Fatal(err)
	}
	return action.Of(&abi.ToolCall{Name: "Bash", Arguments: string(doc)})
}

// What results of calls come to, as agents write them.
const (
	passed  = "passed"
	failed  = "failed"
	unknown = "unknown"
)

const (
	rejected = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a " +
		"file edit, the " +
		"new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed."
	gemini = "Command: go test ./...\nDirectory: (root)\nOutput: x\nError: (none)\nExit Code: CODE\nSignal: 0\n" +
		"Background PIDs: (none)\nProcess Group PGID: 26593"
	codex = "Command: /bin/zsh -lc 'go test ./...'\nChunk ID: cbac8d\nWall time: 0.2 seconds\nProcess exited with " +
		"code CODE\n" +
		"Original token count: 12\nOutput:\nok\n"
)

// TestOutcomes: how a call ended is what its result says, and where that says nothing
// it is not known.
func TestOutcomes(t *testing.T) {
	features.Proves(t, "A6", "I4", "N13")
	for _, tc := range []struct {
		why, command, text string
		marked, marks      bool // the result; some result of the session
		want               string
	}{
		// Commands, of a harness that says nothing of how they ended.
		{"tests that pass and print errors", "npm test", "✓ throws Error: bad input\nerror: on purpose\n" +
			"Tests: 12 passed, 12 total", false, false, passed},
		{"a test of Go that prints one", "go test ./q", "error: shown by a test\nok  \tkw/q\t0.2s", false, false, passed},
		{"a lint that fails before tests that pass", "make lint; go test ./q", "error: bad name\nok  \tkw/q\t0.2s", false,
			false, failed},
		{"a log that begins with an error", "cat a.log", "ERROR no lease\nINFO on", false, false, unknown},
		{"a commit that speaks of one", "git log --oneline", "Error: handle EOF", false, false, unknown},
		{"a file that is not there", "cat a.txt", "cat: a.txt: No such file or directory", false, false, failed},
		{"no repository", "git log", "fatal: not a git repository: .git", false, false, failed},

		// Commands, of a harness that marks those that fail.
		{"marked", "make lint", "Exit code 1\nlint: 2 issues", true, true, failed},
		{"a compiler behind a pipe", "go test -c ./x 2>&1 | head",
			"# x\nx_test.go:61:23: assignment mismatch: 2 variables but f returns 1 value", false, true, failed},
		{"one that says nothing", "go test -c -o /dev/null ./x 2>&1 | head -20", "", false, true, passed},
		{"one in a folder that says nothing", "cd /srv && go build ./... | tail -5", "\n", false, true, passed},
		{"one whose errors go nowhere", "go build ./... 2>/dev/null | head", "", false, true, unknown},
		{"one that has so much time", "timeout 60 go build ./... 2>&1 | head", "", false, true, unknown},
		{"one behind a search", "go build ./... 2>&1 | grep lease", "", false, true, unknown},
		{"one before something else", "go build ./... 2>&1 | head; ./try | head", "", false, true, unknown},
		{"tests that say nothing", "go test ./x 2>&1 | head -20", "", false, true, unknown},
		{"its warning", "gcc -c x.c 2>&1 | head", "x.c:61:23: warning: unused variable", false, true, unknown},
		{"a search that names columns", "rg --column lock | head", "x.go:61:23: lock the store", false, true, unknown},
		{"a command that says nothing", "make lint", "", false, true, passed},
		{"a command whose output talks of errors", "make lint", "error: is a word of the manual", false, true, passed},
		{"behind a pipe the code is another's", "go test ./... 2>&1 | tail -3", "x", false, true, unknown},
		{"behind a search for what says how it ended", `go test ./x 2>&1 | grep -E "(^---|PASS$|FAIL$)"`, "FAIL", false,
			true, failed},
		{"behind a pipe, with a line of the runner", "go test ./... 2>&1 | tail -3", "ok  \tkw/store\t0.3s", false,
			true, passed},
		{"behind a pipe, with a failure", "go test ./... 2>&1 | tail -3",
			"ok  \tkw/a\t0.1s\n--- FAIL: TestX (0.1s)\nFAIL\tkw/b", false, true, failed},
		{"behind a pipe, with a cut that hides it", "mise run test | head -100", "[test] $ go test ./...", false, true,
			unknown},
		{"something follows whatever came of it", "make test; echo done", "done", false, true, unknown},
		{"in the background", "make serve &", "", false, true, unknown},
		{"rejected", "git push", rejected, true, true, failed},
		{"denied", "ls /root", "Permission to use Bash with command ls /root has been denied.", true, true, failed},
		{"not run as another call failed", "make", "<tool_use_error>Sibling tool call errored</tool_use_error>", true,
			true, unknown},
		{"stopped by the person", "npm test", "Command aborted", true, true, unknown},
		{"stopped by the person behind its output", "npm test", "FAIL a.test.ts\n\nCommand aborted", true, true, unknown},
		{"one that talks of what was aborted", "make", "Command aborted\nmake: *** [x] Error 2", true, true, failed},
		// Commands, of one that does not.
		{"a command that says nothing, of which nobody tells", "make lint", "", false, false, unknown},
		{"a runner that says that it passed", "pytest -q", "....\n12 passed in 3.1s", false, false, passed},
		{"a runner that says that some failed", "pytest -q", "==== 1 failed, 12 passed in 3.1s ====", false, false, unknown},
		{"a runner of Go", "go test ./...", "ok  \tkw/store\t0.3s", false, false, passed},
		{"a runner of Go that failed", "go test ./...", "--- FAIL: TestX (0.1s)\nFAIL\tkw/store\t0.3s\nFAIL", false,
			false, failed},
		{"a runner of Go that ran no tests", "go test ./... | tail",
			"testing: warning: no tests to run\nPASS\nok  \tkw/a\t0.3s [no tests to run]", false, true, unknown},
		{"a runner of Go that ran those of one package", "go test ./... | tail",
			"--- PASS: TestX (0.00s)\nPASS\nok  \tkw/a\t0.3s\ntesting: warning: no tests to run\nPASS\nok  " +
				"\tkw/b\t0.3s [no tests to run]", false, true, passed},
		{"a task that its runner says failed", "mise run lint 2>&1 | tail -5",
			"6 issues:\n* nilerr: 6\n[lint] ERROR task failed", false, true, failed},
		{"a runner of Rust", "cargo test", "test result: ok. 3 passed; 0 failed; 0 ignored", false, false, passed},
		{"a runner of Rust that failed", "cargo test", "test result: FAILED. 3 passed; 1 failed; 0 ignored", false,
			false, unknown},
		{"a compiler", "go build ./...", "# kw/store\nstore/a.go:3:5: undefined: x", false, false, failed},
		{"make", "make", "cc -c x.c\nmake: *** [Makefile:192: build] Error 2", false, false, failed},
		{"a shell", "gof", "bash: gof: command not found", false, false, failed},
		{"a viewer of a file that talks of errors", "cat log.txt", "started\nerror: disk is full\n", false, false, unknown},
		{"a viewer without its file", "cat log.txt", "cat: log.txt: No such file or directory", false, false, failed},
		// Codes of exits, wherever they stand.
		{"the code of Gemini", "go test ./...", strings.Replace(gemini, "CODE", "0", 1), false, true, passed},
		{"a bad code of Gemini", "go test ./...", strings.Replace(gemini, "CODE", "1", 1), false, true, failed},
		{"the code of Codex", "go test ./...", strings.Replace(codex, "CODE", "0", 1), false, true, passed},
		{"a bad code of Codex", "go test ./...", strings.Replace(codex, "CODE", "101", 1), false, true, failed},
		{"the code of OpenHands", "make", "x\n[The command completed with exit code 0.]", false, true, passed},
		{"a bad code of OpenHands", "make", "x\n[The command completed with exit code 2.]", false, true, failed},
		{"a code in the middle of long output is what a command said",
			"make", strings.Repeat("x\n", 400) + "exit code 1\n" + strings.Repeat("x\n", 400), false, false, failed},
		{"the code of OpenHands, of a command that goes on", "make serve", "x\n[Command finished with exit code -1]",
			false, true, unknown},
		{"a code in a sentence of OpenHands", "mkdir x", "Command `mkdir x` executed with exit code 0.", false, true, passed},
		{"the code of mini-swe-agent", "make", "<returncode>0</returncode>\n<output>\nerror: is a word\n</output>",
			false, true, passed},
		{"a bad code of mini-swe-agent", "make", "<returncode>2</returncode>\n<output>\nx\n</output>", false, true, failed},
		{"the words of SWE-agent", "rm a.py",
			"Your command ran successfully and did not produce any output.\n(Open file: n/a)\nbash-$", false, false, passed},
		{"a good code that is another's", "go test ./... | tail -3", strings.Replace(codex, "CODE", "0", 1), false,
			true, unknown},
		{"a good code that is that of what stops", "set -e\ngo vet ./...\ngo test ./...",
			strings.Replace(codex, "CODE", "0", 1), false, true, passed},
		{"a search that found nothing", "rg -n lease src", strings.Replace(codex, "CODE", "1", 1), false, true, unknown},
		{"in a folder", "cd /srv && grep -rn lease src", "Exit code 1", true, true, unknown},
		{"two files that differ", "diff a b", "Exit code 1\n1c1\n< failed\n---\n> x", true, true, unknown},
		{"a search that failed", "rg -n '(' src", "Exit code 2\nregex parse error: unclosed group", true, true, failed},
		{"a search where there is no folder", "cd /srv/x && grep -rn lease src",
			"Exit code 1\ncd: no such file or directory: /srv/x", true, true, failed},
		// Tools that are no commands.
		{"an edit that a checker refused", "",
			"Your proposed edit has introduced new syntax error(s). Please read this error message carefully " +
				"and then retry editing the file.\n\nERRORS:\n- E999 IndentationError: unexpected indent\n", false, false, unknown},
		{"an edit", "", "The file /srv/a.go has been updated. Here's the result of running `cat -n` on a snippet:\n " +
			"70→\treturn err", false, true, passed},
		{"an edit that says little", "", "Done", false, false, passed},
		{"an edit of what is not there", "", "<tool_use_error>String to replace not found in file.</tool_use_error>",
			true, true, failed},
		{"an edit of what is not there, not marked", "", "Error: String to replace not found in file.", false, false, failed},
		{"an edit that changes nothing", "", "No changes to make: old_string and new_string are exactly the same.",
			false, false, unknown},
		{"an edit that is not unique", "",
			"ERROR:\nNo replacement was performed, old_str `x` did not appear verbatim in /srv/a.c.", false, false, failed},
		{"an edit that was rejected", "", rejected, true, true, failed},
		{"an edit that was rejected, not marked", "", rejected, false, false, unknown},
		{"a file that was not read", "", "File has not been read yet. Read it first before writing to it.", false,
			false, unknown},
		{"a booking", "", `{"reservation_id": "HATHAT", "status": "confirmed"}`, false, false, passed},
		{"a booking that failed", "", `{"error": "payment declined"}`, false, false, failed},
		{"a booking that failed, of a service that says so", "", `{"success": false, "message": "no seats"}`, false,
			false, failed},
		{"a booking that failed, in words", "", "Error: payment amount does not add up", false, false, failed},
		{"a page that is not there", "", "Request failed with status code 404", true, true, failed},
	} {
		t.Run(tc.why, func(t *testing.T) {
			m := result(tc.text, tc.marked)
			o := outcome.Harness{Marks: tc.marks, GoOn: func() bool { return true }}.Of(&m, run(t, tc.command))
			got := unknown
			switch {
			case o.Failed && o.Passed:
				got = "both"
			case o.Failed:
				got = failed
			case o.Passed:
				got = passed
			}
			if got != tc.want {
				t.Errorf("%s (%+v), want %s", got, o, tc.want)
			}
		})
	}
}

// TestTold: a harness tells with a mark or a code; a text that looks like a failure
// does not.
func TestTold(t *testing.T) {
	for _, tc := range []struct {
		why, text string
		marked    bool
		told      bool
	}{
		{"a mark", "x", true, true}, {"a code", "Exit code 1\nx", false, true},
		{"a code of zero", "exit code: 0", false, false},
		{"a text", "error: x", false, false}, {"a sentence on a code", "it ends with exit code 1 there", false, false},
	} {
		t.Run(tc.why, func(t *testing.T) {
			m := result(tc.text, tc.marked)
			if o := (outcome.Harness{GoOn: func() bool { return true }}).Of(&m, run(t, "make")); o.Told != tc.told {
				t.Errorf("%+v", o)
			}
		})
	}
}

// TestMarks: a harness marks what failed where one result has such a mark.
func TestMarks(t *testing.T) {
	for _, tc := range []struct {
		why  string
		msgs []abi.Message
		want bool
	}{
		{"none", []abi.Message{result("error: x", false)}, false},
		{"a mark", []abi.Message{result("a", false), result("x", true)}, true},
		{"a code at the end", []abi.Message{result(strings.Repeat("x\n", 4000)+"exit code: 2", false)}, true},
		{"a code of what ended well", []abi.Message{result(strings.Repeat("x\n", 4000)+"exit code: 0", false)}, false},
		{"a code in text that is shown", []abi.Message{
			{Role: abi.RoleTool, ToolCallID: "cat", Content: abi.Text("step test\nexit code 1")}}, false},
		{"a code that a program put out, among failures without one", []abi.Message{result("panic: x\nexit status 2", false),
			result("error: no module x", false), result("make: *** [Makefile:2: all] Error 1\nfailed", false)}, false},
		{"codes that go prints, however many", []abi.Message{
			result("--- FAIL: TestA\nFAIL\nexit status 1\nFAIL\tshop\t0.1s", false),
			result("--- FAIL: TestB\nFAIL\nexit status 1\nFAIL\tcart\t0.1s", false), result("open x: no\nexit status 1", false)},
			false},
		{"codes of a harness, among outputs that talk of errors", []abi.Message{result("x\nexit code 2", false),
			result("y\nexit code 2", false), result("z\nexit code 1", false), result("a.go:3:2: undefined: x", false),
			result("b.go:3:2: undefined: y", false), result("c.go:3:2: undefined: y", false)}, true},
		{"a sentence on a command without output",
			[]abi.Message{result("Command `mkdir x` executed with exit code 0.", false)}, false},
		{"of an edit", []abi.Message{{Role: abi.RoleTool, ToolCallID: "edit", IsError: true, Content: abi.Text("x")}}, false},
		{"what a person says", []abi.Message{{Role: abi.RoleUser, Content: abi.Text("Exit code 1")}}, false},
	} {
		t.Run(tc.why, func(t *testing.T) {
			call := abi.Message{Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{
				{ID: result("", false).ToolCallID, Name: "run", Arguments: `{"command":"make"}`},
				{ID: "cat", Name: "run", Arguments: `{"command":"cat ci.log"}`}}}
			if got := new(outcome.Known).Marks(append([]abi.Message{call}, tc.msgs...)); got != tc.want {
				t.Errorf("%v", got)
			}
		})
	}
}

// TestLines: the lines that say what went wrong, word for word.
func TestLines(t *testing.T) {
	features.Proves(t, "I4", "N13")
	for _, tc := range []struct {
		why, text string
		marked    bool
		want      []string
	}{
		{"a failed test", "=== RUN\n--- FAIL: TestX (0.1s)\n    x_test.go:3: got 2\nFAIL\tkw\t0.1s", false,
			[]string{"--- FAIL: TestX (0.1s)", "FAIL\tkw\t0.1s"}},
		{"a heading and its text", "ERROR:\nNo such target", false, []string{"ERROR: No such target"}},
		{"the first line of what is marked", "Exit code 1\nlint: 2 issues\nmore", true, []string{"lint: 2 issues"}},
		{"out of its tag", "<tool_use_error>File does not exist.</tool_use_error>", true, []string{"File does not exist."}},
		{"counts of none", "errors: 0\nError: (none)", false, nil},
		{"source code", "12: error: x\n// error: y\n{error: z}", false, nil},
		{"a long one is cut, and says so", "error: " + strings.Repeat("no 1,337 rows ", 20), false,
			[]string{"error:" + strings.Repeat(" no 1,337 rows", 14) + " …"}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			m := result(tc.text, tc.marked)
			if o := (outcome.Harness{GoOn: func() bool {
				return true
			}}).Of(&m, run(t, "make")); !reflect.DeepEqual(o.Lines, tc.want) {
				t.Errorf("%q, want %q", o.Lines, tc.want)
			}
		})
	}
}

// TestOutcomeOfAnything: whatever a result holds, it is judged, and never as both failed
// and passed.
func TestOutcomeOfAnything(t *testing.T) {
	piece := rapid.SampledFrom([]string{"] x", "[a] ", "[lint] ERROR", "<x>", "</x>", "exit code ", "-1", "0", "1",
		"\n", ": ", "a.go:1:", "ERROR:", "PASS",
		"0 failed", "no tests to run", "<returncode>", "` executed with exit code ", "{", "\"error\":", "OBSERVATION:",
		"\xff", " "})
	rapid.Check(t, func(rt *rapid.T) {
		text := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(rt, "text"), "")
		m := result(text, rapid.Bool().Draw(rt, "marked"))
		h := outcome.Harness{Marks: rapid.Bool().Draw(rt, "marks"), GoOn: func() bool { return true }}
		for _, command := range []string{"", "make", "make | tail", "rg x", "cat a"} {
			if o := h.Of(&m, run(t, command)); o.Failed && o.Passed || o.Told && o.Passed {
				rt.Fatalf("%s: %+v of %q", command, o, text)
			}
		}
	})
}

// TestLinesThatSayAnError: what programs say that have forms of their own is known as an error, and source is not.
func TestLinesThatSayAnError(t *testing.T) {
	features.Proves(t, "I4", "N13")
	for line, want := range map[string]bool{
		"E: Unable to locate package libfoo-dev":                                 true,
		"E: Could not get lock /var/lib/dpkg/lock":                               true,
		"E: the name of a drive":                                                 false,
		"thread 'main' panicked at src/main.rs:14:10: called `unwrap()`":         true,
		"The worker has panicked at times.":                                      false,
		"// thread 'main' panicked at src/main.rs:14:10":                         false,
		"Error response from daemon: pull access denied for relay":               true,
		"curl: (7) Failed to connect to localhost port 5433: Connection refused": true,
		"sh: 1: cmake: not found":                                                true,
		"bash: line 3: cmake: not found":                                         true,
		"GET /lease: not found":                                                  false,
		"ld: symbol(s) not found for architecture arm64":                         true,
		"HTTP/1.1 502 Bad Gateway":                                               true,
		"HTTP/1.1 200 OK":                                                        false,
		"Permission denied (publickey).":                                         true,
		"":                                                                       false,
	} {
		if got := outcome.SaysError(line); got != want {
			t.Errorf("%q: %v", line, got)
		}
	}
}
