package turns_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/turns"
	"github.com/kagewasm/kagewasm/store"
)

// TestAnswers: a compaction answers what was asked for before it, whoever wanted it, and so does a look for that which
// did not fail: with nothing that could go it is done. One that failed answers nothing.
func TestAnswers(t *testing.T) {
	features.Proves(t, "T2")
	full, fits := errors.New("no space left"), &abi.Error{Code: abi.CodeExceedsWindow}
	for _, c := range []struct {
		reason    abi.TriggerReason
		compacted bool
		err       error
		want      bool
	}{
		{abi.TriggerThreshold, true, nil, true}, {abi.TriggerThreshold, false, nil, false},
		{abi.TriggerPlugin, false, nil, true}, {abi.TriggerPlugin, false, full, false},
		{abi.TriggerAgent, false, fits, true}, {abi.TriggerAgent, false, full, false},
		{abi.TriggerManual, false, fits, false}, {abi.TriggerAgent, true, full, true},
	} {
		if got := turns.Answers(c.reason, c.compacted, c.err); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestAskedAgain: what a plugin asks for in the words of before is kept once, until it is answered; other words,
// another plugin and what the agent asks for stand beside it.
func TestAskedAgain(t *testing.T) {
	features.Proves(t, "T2")
	s, err := store.Open(t.Context(), store.InMemory, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a, b, agent := hooks.Wish{Plugin: "a", Instructions: "the ports"}, hooks.Wish{Plugin: "b", Instructions: "the ports"},
		hooks.Wish{Instructions: "the ports"}
	other := hooks.Wish{Plugin: "a", Instructions: "the hosts"}
	ask := func(wishes []hooks.Wish, answered []turns.Request, want ...hooks.Wish) (asked []turns.Request) {
		t.Helper()
		asked, err := turns.Ask(t.Context(), s, "s", wishes, answered...)
		if err != nil || len(asked) != len(wishes) {
			t.Fatal(asked, err)
		}
		kept, err := turns.Requests(t.Context(), s, "s")
		got := lists.Map(kept, func(r turns.Request) hooks.Wish { return r.Wish })
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v, %v, want %v", got, err, want)
		}
		return asked
	}
	first := ask([]hooks.Wish{a, a}, nil, a)
	again := ask([]hooks.Wish{a, b, other}, nil, a, b, other)
	if !again[0].Same(first[0]) {
		t.Errorf("%v is not %v", again[0], first[0])
	}
	ask([]hooks.Wish{agent}, nil, a, b, other, agent)
	ask([]hooks.Wish{agent}, nil, a, b, other, agent, agent)
	if again = ask([]hooks.Wish{a}, first[:1], b, other, agent, agent, a); again[0].Same(first[0]) {
		t.Error("what is asked for behind the answer is answered")
	}
}
