package note_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestMoreRoomKeepsTheLedger: every compaction carries a ledger of exact names inside a token budget. A note with room
// for names has them with more room as well, however much persons said; in the least room names come alone.
func TestMoreRoomKeepsTheLedger(t *testing.T) {
	features.Proves(t, "N8")
	const sentence = "Look at the next part of the harbour, and say what the tide and the cranes have to do with it. "
	var talk []abi.Message
	for i := range 30 {
		path := fmt.Sprintf("/srv/lighthouse/worktrees/harbour/internal/store/lease_%d.go", i)
		talk = append(talk, session(sentence+strings.Repeat("It matters. ", i%4), edit(path, "done", false),
			run(fmt.Sprintf("go test -run TestLease%d", i), "Exit code 1\n--- FAIL: TestLease", true),
			said(sentence+"It is done in "+path+"."))...)
	}
	n := build(gone(talk))
	count := func(s string) int { return len(s) / 4 }
	for budget := 100; budget < 1000; budget += 20 {
		text, tokens := n.Write(note.Options{Budget: budget, Count: count, Recall: "kagewasm recall harbour QUERY"})
		if tokens > budget {
			t.Errorf("%d tokens where %d are allowed", tokens, budget)
		}
		if !strings.Contains(text, "lease_29.go") {
			t.Errorf("no name in %d tokens of %d:\n%s", tokens, budget, text)
		}
		listed := strings.Contains(text, "\nModified in what went:\n") || strings.Contains(text, "\n## Exact names\n")
		if budget >= 180 && !listed {
			t.Errorf("no list of names in %d tokens of %d:\n%s", tokens, budget, text)
		}
	}
	text, _ := n.Write(note.Options{Budget: 45, Count: count, Recall: "kagewasm recall harbour QUERY"})
	if !strings.HasSuffix(text, "kagewasm recall harbour QUERY") {
		t.Errorf("a note without room for a name does not say where they are:\n%s", text)
	}
}

// TestNamesHaveWhatIsLeft: the ledger has the exact ids, numbers and paths met so far. What tools alone said stands
// there too where nothing else needs the room.
func TestNamesHaveWhatIsLeft(t *testing.T) {
	features.Proves(t, "N8")
	names := []string{"3f2504e0-4f89-11d3-9a0c-0305e82c3301", "https://ci.acme.dev/job/pay/4711/console",
		"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "ERR_PNPM_NO_LOCKFILE",
		"--max-old-space-size=4096", "s3://acme-pay/2026/11/ledger.parquet", "@acme/pay-core", "10.42.7.19:5433",
		"arn:aws:s3:::acme-pay-exports", "v2.14.0-rc.3", "0x7ffde3a1"}
	msgs := []abi.Message{user("Help with payments.")}
	for i, name := range names {
		msgs = append(msgs, run(fmt.Sprintf("./step %d", i), "status: "+name+" (seen)", false)...)
	}
	for range 12 {
		msgs = append(msgs, said(strings.Repeat("Then I went on with the next one. ", 30)), user("Go on."))
	}
	n := build(gone(msgs))
	text, _ := n.Write(note.Options{Budget: 4000, Count: func(s string) int { return len(s) / 4 }})
	for _, name := range names {
		if !strings.Contains(text, name) {
			t.Errorf("no %s in a note of %d characters:\n%s", name, len(text), text)
		}
	}
}
