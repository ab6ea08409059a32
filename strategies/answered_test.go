package strategies_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies"
)

// TestWhatIsAnsweredStays: the newest request stays whole, and with it what it refers to where that is the message just
// before it: a plan that somebody approved with a few words.
func TestWhatIsAnsweredStays(t *testing.T) {
	features.Proves(t, "N13", "K10")
	plan := func(tokens int) abi.Message { return sized("plan", abi.RoleAssistant, tokens) }
	words := func(text string) abi.Message {
		return abi.Message{ID: "now", Role: abi.RoleUser, Content: abi.Text(text)}
	}
	calls := plan(40)
	calls.ToolCalls = []abi.ToolCall{{ID: "p"}}
	for _, tc := range []struct {
		why    string
		before []abi.Message
		now    abi.Message
		keep   strategies.KeepConfig
		stays  bool
	}{
		{"a few words", []abi.Message{plan(40)}, words("yeah, let's give it a try"), strategies.KeepConfig{}, true},
		{"behind what is only shown", []abi.Message{plan(40), {ID: "d", Role: abi.RoleAssistant,
			Kind: abi.KindDisplayOnly, Content: abi.Text("x")}}, words("yes"), strategies.KeepConfig{}, true},
		{"words that say all themselves", []abi.Message{plan(40)}, words(strings.Repeat("Mend the lease. ", 13)),
			strategies.KeepConfig{}, false},
		{"a long plan", []abi.Message{plan(60)}, words("yes"), strategies.KeepConfig{}, false},
		{"a call with a result", []abi.Message{calls, {ID: "r", Role: abi.RoleTool, ToolCallID: "p",
			Content: abi.Text("x")}}, words("yes"), strategies.KeepConfig{}, false},
		{"where what stays is one piece", []abi.Message{plan(40)}, words("yes"), strategies.KeepConfig{OnePiece: true},
			false},
		{"where somebody said how much stays", []abi.Message{plan(40)}, words("yes"), strategies.KeepConfig{Messages: 2},
			false},
	} {
		t.Run(tc.why, func(t *testing.T) {
			msgs := slices.Concat([]abi.Message{sized("task", abi.RoleUser, 10), sized("old", abi.RoleAssistant, 30)},
				tc.before, []abi.Message{tc.now})
			for i := range 9 {
				msgs = append(msgs, sized("m"+strconv.Itoa(i), abi.RoleAssistant, 50))
			}
			gone := strategies.Cut(view(msgs, 400, 0, false), 20, tc.keep)
			if got := !slices.Contains(gone, "plan"); got != tc.stays || !slices.Contains(gone, "old") {
				t.Errorf("%v went", gone)
			}
		})
	}
}
