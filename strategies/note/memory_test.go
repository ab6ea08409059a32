package note_test

import (
	"testing"

	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestMemoryChangesNothing: a note says the same whether texts and calls were read for another one before it or not.
func TestMemoryChangesNothing(t *testing.T) {
	msgs := session(user("make the tests pass"), work(), said("I found that the lease is never renewed, as the clock "+
		"is read once at the start. Should I change it?"), user("yes"), edit("/srv/kw/lease.go", "done", false),
		run("go test ./store", "--- FAIL: TestLease\n    lease_test.go:40: got 2, want 1\nFAIL", true),
		run("go test ./store", "ok  \tstore\t0.1s", false), said("Done: the lease is renewed."), user("thanks"))
	shared := new(note.Memory)
	count := func(text string) int { return len(text) / 4 }
	for n := len(msgs); n > 0; n-- {
		alone, beside := goneUpTo(n, msgs), goneUpTo(n, msgs)
		beside.Memory = shared
		o := note.Options{Budget: 4000, Count: count}
		if got, want := write(beside, o), write(alone, o); got != want {
			t.Fatalf("%d messages go, beside others:\n%s\nalone:\n%s", n, got, want)
		}
	}
}
