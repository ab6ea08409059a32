package replay_test

import (
	"fmt"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/replay"
	"github.com/kagewasm/kagewasm/strategies"
)

// did is a call of a tool with its result; text holds "FAILED" where it failed.
func did(id, arguments, text string) []abi.Message {
	return []abi.Message{
		{ID: "a" + id, Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{ID: id, Name: "tool", Arguments: arguments}}},
		{ID: "r" + id, Role: abi.RoleTool, ToolCallID: id, Content: abi.Text(text), IsError: strings.Contains(text,
			"FAILED")},
	}
}

// work is a log that begins with some calls, goes on with enough others for
// those to be superseded, and ends with some more.
func work(first, last []abi.Message) []abi.Message {
	msgs := append([]abi.Message{
		{ID: "sys", Role: abi.RoleSystem, Content: abi.Text("You are careful.")},
		{ID: "goal", Role: abi.RoleUser, Content: abi.Text("Make it work.")},
	}, first...)
	for i := range 20 {
		msgs = append(msgs, did(fmt.Sprint("w", i), fmt.Sprintf(`{"n":%d}`, i),
			strings.Repeat("plain words of no interest ", 20))...)
	}
	return append(msgs, last...)
}

// bare keeps no names, so that what goes is gone. The log of work is over the
// threshold at its last calls and never before.
var bare = kagewasm.Policy{Note: strategies.NoteConfig{Tokens: -1}}

// oneCompaction is a window in which the log is compacted once, before the
// first of its last n calls.
func oneCompaction(msgs []abi.Message, n int) int {
	total := 0
	for i := range msgs[:len(msgs)-2*n] {
		total += counter.Message(&msgs[i])
	}
	return total * 100 / 86
}

// TestContinuation: after a compaction the log goes on with what is there,
// reads again what is gone, or names what nobody told it.
func TestContinuation(t *testing.T) {
	features.Proves(t, "I10")
	const readsA, readsB = `{"path":"internal/store/lease.go"}`, `{"path":"internal/store/other.go"}`
	first := did("x", readsA, "the lease of a job")
	for _, tc := range []struct {
		why  string
		last []abi.Message
		want replay.Continuation
	}{
		{"something new", did("y", readsB, "the other file"), replay.Continuation{Compactions: 1, Continued: 1}},
		{"the same again", did("y", readsA, "the lease of a job"), replay.Continuation{Compactions: 1, Reread: 1, Lost: 1}},
		{"the same again, and it has changed", did("y", readsA, "another lease"), replay.Continuation{Compactions: 1,
			Lost: 1}},
		{"the same again, a call later", append(did("y", readsB, "the other file"), did("z", readsA,
			"the lease of a job")...),
			replay.Continuation{Compactions: 1, Continued: 1, Reread: 1}},
		{"in a command", did("y", `{"command":"wc -l internal/store/lease.go"}`, "12"),
			replay.Continuation{Compactions: 1, Lost: 1}},
		{"in what is written to a file", did("y", `{"text":"see\ninternal/store/lease.go"}`, "ok"),
			replay.Continuation{Compactions: 1, Continued: 1}},
		{"what is still in view", did("y", `{"n":19}`, strings.Repeat("plain words of no interest ", 20)),
			replay.Continuation{Compactions: 1, Continued: 1}},
		{"words alone", []abi.Message{{ID: "e", Role: abi.RoleAssistant, Content: abi.Text("Done.")},
			{ID: "u", Role: abi.RoleUser, Content: abi.Text("Thanks.")}},
			replay.Continuation{Compactions: 1, Continued: 1}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			msgs := work(first, tc.last)
			s := run(t, options(t, msgs, oneCompaction(msgs, len(tc.last)/2), bare))
			if s.Compactions != 1 || s.Continuation != tc.want {
				t.Errorf("%d compactions, %+v, want %+v", s.Compactions, s.Continuation, tc.want)
			}
		})
	}
	// The ledger names what went, and nothing is lost.
	msgs := work(first, did("y", readsA, "another lease"))
	if s := run(t, options(t, msgs, oneCompaction(msgs, 1),
		kagewasm.Policy{})); s.Continuation != (replay.Continuation{Compactions: 1, Continued: 1}) ||
		s.Continuation.Percent() != 100 {
		t.Errorf("with a ledger: %+v", s.Continuation)
	}
}

// TestRetention: of all failed calls that are gone, what was tried and what came of it is looked for in what stayed.
func TestRetention(t *testing.T) {
	features.Proves(t, "I10")
	const command = `{"command":"cd /repo && go test ./internal/store -run TestLease"}`
	says := func(text string) []abi.Message {
		person := abi.Message{ID: "u", Role: abi.RoleUser, Content: abi.Text(text + strings.Repeat(" Please go on.", 10))}
		return append([]abi.Message{person}, did("y", `{"n":99}`, "ok")...)
	}
	for _, tc := range []struct {
		why           string
		first         []abi.Message
		later         string // said after it, and still there
		tried, errors replay.Share
	}{
		{"nothing failed", did("x", command, "ok"), "", replay.Share{}, replay.Share{}},
		{"lost", did("x", command, "FAILED: lease_test.go:17: no lease"), "Try something else.", replay.Share{Of: 1},
			replay.Share{Of: 1}},
		{"kept", did("x", command, "FAILED: lease_test.go:17: no lease"),
			"`go test ./internal/store -run TestLease` said FAILED: lease_test.go:17: no lease.",
			replay.Share{Of: 1, Whole: 1}, replay.Share{Of: 1, Whole: 1}},
		{"what was tried is kept, and not what came of it", did("x", command, "FAILED: lease_test.go:17: no lease"),
			"`go test ./internal/store -run TestLease` does not work.",
			replay.Share{Of: 1, Whole: 1}, replay.Share{Of: 1}},
		{"an exit code says so, too", did("x", command, "no lease\nexit code 1"), "", replay.Share{Of: 1},
			replay.Share{Of: 1}},
		{"the words of a compiler say so, with no mark and no code", did("x", `{"command":"npx tsc -p ."}`,
			"src/a.ts(3,5): error TS2345: Argument of type 'string'"), "", replay.Share{Of: 1}, replay.Share{Of: 1}},
		{"and the words of make", did("x", `{"command":"make"}`, "make: *** [all] Error 2"), "", replay.Share{Of: 1},
			replay.Share{Of: 1}},
		{"an exit code of zero does not", did("x", command, "no lease\nexit code 0"), "", replay.Share{}, replay.Share{}},
		{"a person said no", did("x", command, "FAILED: The user doesn't want to proceed with this tool use."), "",
			replay.Share{}, replay.Share{}},
		{"it never ran", did("x", command, "FAILED: Sibling tool call errored"), "", replay.Share{}, replay.Share{}},
		{"it was stopped", did("x", command, "Command aborted\nexit code 130"), "", replay.Share{}, replay.Share{}},
		{"a search that found nothing", did("x", `{"command":"cd /repo && grep -rn maxLeases internal"}`,
			"(no output)\nexit code 1"), "", replay.Share{}, replay.Share{}},
		{"a search that failed", did("x", `{"command":"grep -rn maxLeases nowhere"}`,
			"grep: nowhere: No such file or directory\nexit code 2"), "", replay.Share{Of: 1}, replay.Share{Of: 1}},
		{"a file, by its name and folder", did("x", `{"path":"/srv/kw/internal/store/lease.go"}`, "FAILED: no such file"),
			"There is no store/lease.go.", replay.Share{Of: 1, Whole: 1}, replay.Share{Of: 1}},
		{"source that is shown is not what went wrong", did("x", command, "FAILED\n> 216 │ // throws an Error\n"+
			"× expected a semicolon"), "// throws an Error", replay.Share{Of: 1}, replay.Share{Of: 1}},
		{"nothing is said of why", did("x", command, "exit code: 2"), "", replay.Share{Of: 1}, replay.Share{}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			msgs := work(tc.first, says(tc.later))
			s := run(t, options(t, msgs, oneCompaction(msgs, 1), bare))
			if s.Compactions != 1 || s.Failed != tc.tried || s.Errors != tc.errors {
				t.Errorf("%d compactions, tried %+v, errors %+v", s.Compactions, s.Failed, s.Errors)
			}
		})
	}
	var many []abi.Message
	for i := range 30 {
		many = append(many, did(fmt.Sprint("x", i), fmt.Sprintf(`{"command":"go test ./pkg%d"}`, i), "FAILED: no lease")...)
	}
	msgs := work(many, says("Go on."))
	if s := run(t, options(t, msgs, oneCompaction(msgs, 1), bare)); s.Failed.Of != 30 || s.Errors.Of != 30 {
		t.Errorf("of 30 failures %+v and %+v are counted", s.Failed, s.Errors)
	}
	if (replay.Share{}).Percent() != 100 || (replay.Share{Of: 4, Whole: 3}).Percent() != 75 {
		t.Error("shares are shares")
	}
}

// idle is so many calls that name nothing.
func idle(n int) (msgs []abi.Message) {
	for i := range n {
		msgs = append(msgs, did(fmt.Sprint("i", i), fmt.Sprintf(`{"n":%d}`, i), "ok")...)
	}
	return msgs
}

// TestNamesListed: of the names that a note lists it is counted how many the agent uses
// in the next messages, by the words of its calls and of what it says.
func TestNamesListed(t *testing.T) {
	features.Proves(t, "I10")
	first := did("x", `{"path":"internal/store/lease.go"}`, "maxLeases")
	for _, tc := range []struct {
		why  string
		last []abi.Message
		used int
	}{
		{"none", did("y", `{"n":99}`, "maxLeases is no word of the agent's"), 0},
		{"a file, by its whole path", did("y", `{"path":"/srv/kw/internal/store/lease.go"}`, "ok"), 1},
		{"a name, with the package before it", did("y", `{"text":"store.maxLeases(1)"}`, "ok"), 1},
		{"part of a longer name", did("y", `{"text":"maxLeasesPerJob"}`, "ok"), 0},
		{"both, in one command", did("y", `{"command":"grep maxLeases internal/store/lease.go"}`, "ok"), 2},
		{"both, after sixty messages", append(idle(30), did("y", `{"command":"grep maxLeases internal/store/lease.go"}`,
			"ok")...), 0},
	} {
		t.Run(tc.why, func(t *testing.T) {
			msgs := work(first, tc.last)
			s := run(t, options(t, msgs, oneCompaction(msgs, len(tc.last)/2), kagewasm.Policy{}))
			if s.Compactions != 1 || s.NamesListed != 2 || s.NamesUsed != tc.used {
				t.Errorf("%d compactions, %d names listed, %d used, want 2 and %d", s.Compactions, s.NamesListed, s.NamesUsed,
					tc.used)
			}
		})
	}
}
