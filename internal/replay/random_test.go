package replay_test

import (
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/replay"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/internal/soak"
)

// sizes counts a third of the characters: the invariants compare tokens with
// characters, which a real count of very short texts does not bear.
var sizes = sessiongen.Counter{Runes: 3}

// prompt is a log without results that come when the model has been called
// again since: no provider takes such a call. What it then does with the result
// of a call that is gone is for the host to say.
func prompt(msgs []abi.Message) (list []abi.Message) {
	now, late := make(map[string]bool), make(map[string]bool) // calls of the last answer, and of those before
	for _, m := range msgs {
		switch m.Role {
		case abi.RoleAssistant:
			for id := range now {
				late[id] = true
			}
			clear(now)
			for _, c := range m.ToolCalls {
				now[c.ID] = true
			}
		case abi.RoleTool:
			if late[m.ToolCallID] && !now[m.ToolCallID] {
				continue
			}
		}
		list = append(list, m)
	}
	return list
}

// TestReplayOfAnySession: logs with all the oddities
// there are, replayed call by call.
func TestReplayOfAnySession(t *testing.T) {
	features.Proves(t, "K9", "N2", "complaint 2")
	soak.Checks(t, soak.Count(40, 100, 100))
	compactions := 0
	rapid.Check(t, func(t *rapid.T) {
		msgs := prompt(sessiongen.Messages(100).Draw(t, "messages"))
		words := rapid.IntRange(10, 60).Draw(t, "words")
		for i := range msgs {
			if !msgs[i].Content.IsParts() {
				msgs[i].Content = abi.Text(msgs[i].Text() + strings.Repeat(" much was said", words))
			}
		}
		if len(msgs) == 0 {
			return
		}
		c, err := kagewasm.New(kagewasm.Options{Counter: sizes})
		if err != nil {
			t.Fatal(err)
		}
		// Under about 4,300 tokens the frame of a note alone is more than the
		// twentieth of the window that the invariants let stay unused.
		window := rapid.IntRange(5_000, 12_000).Draw(t, "window")
		check := &checker{t: t, recording: made(t, msgs), counter: sizes, unsendable: true}
		stats, err := replay.Run(context.Background(), replay.Options{Compactor: c, Counter: sizes,
			Session: abi.Session{ID: "s", ContextWindow: &window}, Messages: check.Messages, Observe: check.step})
		if err != nil {
			t.Fatal(err)
		}
		check.end()
		compactions += stats.Compactions
	})
	if compactions == 0 {
		t.Error("no session was compacted")
	}
}
