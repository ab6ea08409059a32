package note_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/strategies/note"
	"github.com/kagewasm/kagewasm/tokens"
)

// failure is a failed call as somebody who reads the session by hand would
// note it: the command, and the line that says what is wrong.
type failure struct{ command, line string }

var (
	exitRE  = regexp.MustCompile(`(?i)^(exit (code|status):? [1-9]|command (failed|exited) with (exit )?code [1-9]|\[?process exited with code [1-9])`)
	errorRE = regexp.MustCompile(`^(Error|ERROR|error|fatal|panic|Traceback|npm ERR!|npm error|[A-Za-z]*Error|bash)\b.*:`)
)

// failuresIn lists the calls of a session that failed: those that their source
// marks, and commands of which a line says so.
func failuresIn(msgs []abi.Message) []failure {
	calls := make(map[string]string)
	var list []failure
	for i := range msgs {
		m := &msgs[i]
		for _, c := range m.ToolCalls {
			calls[c.ID] = commandIn(c.Arguments)
		}
		if m.Role != abi.RoleTool {
			continue
		}
		f, text := failure{command: calls[m.ToolCallID]}, m.Text()
		delete(calls, m.ToolCallID)
		exited := false
		for line := range strings.Lines(text) {
			line = strings.TrimSpace(line)
			exited = exited || exitRE.MatchString(line)
			if f.line == "" && errorRE.MatchString(line) && (f.command != "" && !viewerRE.MatchString(f.command) || m.IsError) {
				f.line = line
			}
		}
		if searchRE.MatchString(f.command) && f.line == "" && foundNothingRE.MatchString(text) ||
			strings.Contains(text, "<tool_use_error>Sibling tool call errored</tool_use_error>") ||
			strings.HasSuffix(strings.TrimSpace(text), "Command aborted") {
			continue // it found nothing, was not run, or a person stopped it
		}
		if m.IsError && f.line == "" {
			f.line, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
		}
		if m.IsError || exited && f.command != "" || f.line != "" {
			list = slices.DeleteFunc(list, func(o failure) bool { return again(o, f) }) // it is told as it failed last
			list = append(list, f)
		}
	}
	return list
}

// again reports whether two commands that failed differ by what is shown of their output.
func again(a, b failure) bool {
	return a.line == b.line && shownRE.ReplaceAllString(a.command, "") == shownRE.ReplaceAllString(b.command, "")
}

var shownRE = regexp.MustCompile(`( 2>&1)? \| (head|tail) -\d+$`)

var viewerRE = regexp.MustCompile(`(^|&& *|; *)(cat|sed|head|tail|grep|rg|git (show|diff|log|blame)|nl|awk|find|ls)\b`)

var foundNothingRE = regexp.MustCompile(`exited with code 1(\n|$)`)

var searchRE = regexp.MustCompile(`^(grep|rg|git grep|diff) `)

func commandIn(args string) string {
	var doc struct{ Command, Cmd any }
	if json.Unmarshal([]byte(args), &doc) != nil {
		return ""
	}
	if s, ok := doc.Command.(string); ok {
		return s
	}
	s, _ := doc.Cmd.(string)
	return s
}

// beginning is the first n characters of s.
func beginning(s string, n int) string {
	r := []rune(s)
	return string(r[:min(n, len(r))])
}

// TestFailedApproaches: of the last 20 calls that failed among
// the messages that go, the commands and the texts of the errors are in the
// note, the first 200 characters of each word for word, in a note of 12% of the
// tokens. Of sessions under 20,000 tokens that is too little for 20 of them.
func TestFailedApproaches(t *testing.T) {
	features.Proves(t, "I10", "I4")
	counter, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := 0
	sessions := shared.Sessions(t)
	for _, path := range soak.Sample(sessions, 10, len(sessions)) {
		msgs := shared.Messages(t, path)
		total := 0
		for i := range msgs {
			total += counter.Message(&msgs[i])
		}
		if total < 20_000 {
			continue
		}
		list := failuresIn(msgs)
		list = list[max(0, len(list)-20):]
		all += len(list)
		n := build(gone(msgs))
		for _, summary := range []string{"", "What a model wrote."} {
			t.Run(fmt.Sprintf("%s, summary %q", filepath.Base(path), summary), func(t *testing.T) {
				text := n.Render(note.Options{Summary: summary, Budget: total * 12 / 100, Count: counter.Text})
				for _, f := range list {
					if command, line := beginning(f.command, 200),
						beginning(f.line, 200); !strings.Contains(text, command) || !strings.Contains(text, line) {
						t.Errorf("%s: lost %q or %q", filepath.Base(path), command, line)
					}
				}
			})
		}
	}
	if t.Logf("%d failures", all); all == 0 {
		t.Error("no session has a failure: nothing was shown")
	}
}

// manyFailures are so many commands that fail, each with texts of its own.
func manyFailures(n int) (msgs []abi.Message) {
	for i := range n {
		msgs = append(msgs, run(fmt.Sprintf("make part_%d", i),
			fmt.Sprintf("Exit code 2\npart_%d.c:7: error: no member named 'kw_%d' in 'struct lease'", i, i), true)...)
	}
	return msgs
}

// TestManyFailures: how many failures a note tells is a matter of room.
func TestManyFailures(t *testing.T) {
	features.Proves(t, "I4", "I10")
	went := gone(session("Mend it.", manyFailures(250)))
	beside := went.NeedBeside(t.Context(), byRune, false)
	text := build(went).Render(note.Options{Budget: 3000, Beside: beside, Count: byRune})
	for i := range 250 {
		if line := fmt.Sprintf("no member named 'kw_%d' in 'struct lease'", i); !strings.Contains(text, line) {
			t.Errorf("lost %q", line)
		}
	}
}

// TestNeedBeside: with the room beside the budget that the note says it needs, the last
// 20 failures are there word for word, however small the budget, and no more is used.
func TestNeedBeside(t *testing.T) {
	features.Proves(t, "I4", "complaint 18")
	went := gone(session("Mend it.", manyFailures(60)))
	n := build(went)
	for _, budget := range []int{200, 1000, 3000, 20_000} {
		t.Run(fmt.Sprintf("%d tokens", budget), func(t *testing.T) {
			beside := went.NeedBeside(t.Context(), byRune, false)
			text := n.Render(note.Options{Budget: budget, Beside: beside, Count: byRune})
			if got := byRune(text); got > budget+beside {
				t.Errorf("%d tokens, %d and %d are allowed", got, budget, beside)
			}
			for i := 40; i < 60; i++ {
				want := fmt.Sprintf("$ make part_%d\nExit code 2\npart_%d.c:7: error: no member named 'kw_%d' in "+
					"'struct lease'\n", i, i, i)
				if !strings.Contains(text, want) {
					t.Errorf("no %q", want)
				}
			}
		})
	}
}

// TestFailuresTold: how many failures went and how many are told counts all of them.
func TestFailuresTold(t *testing.T) {
	features.Proves(t, "I10")
	n := build(gone(session("Mend it.", manyFailures(60), manyFailures(5))))
	text := n.Render(note.Options{Budget: 700, Count: byRune})
	there := 0
	for i := range 60 {
		if strings.Contains(text, fmt.Sprintf("$ make part_%d\n", i)) {
			there++
		}
	}
	if told, all := n.FailuresTold(text); told != there || told == 0 || all != 60 {
		t.Errorf("%d of %d are said to be told, %d of 60 are", told, all, there)
	}
	if told, all := n.FailuresTold(""); told != 0 || all != 60 {
		t.Errorf("of no text %d of %d", told, all)
	}
}

// TestToldIsWhatWentWrong: a failure counts as told where the line stands that says what went wrong, and not where the
// output only begins. Where all of an output stands, and where a tool says that it failed, that is what went wrong.
func TestToldIsWhatWentWrong(t *testing.T) {
	features.Proves(t, "I10")
	const rejected = "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a " +
		"file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell " +
		"you how to proceed."
	quiet := strings.Repeat("a line of no interest\n", 30)
	for _, tc := range []struct {
		why, output, stands string
		told                int
	}{
		{"an error below", quiet + "export: query rows: context deadline exceeded\nexit code 1",
			"context deadline exceeded", 1},
		{"a test of Maven", "[INFO] Scanning\n[ERROR] Failures: \n" +
			"[ERROR]   CartTest.merges:33 expected: <2> but was: <3>\n[INFO] BUILD FAILURE\nexit code 1",
			"CartTest.merges:33 expected: <2> but was: <3>", 1},
		{"no line is known to say it", quiet + "wuhlspin\n" + quiet + "exit code 1", "a line of no interest", 0},
		{"all of it stands", "wuhlspin\nexit code 1", "wuhlspin", 1},
		{"a person said no", rejected + "\nexit code 1", "doesn't want to proceed", 1},
	} {
		t.Run(tc.why, func(t *testing.T) {
			s := gone(session("Mend it.", called("bash", map[string]any{"command": "./exportctl"}, tc.output, false)))
			text := write(s, note.Options{})
			told, all := build(s).FailuresTold(text)
			if told != tc.told || all != 1 || !strings.Contains(text, tc.stands) {
				t.Errorf("%d of %d are said to be told:\n%s", told, all, text)
			}
		})
	}
	s := gone(session("Mend it.", called("edit", map[string]any{"path": "a.go"}, strings.Repeat("wuhlspin ", 60), true)))
	if told, all := build(s).FailuresTold(write(s, note.Options{})); told != 1 || all != 1 {
		t.Errorf("of an edit %d of %d are said to be told", told, all)
	}
}

// TestFailuresOfTheLastSteps: a failure of which the last steps tell all is told among the failures too while nothing
// settled it, as the next note tells of other steps: it stands word for word in each note.
func TestFailuresOfTheLastSteps(t *testing.T) {
	features.Proves(t, "I4")
	const why = "Error: payment method c1 not found"
	msgs := session("Book it.", called("book", map[string]any{"card": "c1"}, why, false))
	for round := range 3 {
		s := gone(msgs)
		text := write(s, note.Options{})
		if n := strings.Count(text, why); n < 1 || n > 2 {
			t.Errorf("round %d: %d times:\n%s", round, n, text)
		}
		if told, all := build(s).FailuresTold(text); told != 1 || all != 1 {
			t.Errorf("round %d: %d of %d are said to be told", round, told, all)
		}
		msgs = session(summary(text), "Go on.", run("ls", "a.go", false), said("Done."), "And on.", run("ls", "a.go", false))
	}
}

// TestOneFailure: a test that fails again in the same way is one failure in its last
// state, with the reason; one that fails in another way is another.
func TestOneFailure(t *testing.T) {
	features.Proves(t, "I4", "I10", "N13")
	const command = "go test ./internal/store -run TestLease 2>&1 | tail -20"
	fails := func(seconds, why string) string {
		return "=== RUN   TestLease\n    lease_test.go:40: " + why + "\n--- FAIL: TestLease (" + seconds +
			"s)\nFAIL\tkw/internal/store\t" + seconds + "s"
	}
	failed := func(text string) string {
		_, part, _ := strings.Cut(text, "Failed, newest last:\n")
		part, _, _ = strings.Cut(part, "\n\n")
		return part
	}
	entry := func(seconds, why string) string {
		return "```\n$ " + command + "\n[...]\nlease_test.go:40: " + why + "\n--- FAIL: TestLease (" + seconds +
			"s)\nFAIL\tkw/internal/store\t" + seconds + "s\n```"
	}
	for _, tc := range []struct {
		why  string
		msgs []abi.Message
		want string
	}{
		{"again in the same way", session("Mend it.", run(command, fails("0.41", "got 2"), false),
			run(command, fails("0.38", "got 2"), false)),
			entry("0.38", "got 2")},
		{"in another way", session("Mend it.", run(command, fails("0.41", "got 2"), false),
			run(command, fails("0.38", "got 3"), false)),
			entry("0.41", "got 2") + "\n" + entry("0.38", "got 3")},
		{"with more lines than are told", session("Mend it.", run("make check",
			"--- FAIL: TestA (0.1s)\n--- FAIL: TestB (0.1s)\n--- FAIL: TestC (0.1s)\n--- FAIL: TestD (0.1s)", false)),
			"```\n$ make check\n--- FAIL: TestA (0.1s)\n--- FAIL: TestB (0.1s)\n--- FAIL: TestC (0.1s)\n[... more " +
				"lines like these ...]\n```"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			text := render(tc.msgs, note.Options{Budget: 4000})
			for round := range 3 {
				if got := failed(text); got != tc.want {
					t.Errorf("round %d:\n%s\n\nwant\n%s", round, got, tc.want)
				}
				text = render(session(summary(text)), note.Options{Budget: 4000})
			}
		})
	}
}

// TestRefusedEditThatWasMadeLater: an edit that failed and whose file a later call changed is told so in what goes,
// below it and in the next note; one of another file, and one of which the file was only read since, is open.
func TestRefusedEditThatWasMadeLater(t *testing.T) {
	refused := edit("/srv/kw/AGENTS.md", "No changes made to it.", true)
	made := edit("/srv/kw/AGENTS.md", "ok", false)
	read := called("Read", map[string]any{"file_path": "/srv/kw/AGENTS.md"}, "# Agents", false)
	first := render(session("Go on.", refused), note.Options{})
	for _, tc := range []struct {
		why     string
		session note.Session
		changed bool
	}{
		{"in what goes", gone(session("Go on.", refused, made)), true},
		{"by a path that is relative", gone(session("Go on.", refused, edit("kw/AGENTS.md", "ok", false))), true},
		{"by a command", gone(session("Go on.", refused, run("sed -i s/a/b/ /srv/kw/AGENTS.md && go test ./...",
			"ok  \tkw\t0.1s", false))), true},
		{"below it", goneUpTo(3, session("Go on.", refused, made)), true},
		{"in the next note", gone(session(summary(first), made)), true},
		{"in the note after that", gone(session(summary(render(session("Go on.", refused, made), note.Options{})))), true},
		{"another file", gone(session("Go on.", refused, edit("/srv/kw/docs/AGENTS.md", "ok", false))), false},
		{"a file with the end of its name", gone(session("Go on.", refused, edit("S.md", "ok", false))), false},
		{"it is read", gone(session("Go on.", refused, read)), false},
		{"it is refused again", gone(session("Go on.", refused, made, refused)), false},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got := write(tc.session, note.Options{})
			if !strings.Contains(got, "No changes made to it.") {
				t.Errorf("the failure is not told:\n%s", got)
			}
			if changed := strings.Contains(got, "\nA later call changed this file.\n"); changed != tc.changed {
				t.Errorf("changed %v, want %v:\n%s", changed, tc.changed, got)
			}
		})
	}
}

// TestPassedInTheMiddle: a command that failed in what goes passed in a message that stays, though others behind that
// go: it is told as passed. One that stays before it says nothing of it.
func TestPassedInTheMiddle(t *testing.T) {
	features.Proves(t, "A6", "N13")
	fails := run("golangci-lint run 2>&1 | head -100", "a.go:66:19: use of os.Getwd forbidden (forbidigo)", true)
	passes := run("golangci-lint run 2>&1", "0 issues.", false)
	for _, tc := range []struct {
		why    string
		msgs   []abi.Message
		stays  int // the first of the two messages that stay
		passed bool
	}{
		{"behind it", session("Go on.", fails, passes, run("ls", "a.go", false)), 3, true},
		{"before it", session("Go on.", passes, fails, run("ls", "a.go", false)), 1, false},
	} {
		t.Run(tc.why, func(t *testing.T) {
			s := gone(tc.msgs)
			for i := range s.Messages {
				s.Messages[i].ID = fmt.Sprintf("m%d", i)
			}
			s.Gone[tc.stays], s.Gone[tc.stays+1] = false, false
			if got := write(s, note.Options{}); strings.Contains(got, "\nPassed later.\n") != tc.passed {
				t.Errorf("passed %v, want %v:\n%s", !tc.passed, tc.passed, got)
			}
		})
	}
}

// TestWrappedResults: a failure that a harness hands over in a document of JSON is told as any other, word for word.
func TestWrappedResults(t *testing.T) {
	features.Proves(t, "N8", "I4")
	const output = "# kw/store\n./lease.go:12:3: undefined: \"lock\"\n"
	for _, tc := range []struct {
		why string
		doc map[string]any
	}{
		{"with the code in its metadata", map[string]any{"output": output, "metadata": map[string]any{"exit_code": 1}}},
		{"with the code beside it", map[string]any{"output": output, "exit_code": 1, "error": nil}},
		{"with two texts", map[string]any{"stdout": "", "stderr": output, "exitCode": 1}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			doc, err := json.Marshal(tc.doc)
			if err != nil {
				t.Fatal(err)
			}
			text := render(session("Mend it.", run("go build ./...", string(doc), false), said("I go on.")), note.Options{})
			for _, want := range []string{"$ go build ./...\n", "\n./lease.go:12:3: undefined: \"lock\"\n",
				"- Checks: `go build ./...` failed"} {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			if strings.Contains(text, "exit_code") || strings.Contains(text, `\"lock`) {
				t.Errorf("it tells the document:\n%s", text)
			}
		})
	}
}

// TestLessOfAFailure: where there is no room for all that is quoted of the last failure its first lines are told.
func TestLessOfAFailure(t *testing.T) {
	features.Proves(t, "N8", "I10")
	output := "Exit code 1\n"
	for i := range 3 {
		output += fmt.Sprintf("store_test.cpp:%d: Failure\nExpected equality of these values:\n  %s\n  %d\n\n", i,
			strings.Repeat("total ", 20), i)
	}
	n := build(gone(session("Mend it.", run("ctest", output, false))))
	whole := n.Render(note.Options{Budget: 3000, Count: byRune})
	if !strings.Contains(whole, "store_test.cpp:2: Failure") {
		t.Fatalf("not all of it:\n%s", whole)
	}
	less := false
	for budget := 100; budget < 3000; budget += 20 {
		text := n.Render(note.Options{Budget: budget, Count: byRune})
		if byRune(text) > budget {
			t.Errorf("%d tokens, %d are allowed", byRune(text), budget)
		}
		_, failed, _ := strings.Cut(text, "$ ctest\n")
		failed, _, ended := strings.Cut(failed, "\n```")
		if ended && !strings.Contains(failed, "store_test.cpp:2") {
			less = true
			if !strings.Contains(failed, "store_test.cpp:0: Failure") || !strings.HasSuffix(failed, "\n[...]") {
				t.Errorf("%d tokens: %q", budget, failed)
			}
		}
	}
	if !less {
		t.Error("it was told whole, or not at all")
	}
}

// TestFailuresInShort: in a large note that has no room for all failures those that passed later are told by the first
// line of what went wrong, and others too where older ones would go for them: what failed must not be tried again.
func TestFailuresInShort(t *testing.T) {
	features.Proves(t, "I10")
	var parts []any
	for i := range 20 {
		lines := fmt.Sprintf("a_test.go:%d: no lease\n--- FAIL: TestA%d %s\nFAIL\tkw/a%d\t0.4s", i, i,
			strings.Repeat("of many words ", 20), i)
		parts = append(parts, run(fmt.Sprintf("go test ./a%d", i), lines, true))
	}
	parts = append(parts, run("go test ./a19", "ok  \tkw/a19\t0.4s", false))
	n := build(gone(session(append([]any{"Mend it."}, parts...)...)))
	text := n.Render(note.Options{Budget: 6800, Count: byRune})
	for i := range 20 {
		if !strings.Contains(text, fmt.Sprintf("$ go test ./a%d\na_test.go:%d: no lease\n", i, i)) {
			t.Errorf("%d is not told", i)
		}
	}
	for i, line := range map[int]string{19: "[...]", 18: "--- FAIL: TestA18"} { // 19 passed later
		if !strings.Contains(text, fmt.Sprintf("a_test.go:%d: no lease\n%s", i, line)) {
			t.Errorf("%d is not told so:\n%s", i, text)
		}
	}
	if told, all := n.FailuresTold(text); told != 20 || all != 20 {
		t.Errorf("%d of %d are said to be told", told, all)
	}
}

// TestFailedCalls: a call failed where its result says so, with or without a mark or the code of an exit: what a replay
// measures is what a report counts.
func TestFailedCalls(t *testing.T) {
	features.Proves(t, "I10")
	msgs := session("Mend it.", run("npx tsc -p .", "src/a.ts(3,5): error TS2345: Argument of type 'string'", false),
		run("go test ./...", "ok\tkw\t0.1s", false), run("make", "make: *** [all] Error 1\nmake failed", false))
	var got []bool
	for i, failed := range note.Failed(t.Context(), msgs) {
		if msgs[i].Role == abi.RoleTool {
			got = append(got, failed)
		}
	}
	if want := []bool{true, false, true}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
