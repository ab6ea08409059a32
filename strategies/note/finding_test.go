package note_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestDecisions: what an agent decided, with its reason, is told before what it called, on the way and at the end of a
// turn, also where more was found on the way than one line holds.
func TestDecisions(t *testing.T) {
	features.Proves(t, "I4", "N13")
	decisions := []string{
		"Decision: we keep the v1 API instead of v2 since clients pin it.",
		"What worked instead: npm dedupe, because it leaves the tree valid.",
		"Let me use viper over koanf because the team knows it.",
		"Direct queries failed with lifetime issues, so I use the worker queue instead.",
		"I chose goose over atlas because it embeds its migrations.",
	}
	closing := "I went with tiered pruning rather than summaries, because these lost too much."
	parts := []any{"Mend it."}
	for i, d := range decisions {
		for k := range 4 {
			parts = append(parts, called("deploy", map[string]any{"target": fmt.Sprintf("part-%d-%d", i, k), "note": d[:8]},
				`{"status": "ok"}`, false))
		}
		parts = append(parts, said(d), called("deploy", map[string]any{"target": "all"}, "ok", false))
	}
	parts = append(parts, said(closing), "Thanks, and now the next one.", called("deploy", nil, "ok", false),
		said("I see."))
	text := render(session(parts...), note.Options{Budget: 700})
	for _, d := range append(decisions, closing) {
		if !strings.Contains(text, d) {
			t.Errorf("%q is not told", d)
		}
	}
	if t.Failed() {
		t.Log(thread(text))
	}
	for words, want := range map[string]bool{
		"I took SQLite in the place of DuckDB, and tell more of it below.":   false,
		"We keep the old one because the new one has no index of its own.":   true,
		"I prefer JSON over YAML because it is the simpler of the two.":      true,
		"Let me use grep as the search tool of the harness is broken today.": false,
	} {
		text := render(session("Mend it.", said(words), run("ls", "x", false), said("Done.")), note.Options{})
		if got := strings.Contains(text, "Agent on the way: "+words); got != want {
			t.Errorf("%q: %v", words, got)
		}
	}
}

// approaches are how agents say on the way that something came to nothing, or what they decided: the first ones are
// those of the summary in the design of ion.
var approaches = []string{
	"Attempted direct OmenDB queries, hit async lifetime issues.",
	"Tried full summarization first, lost too much context.",
	"Provider timeout at 30s - increased to 120s.",
	"Using SQLite over DuckDB for embedding compatibility.",
	"I tried the mutex approach. It deadlocked under load because Close waits for Flush.",
	"The first attempt with regexp was too slow, so I switched to a hand-written scanner.",
	"That approach does not work: the API rejects batch sizes over 50. Splitting into batches of 40 fixed it.",
	"We decided against Redis since ops does not run it.",
	"Der erste Versuch hat nicht funktioniert, die Sperre blockiert.",
	"No funcionó con dos procesos a la vez.",
	"Patching the vendored copy was a dead end: go mod vendor overwrites it.",
	"Switched from polling to fsnotify, as polling missed renames.",
	"I dropped the cache idea; invalidation across replicas never converged.",
	"Retrying with exponential backoff made no difference; the server counts attempts per hour.",
	`Error was "x509: certificate signed by unknown authority" - solved by mounting the CA bundle.`,
	"Tried increasing ulimit, still ran out of descriptors; closing rows early fixed it.",
}

// TestApproachesThatFailed: what an agent says between its calls of what it tried in vain stands in the note word for
// word, in one a chain of notes later too, and is not given up for what it called. What it is about to do says nothing.
func TestApproachesThatFailed(t *testing.T) {
	features.Proves(t, "I4", "N13")
	parts := []any{"Make the build pass."}
	for i, words := range approaches {
		for k := range 6 {
			parts = append(parts, said("Looking at part "+fmt.Sprint(i, k)), called("deploy",
				map[string]any{"target": fmt.Sprintf("part-%d-%d", i, k)}, strings.Repeat("a line of it\n", 9), false))
		}
		parts = append(parts, said(words), called("deploy", map[string]any{"target": "all"}, "ok", false))
	}
	parts = append(parts, said("Let me see why it failed with that."), called("deploy", nil, "ok", false),
		said("All done."))
	text := render(session(parts...), note.Options{Budget: 1400})
	again := render(session(summary(text), "And the next one.", called("deploy", nil, "ok", false), said("I see.")),
		note.Options{Budget: 1400})
	for _, words := range approaches {
		if !strings.Contains(text, words) {
			t.Errorf("%q is not told", words)
		}
		if !strings.Contains(again, words) {
			t.Errorf("%q is not told in the next note", words)
		}
	}
	if strings.Contains(text, "Agent on the way: Let me see") {
		t.Error("what the agent was about to do is told as if it had come to nothing")
	}
	if t.Failed() {
		t.Log(thread(text))
	}
}

// reasons are what agents said of decisions and of what came to nothing, each in words of its own.
var reasons = []string{
	"Keeping the lock file out of the image, otherwise the cache layer is rebuilt on each commit.",
	"JSON Patch it is: a merge patch cannot delete array items.",
	"We stay on Node 18 because the base image has nothing newer.",
	"Dropped the retry wrapper; the client retries three times by itself.",
	"Moved the check into the trigger so that two writers cannot pass it at once.",
	"Streaming the export instead of buffering it, 2 GB would not fit the pod.",
	"The upgrade to pydantic 2 broke 40 validators; pinned it at 1.10 for now.",
	"A materialized view would have been stale for an hour, so no.",
	"Setting GOFLAGS in the Dockerfile had no effect, the build stage resets the environment.",
	"Hot reload corrupts the plugin cache, hence the full restart.",
	"The regex approach breaks on nested brackets. Replaced it with a small hand-written scanner.",
}

// TestReasons: decisions with their reason, and what came to nothing, are told in whatever words the agent said so, on
// the way and in its closing words, in the room beside the budget, over two notes. What it is about to do is not.
func TestReasons(t *testing.T) {
	features.Proves(t, "I4")
	for _, closing := range []bool{false, true} {
		parts := []any{"Make the build pass."}
		for i, words := range reasons {
			for k := range 6 {
				parts = append(parts, said("Looking at part "+fmt.Sprint(i, k)), called("deploy",
					map[string]any{"target": fmt.Sprintf("part-%d-%d", i, k)}, strings.Repeat("a line of it\n", 9), false))
			}
			parts = append(parts, said(words))
			if closing {
				parts = append(parts, fmt.Sprint("And now part ", i))
			}
		}
		parts = append(parts, said("Let me see why it broke, because that is odd."), called("deploy", nil, "ok", false),
			said("Done."))
		for round := range 2 {
			went := gone(session(parts...))
			text := write(went, note.Options{Budget: 1200, Beside: went.NeedBeside(t.Context(), byRune, false), Count: byRune})
			for _, words := range reasons {
				if !strings.Contains(text, words) {
					t.Errorf("closing words %v, round %d: %q is not told in\n%s", closing, round, words, text)
				}
			}
			if strings.Contains(text, "on the way: Let me see") {
				t.Error("what the agent was about to do is told as a reason")
			}
			parts = []any{summary(text), "And the next one.", called("deploy", nil, "ok", false), said("I see.")}
		}
	}
}

// TestDecisionsInClosingWords: what the agent decided, or tried in vain, and says in the middle of long closing words
// is told where these are told in short; where they tell it, it is not told twice.
func TestDecisionsInClosingWords(t *testing.T) {
	features.Proves(t, "I4", "N13")
	const decided = "I chose goose over atlas because it embeds its migrations."
	long := "The first part is done.\n\n" + strings.Repeat("Much more is said of the parts here. ", 20) + "\n\n" +
		"The root cause was a lock that nobody gave back to the pool.\n\n" + decided + "\n\n" +
		strings.Repeat("And more of the other ones there. ", 20)
	msgs := session("Mend it.", run("go build", "ok", false), said(long), "Now the next one.", run("go vet", "ok", false),
		said("Done."))
	for _, budget := range []int{250, 4000} {
		text := render(msgs, note.Options{Budget: budget})
		if n := strings.Count(text, decided); n != 1 {
			t.Errorf("%d tokens: it is told %d times in\n%s", budget, n, text)
		}
	}
}

// TestFindingsAreToldOnce: a sentence that the next one points back to is told with it, and not by itself too.
func TestFindingsAreToldOnce(t *testing.T) {
	features.Proves(t, "N13")
	const first, next = "TestStats fails because it relied on the order of the queue.", "That is why we decided on a set."
	const fails = "The regex approach breaks on nested brackets."
	const instead = "Replaced it with a scanner instead of a parser."
	for _, words := range [][2]string{{first, next}, {fails, instead}} {
		text := thread(render(session("Mend it.", said(words[0]+" "+words[1]), run("ls", "x", false), said("Done.")),
			note.Options{}))
		if strings.Count(text, words[0]) != 1 || strings.Count(text, words[1]) != 1 ||
			!strings.Contains(text, words[0]+" "+words[1]) {
			t.Error(text)
		}
	}
}
