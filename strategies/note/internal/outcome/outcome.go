// Package outcome says how a tool call ended, by what its result says: it failed, it
// passed, or neither can be told. It goes by the mark of the harness and the code of an
// exit, as far as that is the code of what ran, and else by the words of tools, test
// runners and compilers.
package outcome

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/internal/toolcall"
	"github.com/kagewasm/kagewasm/internal/wordlist"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
)

// Outcome is how a call ended.
type Outcome struct {
	// Failed: the harness says so, or the text of the result does.
	Failed bool
	// Told: it is the harness that says so, with a mark or the code of an exit.
	Told bool
	// Passed: the call did what it was to do: of a command the harness says so, or a
	// test runner does; of another tool the result is no refusal.
	Passed bool
	// Dropped: the harness did not run it, as another call failed.
	Dropped bool
	// Stopped: a person stopped it, and it did not end by itself.
	Stopped bool
	// Lines are those that say what went wrong, each cut at the end of a word
	// after 200 characters.
	Lines []string
}

// Harness is what is known of the harness that ran the calls.
type Harness struct {
	// Marks: it says of commands that failed that they did. What it does not mark
	// then ended well.
	Marks bool
	// Flags: it does so with the flag of an error.
	Flags bool
	// GoOn says from time to time whether to go on.
	GoOn func() bool
	// Known is what was read before. Default nothing, and nothing is remembered.
	Known *Known
}

// Marks reports whether results say of commands that failed that they did: one that tells the code 0 does not say that
// others without a code ended well, and text that a command shows may hold the code of another one. Programs put out
// such lines too ("exit status 1"): few codes say nothing where more outputs without one tell of a failure.
func (k *Known) Marks(msgs []abi.Message) bool {
	told, untold := 0, []string(nil)
	for _, r := range k.results(msgs) {
		if r.answer.IsError {
			return true
		}
		switch code, ok := exitOf(r.answer.Text(), isOfGo); {
		case !ok:
			untold = append(untold, r.answer.Text())
		case code != 0 && !shows(k.Of(r.call).Commands):
			if told++; told == manyCodes {
				return true
			}
		}
	}
	for _, text := range untold {
		if told > 0 && (tellsFailure(text) || endsInFailure(text)) {
			told--
		}
	}
	return told > 0
}

// ran is a call of a command and its result.
type ran struct {
	call   *abi.ToolCall
	answer *abi.Message
}

// results are those of commands.
func (k *Known) results(msgs []abi.Message) (list []ran) {
	commands := make(map[string]*abi.ToolCall) // by id
	for i := range msgs {
		m := &msgs[i]
		for i := range m.ToolCalls {
			for _, arg := range k.Arguments(&m.ToolCalls[i]) {
				if toolcall.IsCommandKey(arg.Key) {
					commands[m.ToolCalls[i].ID] = &m.ToolCalls[i]
				}
			}
		}
		if call := commands[m.ToolCallID]; m.Role == abi.RoleTool && call != nil {
			list = append(list, ran{call, m})
		}
	}
	return list
}

// endsInFailure reports whether one of the last lines of an output says that something failed.
func endsInFailure(text string) bool {
	for line := range strings.Lines(clip.Tail(text, maxLook)) {
		if toolcall.IsFailure(strings.TrimSpace(line)) {
			return true
		}
	}
	return false
}

// manyCodes are how many results that tell a bad code say that a harness does.
const manyCodes = 3

// maxLook is how much of the ends of a text is searched for the code of an exit,
// in bytes.
const maxLook = 400

// Of reads how the call ended that m answers.
func (h Harness) Of(m *abi.Message, a *action.Action) Outcome {
	return h.remembered(m, a, func() Outcome { return h.read(m, a) })
}

func (h Harness) read(m *abi.Message, a *action.Action) Outcome {
	if strings.Contains(clip.Head(m.Text(), maxLook), dropped) {
		return Outcome{Dropped: true}
	}
	if a.Script == "" {
		return h.ofTool(m)
	}
	text := m.Text()
	code, told := exit(text)
	if stopped(text) && (!told || code != 0) {
		return Outcome{Stopped: true}
	}
	if !told {
		code, told = exitSentence(text)
	}
	if told && code < 0 {
		return Outcome{} // it was still running
	}
	if told && onlyShows(a.Commands) && !m.IsError && (h.Flags || !h.Marks && !beginsWithCode(text)) {
		told = false // the code is of what it shows
	}
	f := findings{failed: m.IsError, known: m.IsError || told && code > 0, shallow: shows(a.Commands)}
	f.read(text, h.GoOn)
	if f.shallow && !m.IsError && !told && !isOwn(a.Commands, text) {
		f.failed, f.lines = false, nil // what it shows talks of an error
	}
	if told && code == 1 && !f.errors && findNothing(a.Commands) || f.shallow && onlyCode(text) {
		return Outcome{}
	}
	if file := unformatted(a.Commands, text); file != "" {
		return Outcome{Failed: true, Told: m.IsError || told && code > 0, Lines: append([]string{file}, f.lines...)}
	}
	o := Outcome{Failed: f.failed, Told: m.IsError || told && code > 0, Lines: f.lines}
	if o.Failed && !told && !o.Told && a.OnlyChecks() && len(a.Checks()) == 1 && !hides(a.Commands, text) &&
		summedUp(text) && !tellsFailure(text) {
		return Outcome{Passed: true} // tests that pass print errors too
	}
	if !told && !h.Marks && !o.Failed && a.OnlyChecks() { // nobody says how it ended
		o.Failed = !saysPassed(text) && tellsFailure(text)
	}
	ended := (told || h.Marks) && !o.Told && !toolcall.Masked(a.Commands)
	o.Failed = o.Failed && !ended // with the code 0: its text only talks of errors
	o.Passed = !o.Failed && !o.Told && (ended || saysPassed(text) && !hides(a.Commands, text) || keptSilent(a, text) ||
		editedInSilence(a, text))
	return o
}

// dropped is what a harness says of calls that it did not run.
const dropped = "<tool_use_error>Sibling tool call errored"

// Rejected reports whether the result of a call says that the person did not allow it: it did not run.
func Rejected(text string) bool { return strings.HasPrefix(text, rejected) }

// rejected begins the results of calls that the person did not allow.
const rejected = "The user doesn't want to proceed with this tool use."

// stops are how harnesses say that a person stopped a command, at the beginning of a line in small letters.
var stops = []string{"aborted by user", "command aborted by user", "command was aborted by user",
	"command was cancelled by user", "request interrupted by user"}

// stopped reports whether the last line of a result says that a person stopped the command: it did not fail.
func stopped(text string) bool {
	text = strings.TrimSpace(clip.Tail(text, maxLook))
	last := lower.Text(strings.Trim(text[strings.LastIndexByte(text, '\n')+1:], " \r[]<>."))
	return last == "command aborted" || slices.ContainsFunc(stops, func(s string) bool {
		return strings.HasPrefix(last, s)
	})
}

// ofTool reads how a call ended that ran no command.
func (h Harness) ofTool(m *abi.Message) Outcome {
	text := m.Text()
	code, told := exit(text)
	f := findings{failed: m.IsError || told && code > 0, shallow: true, told: told}
	f.read(text, h.GoOn)
	o := Outcome{Failed: f.failed || hasError(text), Told: m.IsError || told && code > 0, Lines: f.lines}
	o.Passed = !o.Failed && !o.Told && !saysNo(text)
	return o
}

// ShowsText reports whether a script shows text, in which errors may be talked about.
func ShowsText(list []toolcall.Command) bool {
	for i := range list {
		if c := &list[i]; !c.SetsScene() {
			return isOne(c, viewers)
		}
	}
	return false
}

// findNothing reports whether a script ends in a command that says with the code 1
// that there is nothing, or a difference.
func findNothing(list []toolcall.Command) bool {
	return len(list) > 0 && isOne(&list[len(list)-1], finders)
}

// isOne reports whether a command runs one of the programs, which may be of two words.
func isOne(c *toolcall.Command, programs map[string]bool) bool {
	w := c.Words
	return len(w) > 0 && (programs[w[0]] || len(w) > 1 && programs[w[0]+" "+w[1]])
}

// refusals are how the tools of editors and services say that they did not do it,
// at the beginning of a result.
var refusals = []string{"not found", "no match", "did not", "could not", "couldn't", "cannot", "can't", "failed",
	"error",
	"unable", "not unique", "multiple occurrences", "has not been read", "denied", "rejected", "refused", "has introduced",
	"no changes", "invalid", "doesn't want", "no replacement", "does not exist", "no such file", "timed out",
	"not allowed",
	"interrupted", "no files were", "must be ", "nothing was"}

// saysNo reports whether the result of a call that ran no command begins with a
// refusal.
func saysNo(text string) bool {
	low := lower.Text(strings.TrimSpace(clip.Head(text, 300)))
	line, _, _ := strings.Cut(low, "\n")
	words := strings.FieldsFunc(line, unicode.IsSpace)
	if len(words) > 0 && done[words[0]] || strings.Contains(line, "successfully") ||
		strings.Contains(line, "has been updated") {
		return false
	}
	words = slices.DeleteFunc(words, func(w string) bool { return strings.ContainsAny(w[:len(w)-1], "/.'\"`_") })
	return toolcall.HasAny(strings.Join(words, " "), refusals)
}

// hasError reports whether a result of JSON says in a field of its own that the call
// failed.
func hasError(text string) bool {
	low := lower.Text(strings.TrimSpace(clip.Head(text, 300)))
	if !strings.HasPrefix(low, "{") && !strings.HasPrefix(low, "[") {
		return false
	}
	bare := strings.Join(strings.Fields(low), "")
	for _, none := range []string{`"error":null`, `"error":false`, `"error":""`, `"error":{}`} {
		bare = strings.ReplaceAll(bare, none, "")
	}
	return toolcall.HasAny(bare, []string{`"error":`, `"success":false`, `"ok":false`,
		`"code":"accessdenied"`})
}

// done begin the results of calls that did what they were to do.
var done = set.Of("created", "updated", "added", "saved", "wrote", "applied", "sent", "deleted", "removed", "edited",
	"replaced",
	"done", "ok", "success")

// passes are how test runners and builds say that all went well.
var passes = wordlist.Of("test result: ok", "build success", "all tests passed", "all checks passed", "no issues found",
	"your command ran successfully")

// nones are what there is none of where all went well, behind a 0.
var nones = []string{"fail", "failed", "failures", "errors", "issues"}

// saysPassed reports whether the end of a text says that all went well.
func saysPassed(text string) bool { return passedIn(text, toolcall.IsFailure) }

// summedUp reports whether a test runner says so at the end of a text, whatever errors the tests printed.
func summedUp(text string) bool { return passedIn(text, func(string) bool { return false }) }

// passedIn is both, without a line that fails.
func passedIn(text string, fails func(line string) bool) bool {
	passed, none := false, false // none: no test ran in what the next line speaks of
	for line := range strings.Lines(clip.Tail(text, 4000)) {
		line = strings.TrimSpace(line)
		low := lower.Text(line)
		failsNone := countsNone(low)
		switch {
		case strings.Contains(low, "fail") && !failsNone, fails(line), line == "WARNING: DATA RACE":
			return false
		case strings.Contains(low, "no tests to run"):
			none = true
			continue
		case none && line == "PASS":
		case failsNone, line == "PASS", line == "OK", strings.HasPrefix(line, "ok  \t"), strings.HasPrefix(line, "ok \t"),
			strings.HasPrefix(line, "OK ("), passes.In(low), countPassed(low):
			passed = true
		}
		none = false
	}
	return passed
}

// countsNone reports whether a line says that nothing failed: "0 failed", and not "10
// failed".
func countsNone(line string) bool {
	none := false
	for _, what := range nones {
		for rest := line; ; {
			before, after, ok := strings.Cut(rest, " "+what)
			if !ok {
				break
			}
			number := before[strings.LastIndexAny(before, " ,:(")+1:]
			if number != "" && clip.Digits(number) == len(number) {
				if number != "0" {
					return false
				}
				none = true
			}
			rest = after
		}
	}
	return none
}

// countPassed reports whether a line says how many passed: "12 passed in 3.1s".
func countPassed(line string) bool {
	before, _, ok := strings.Cut(line, " passed")
	return ok && before != "" && before[len(before)-1] >= '0' && before[len(before)-1] <= '9'
}

// viewers show text, in which errors may be talked about.
var viewers = set.Of(strings.Split("cat,head,tail,less,sed,awk,grep,rg,ag,find,fd,ls,tree,bat,jq,wc,echo,git show,"+
	"git diff,git log,git blame,git grep", ",")...)

// finders are programs that end with the code 1 where they find nothing, or a
// difference.
var finders = set.Of("rg", "grep", "egrep", "fgrep", "zgrep", "ag", "ack", "git grep", "git diff", "diff", "cmp",
	"test", "[", "[[",
	"which", "pgrep", "type", "hash")

const (
	// maxError is how much of a line is kept, in characters, and the rest of a word.
	maxError = 200
	// maxFound is how many lines of one result are kept.
	maxFound = 12
	// maxPiece is how much is read between two looks at whether to go on, in bytes.
	maxPiece = 128 << 10
)

// maxHead is how many lines of a text to read may be a harness's own, among
// them one that says how the call ended.
const maxHead = 8

// findings are what a tool's output says about how the call ended.
type findings struct {
	// failed: its source or its text says so; errors: a line of its text does.
	failed, errors bool
	// known: the harness says so.
	known bool
	// shallow: the output is text to read, such as a file; only its first line
	// says how the call ended.
	shallow bool
	// told: the code of the exit is known, and is not to be read off the text.
	told  bool
	lines []string
}

// read finds the lines that say what went wrong: those that look like it, or
// the first of a result that its source marks as failed.
func (f *findings) read(text string, goOn func() bool) {
	first, heading, seen, looked := "", "", 0, 0
	fails := false  // the last word of go test, which says nothing beside other lines
	behind := false // something stands behind the lines that were found
	for line := range strings.Lines(text) {
		if looked += len(line); looked > maxPiece {
			if looked = 0; !goOn() {
				return
			}
		}
		line = strings.TrimSpace(line)
		if code, ok := exitLine(line); ok {
			f.failed = f.failed || code > 0 && !f.told
			continue
		}
		if line = unwrap(line); line == "" {
			continue
		}
		if heading != "" { // "ERROR:" and the text below
			line, heading = heading+" "+line, ""
		}
		seen++
		behind = len(f.lines) > 0
		if first == "" {
			first = line
		} else if f.shallow && seen <= maxHead {
			continue
		} else if f.shallow {
			break
		}
		fails = fails || line == "FAIL" && !f.shallow
		if !looksLikeError(withoutStep(withoutTag(line))) && (f.shallow || !inSource(line)) &&
			!(f.known && hasForm(line)) {
			continue
		}
		if len(line) < 12 && strings.HasSuffix(line, ":") {
			heading, first = line, ""
			continue
		}
		f.lines = append(f.lines, clip.Whole(line, maxError))
		if len(f.lines) == maxFound {
			break
		}
	}
	if n := len(f.lines); n > 0 && f.shallow && behind && !strings.HasSuffix(f.lines[n-1], leftOut) {
		f.lines[n-1] += leftOut
	}
	if len(f.lines) == 0 && fails {
		f.lines = []string{"FAIL"}
	}
	if len(f.lines) == 0 {
		if line := inForm(f.spoken(text, first)); line != "" {
			f.lines = append(f.lines, clip.Whole(line, maxError))
		}
	}
	f.errors = len(f.lines) > 0
	f.failed = f.failed || f.errors
	if len(f.lines) == 0 && f.failed && first != "" && first != "(no output)" {
		lines := strings.Split(text, "\n")
		if at, named := Fault(lines); named {
			first = unwrap(strings.TrimSpace(lines[at]))
		}
		f.lines = append(f.lines, clip.Whole(first, maxError))
	}
}

// spoken is what of a text its program says itself: of a text to read the first line.
func (f *findings) spoken(text, first string) string {
	if f.shallow {
		return first
	}
	return text
}

// leftOut marks that a text goes on.
const leftOut = " …"

// withoutTag is a line without the name of a task that its runner put before it:
// "[lint] ERROR task failed".
func withoutTag(line string) string {
	tag, rest, ok := strings.Cut(line, "] ")
	if !ok || !strings.HasPrefix(tag, "[") || rest == "" || strings.ContainsAny(tag, " /") {
		return line
	}
	return rest
}

// unwrap takes a line out of the one tag that a harness puts around it.
func unwrap(line string) string {
	tag, rest, ok := strings.Cut(line, ">")
	if !ok || len(tag) < 2 || tag[0] != '<' || strings.ContainsAny(tag, " /\"") {
		return line
	}
	if inner, ok := strings.CutSuffix(rest, "</"+tag[1:]+">"); ok {
		return strings.TrimSpace(inner)
	}
	return line
}

// exits are what harnesses write before the exit code of a command.
var exits = []string{"exit code", "exit status", "exited with code", "command exited with code",
	"process exited with code", "command failed with exit code", "command finished with exit code",
	"the command completed with exit code", "<returncode>"}

// exit finds the line that says with which code a command ended, near the ends of its
// result.
func exit(text string) (code int, ok bool) {
	return exitOf(text, func(string) bool { return false })
}

// exitOf finds that line, but for those to leave aside.
func exitOf(text string, aside func(line string) bool) (code int, ok bool) {
	for _, part := range []string{clip.Head(text, maxLook), clip.Tail(text, maxLook)} {
		for line := range strings.Lines(part) {
			if code, ok = exitLine(strings.TrimSpace(line)); ok && !aside(line) {
				return code, true
			}
		}
	}
	return 0, false
}

// isOfGo reports whether go prints the code of an exit so, of a program or a test that it ran: no harness does.
func isOfGo(line string) bool { return strings.HasPrefix(line, "exit status ") }

// SaysExit reports whether a line says no more than with which code a command ended.
func SaysExit(line string) bool {
	_, ok := exitLine(line)
	return ok
}

// exitLine reads a line that says no more than with which code a command ended.
func exitLine(line string) (code int, ok bool) {
	if len(line) == 0 || line[len(line)-1] > '9' && !strings.HasSuffix(line, "]") && !strings.HasSuffix(line, ">") {
		return 0, false
	}
	low := lower.Text(clip.Tail(line, maxLook))
	low, _ = strings.CutSuffix(low, "</returncode>")
	low = strings.Trim(unwrap(low), "[]")
	for _, s := range exits {
		if rest, ok := strings.CutPrefix(low, s); ok {
			if code, err := strconv.Atoi(strings.Trim(rest, " :.")); err == nil {
				return code, true
			}
		}
	}
	return 0, false
}

// exitSentence reads the code off a result that is a sentence on a command without
// output. Its harness may say nothing of the others.
func exitSentence(text string) (code int, ok bool) {
	_, rest, ok := strings.Cut(clip.Tail(strings.TrimSpace(text), maxLook), "` executed with exit code ")
	code, err := strconv.Atoi(strings.TrimSuffix(rest, "."))
	return code, ok && err == nil
}

// onlyCode reports whether a result says no more than that a command ended with a bad
// code.
func onlyCode(text string) bool {
	code, ok := exitLine(strings.TrimSpace(text))
	return ok && code > 0
}

// errorStarts and errorParts are how compilers, runtimes, shells and test
// runners begin or mark the line that matters.
var (
	errorStarts = wordlist.Of("warning: data race", "error", "fatal", "panic:", "--- fail", "fail\t", "fail ",
		"traceback", "exception", "e   ", "command failed", "npm err", "undefined:", "assertionerror",
		"syntaxerror", "typeerror", "segmentation fault", "failed", "make: ***", "make[",
		"e: unable to ", "e: could not ", "e: failed ", "e: package ", // of apt
		"ld: symbol(s) not found", "cannot borrow ", "fail: ", "killed: ", "permission denied (",
		"http/1.1 5", "http/1.0 5", "http/2 5")
	errorParts = wordlist.Of(": error:", ": error ", " error: ", "error:", "exception:", ": undefined: ", ": cannot ",
		": command not found", ": no such file", ": permission denied", "connection refused", "timed out",
		"' panicked at ", "deadline exceeded", " is forbidden: ", ": out of memory")
)

// SaysError reports whether a line says that something went wrong, as the lines of an [Outcome] mostly do: where none
// does, the first line of the output stands there.
func SaysError(line string) bool {
	return looksLikeError(withoutStep(withoutTag(line))) || inSource(line) || hasForm(line)
}

func looksLikeError(line string) bool {
	if line == "" || len(line) > 2000 {
		return false
	}
	// Source code and listings talk about errors all the time; a line that
	// starts with a line number, a comment or a bracket is one of those.
	head := line[:min(len(line), 48)]
	if strings.HasPrefix(head, "//") ||
		strings.IndexByte("0123456789#*-+{}()[]|`\"'<>", head[0]) >= 0 && !strings.HasPrefix(head, "--- FAIL") {
		return false
	}
	low := lower.Text(line[:min(len(line), 400)])
	if strings.HasPrefix(low, "error") &&
		(strings.HasSuffix(low, "0") || strings.HasSuffix(low, "none") || strings.HasSuffix(low, "(none)")) {
		return false // "errors: 0"
	}
	return errorStarts.Begin(low) || errorParts.In(low) ||
		strings.HasSuffix(low, ": not found") && shells.Begin(low)
}

// shells begin the line in which one says that there is no such command: "sh: 1: cmake: not found".
var shells = wordlist.Of("sh: ", "/bin/sh: ", "dash: ", "bash: ", "ash: ", "ksh: ")
