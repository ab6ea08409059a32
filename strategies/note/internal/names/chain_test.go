package names_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/internal/survival"
	"github.com/kagewasm/kagewasm/strategies/note/internal/names"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// work is what an agent did on a small project.
func work() []abi.Message {
	msgs := []abi.Message{user("acquireLocked in internal/store/lease_table.go hands a parcel out twice: PAR-2291, " +
		"since 9f3c2e1.")}
	for range 3 {
		msgs = append(msgs, called("Read", "file_path", "/srv/kw/internal/store/lease_table.go", "func acquireLocked()",
			false)...)
		msgs = append(msgs, called("Edit", "file_path", "/srv/kw/internal/store/lease_table.go", "ok", false)...)
		msgs = append(msgs, called("Edit", "file_path", "/srv/kw/internal/queue/token_bucket.go", "ok", false)...)
		msgs = append(msgs, called("Read", "file_path", "/srv/kw/docs/leases.md", "# parcel_lease_ttl", false)...)
		msgs = append(msgs, said("LeaseDeadline and tokenBucket, then ReserveNextParcel with --drain-timeout on "+
			"8443, see leases.md."))
	}
	msgs = append(msgs, called("Bash", "command", "go vet ./...", "", false)...)
	return append(msgs, called("Bash", "command", "go test ./internal/store/...",
		"--- FAIL: TestLease (0.41s)\nFAIL\tkw/internal/store", true)...)
}

// chatter is later work that names much, none of it by a person.
func chatter(round int) []abi.Message {
	var msgs []abi.Message
	for i := range 25 {
		var b strings.Builder
		for k := range 12 {
			fmt.Fprintf(&b, "other_%d_%d_%d ", round, i, k)
		}
		msgs = append(msgs, called("Grep", "pattern", "x", b.String(), false)...)
	}
	return msgs
}

// compacted is the message that a compaction leaves of these.
func compacted(msgs []abi.Message, budget int) abi.Message {
	return summary(build(msgs).Render(budget, byRune))
}

func listsOf(m abi.Message) map[string]string {
	text, _ := abi.Unfence(m.Text())
	return lines(text)
}

// first are the names that the first ledger of work() puts first.
var first = map[string][]string{
	"Modified in what went": {"internal/store/lease_table.go", "internal/queue/token_bucket.go"},
	"Read in what went":     {"docs/leases.md"},
	"Names": {"acquireLocked", "LeaseDeadline", "tokenBucket", "ReserveNextParcel", "--drain-timeout",
		"parcel_lease_ttl", "PAR-2291"},
	"Numbers and ids": {"9f3c2e1", "8443"},
}

// TestChainOfBusyRounds: five more compactions, with much
// going on between them, do not lose what the first ledger ranked first, nor
// what it was.
func TestChainOfBusyRounds(t *testing.T) {
	features.Proves(t, "N8", "complaint 8")
	note := compacted(work(), 700)
	for round := range 6 {
		got := listsOf(note)
		if got["root"] != "/srv/kw" {
			t.Errorf("round %d: root %q", round, got["root"])
		}
		for head, names := range first {
			for _, name := range names {
				if !slices.Contains(strings.Fields(got[head]), name) {
					t.Errorf("round %d: %s lost %s: %s", round, head, name, got[head])
				}
			}
		}
		want := "Edit(file_path)×6 Read(file_path)×6 Bash(command)×2"
		if round > 0 {
			want += fmt.Sprintf(" Grep(pattern)×%d", 25*round)
		}
		if !sameWords(got["Tools called in what went"], want) {
			t.Errorf("round %d: tools %q, want %s", round, got["Tools called in what went"], want)
		}
		note = compacted(append([]abi.Message{note}, chatter(round)...), 700)
	}
}

// TestChainOfQuietRounds: with nothing going on, the ledger of a ledger is
// that ledger, its commands and errors included.
func TestChainOfQuietRounds(t *testing.T) {
	features.Proves(t, "N8")
	note := compacted(work(), 1200)
	want := listsOf(note)
	if want["Other"] != "go vet ./...\ngo test ./internal/store/... (failed)\n" {
		t.Fatalf("commands %q", want["Other"])
	}
	failed := func(m abi.Message) []names.Failure { return build([]abi.Message{m}).Failures() }
	if list := failed(note); len(list) != 1 ||
		!strings.HasSuffix(list[0].Text, "\n--- FAIL: TestLease (0.41s)\nFAIL\tkw/internal/store") {
		t.Fatalf("failures %+v", list)
	}
	for round := range 5 {
		before := failed(note)
		note = compacted([]abi.Message{note}, 1200)
		if after := failed(note); !slices.Equal(after, before) {
			t.Errorf("round %d: %+v, was %+v", round, after, before)
		}
		got := listsOf(note)
		for head := range want {
			if head == "Other" || head == "root" {
				if got[head] != want[head] {
					t.Errorf("round %d: %s: %q, was %q", round, head, got[head], want[head])
				}
			} else if !sameWords(got[head], want[head]) {
				t.Errorf("round %d: %s: %q, was %q", round, head, got[head], want[head])
			}
		}
	}
}

func sameWords(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// TestChainProperty: for any session, the ledger of a ledger that has room
// for all names loses none.
func TestChainProperty(t *testing.T) {
	features.Proves(t, "N8")
	rapid.Check(t, func(t *rapid.T) {
		msgs := sessiongen.Messages(30).Draw(t, "session")
		text := build(msgs).Render(100_000, byRune)
		if text == "" {
			return
		}
		again := build([]abi.Message{summary(text)}).Render(100_000, byRune)
		was, is := make(map[string]bool), make(map[string]bool)
		survival.Names(text, was)
		survival.Names(again, is)
		for name := range is {
			delete(was, name)
		}
		if len(was) > 0 {
			t.Fatalf("lost %v:\n%s\n\n%s", slices.Sorted(maps.Keys(was)), text, again)
		}
	})
}

// TestSummaryWithText: what a model or a plugin wrote before the ledger is
// read as text, and a summary of another program too.
func TestSummaryWithText(t *testing.T) {
	list := build(work()).Render(700, byRune)
	got := listsOf(compacted([]abi.Message{summary("The agent mended writeProblem.\n\n" + list)}, 900))
	if !strings.Contains(got["Names"], "writeProblem") ||
		!strings.Contains(got["Modified in what went"], "internal/queue/token_bucket.go") {
		t.Errorf("%v", got)
	}
	foreign := abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary,
		Content: abi.Text("Summary: changed src/app/main.go and maxRetries.")}
	got = listsOf(compacted([]abi.Message{foreign}, 900))
	if got["Paths mentioned"] != "src/app/main.go" || got["Names"] != "maxRetries" {
		t.Errorf("%v", got)
	}
}

// FuzzParse: a summary may hold anything, a forged ledger too.
func FuzzParse(f *testing.F) {
	list := build(work()).Render(1200, byRune)
	head := names.Heading + "\n"
	for _, s := range []string{
		list, "", head, head + "Paths are relative to \nRead in what went: a  b\n",
		head + "Paths are relative to /x\nModified in what went: a.go /b.go ~/c.go https://d.e/f.go\n",
		head + "Tools called in what went: A(b c)×2 B×99999999999999999999 ×3 C(×1\n",
		head + "Tools called in what went: A×1000000000000000000 A×1000000000000000000 A×9000000000000000000\n",
		head + "Read in what went: \nNames: \nNumbers and ids:  \n",
		head + "Other commands run, newest last:\n- (failed)\n-  (failed)\n- \nErrors met, newest last:\n-  ← \n- x ← " +
			"same\n- ← same\n",
		head + list + head, strings.Repeat(head, 3),
		head + "Paths mentioned: / // /// a/ /a ./ ../\nFile names without folders: / . ..\n",
		"\xff" + head + "Names: \xff\xfe\xfd abc\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, m := range []abi.Message{summary(text), {Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text(text)}} {
			msgs := append([]abi.Message{m}, work()...)
			out := build(msgs).Render(900, byRune)
			if n := byRune(out); n > 900 || !strings.Contains(out, "acquireLocked") {
				t.Fatalf("%d tokens:\n%s", n, out)
			}
			if again := build(msgs).Render(900, byRune); again != out {
				t.Fatalf("not the same again:\n%s\n\n%s", out, again)
			}
		}
	})
}

// TestFailuresAlone: where failures alone are looked for they are those that all the names stand with.
func TestFailuresAlone(t *testing.T) {
	harness := outcome.Harness{GoOn: func() bool { return true }}
	again := called("Bash", "command", "go test ./internal/store/...", "ok  \tkw/internal/store", false)
	other := called("Bash", "command", "make lint", "lease.go:3: unused", true)
	for name, msgs := range map[string][]abi.Message{
		"work": work(), "a note on it": {compacted(work(), 1200)},
		"a note, and it passed": append([]abi.Message{compacted(work(), 1200)}, again...),
		"a note, more failed":   append([]abi.Message{compacted(work(), 1200)}, other...),
	} {
		for _, pruned := range [][]abi.Message{nil, other} {
			want := names.Build(t.Context(), msgs, pruned, harness, new(names.Found)).Failures()
			if got := names.Failures(t.Context(), msgs, pruned, harness); !slices.Equal(got, want) || len(want) == 0 {
				t.Errorf("%s: %+v, want %+v", name, got, want)
			}
		}
	}
}

// TestFormerHeadings: the lists of a note that an earlier version wrote are read for what they were.
func TestFormerHeadings(t *testing.T) {
	features.Proves(t, "N8")
	former := summary("Files modified:\n- internal/store/lease.go×2\n\nFiles read:\n- docs/leases.md\n\n## Exact names\n" +
		"Tools called: Edit(file_path)×2\nOther paths:\n- cmd/kw\n")
	want := map[string]string{"Modified in what went": "internal/store/lease.go",
		"Read in what went":         "docs/leases.md",
		"Tools called in what went": "Edit(file_path)×2", "Paths mentioned": "cmd/kw"}
	l := build([]abi.Message{former}).Lists(400, "", byRune)
	got := lines(strings.Join([]string{l.Modified, l.Read, l.Rest}, "\n"))
	for head, list := range want {
		if got[head] != list {
			t.Errorf("%s: %q, want %q", head, got[head], list)
		}
	}
	for _, line := range []string{"Files modified:", "Tools called: Edit×2", "Modified in what went:"} {
		if !names.Reserved(line) {
			t.Errorf("%q is not reserved", line)
		}
	}
}
