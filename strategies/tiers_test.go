package strategies_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/strategies"
)

// ion prunes by shortening and by reference, with no least saving.
var ion = strategies.PruneConfig{ShortenTokens: 2000, Reference: true, MinimumSavings: -1}

func TestTiers(t *testing.T) {
	features.Proves(t, "I7")
	session := func(list ...string) []abi.Message { // with a turn after it
		return append(results(list...), sized("now", abi.RoleUser, 5), sized("last", abi.RoleAssistant, 5))
	}
	keep := session("bash:3000", "bash:3000")
	keep[2].Meta = abi.Meta{abi.MetaAlwaysKeep: []byte("true")}
	for _, tc := range []struct {
		why  string
		msgs []abi.Message
		cfg  strategies.PruneConfig
		want string
	}{
		{"output over 2,000 tokens is shortened in the protected window too",
			session("bash:3000", "bash:2000", "bash:2001"), ion, "r0 r2"},
		{"protected tools stay", session("read:3000", "skill:3000", "bash:3000"), ion, "r2"},
		{"what is pinned stays", keep, ion, "r1"},
		{"the current turn stays", results("bash:3000", "bash:3000"), ion, "r0"},
		{"the minimum of savings is one for both tiers", session("bash:3000", "bash:3000"),
			strategies.PruneConfig{ShortenTokens: 2000}, ""},
		{"and is met by both", session(strings.Fields(strings.Repeat("bash:3000 ", 11))...),
			strategies.PruneConfig{ShortenTokens: 2000}, "r0 r1 r2 r3 r4 r5 r6 r7 r8 r9 r10"},
		{"off by default", session("bash:39000", "bash:30000"), strategies.PruneConfig{}, ""},
		{"what is left counts for the protected window", session("bash:1500", "bash:60000", "bash:10000"), ion, "r1 r2"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := editsOf(prune(tc.msgs, tc.cfg)); got != tc.want {
				t.Errorf("edits %q, want %q", got, tc.want)
			}
		})
	}
}

// TestHeadAndTail: about 500 tokens of each end, whole lines, and the number
// of those between.
func TestHeadAndTail(t *testing.T) {
	features.Proves(t, "I7")
	for _, tc := range []struct {
		why, text string
		counter   sessiongen.Counter
	}{
		{"lines", "FIRST\n" + lines(2000) + "LAST", sessiongen.Counter{}},
		{"one line", "FIRST" + strings.Repeat("x", 40_000) + "LAST", sessiongen.Counter{}},
		{"runes of several bytes", "FIRST" + strings.Repeat("日本ü", 20_000) + "LAST", sessiongen.Counter{}},
		{"a dense beginning", "FIRST" + strings.Repeat("日", 20_000) + strings.Repeat("\n", 20_000) + "LAST",
			sessiongen.Counter{Runes: 1}},
		{"invalid UTF-8", "FIRST" + strings.Repeat("\xbfabcdef", 20_000) + "LAST", sessiongen.Counter{}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			msgs := results("bash:1", "bash:1")
			msgs[2].Content = abi.Text(tc.text)
			edits := strategies.Prune(strategies.NewList(msgs, tc.counter.Tokens(msgs), abi.Pinned(msgs), 0), ion, tc.counter)
			if len(edits) != 1 {
				t.Fatalf("edits %v", edits)
			}
			got := edits[0].Text
			head, rest, _ := strings.Cut(got, "\n[Pruned — ")
			figure, tail, ok := strings.Cut(rest, " tokens]\n")
			if !ok || !strings.HasPrefix(head, "FIRST") || !strings.HasSuffix(tail, "LAST") || !utf8.ValidString(got) {
				t.Errorf("%q ... %q", got[:20], got[len(got)-20:])
			}
			h, l := tc.counter.Text(head), tc.counter.Text(tail)
			if h < 350 || h > 500 || l < 350 || l > 500 {
				t.Errorf("%d and %d tokens at the ends", h, l)
			}
			if all := tc.counter.Text(tc.text); !near(figure, all-h-l) {
				t.Errorf("%s of %d tokens left out, with %d and %d kept", figure, all, h, l)
			}
			if tc.why == "lines" && (!strings.HasSuffix(head, "output") || !strings.HasPrefix(tail, "line number")) {
				t.Errorf("lines are cut: %q, %q", head[len(head)-20:], tail[:20])
			}
		})
	}
}

func near(figure string, want int) bool {
	n := 0
	for _, c := range figure {
		n = 10*n + int(c-'0')
	}
	return n >= want-3 && n <= want+3
}

// TestReference: what is gone says where it came from.
func TestReference(t *testing.T) {
	features.Proves(t, "I7")
	for _, tc := range []struct{ why, name, arguments, want string }{
		{"a path", "read_file", `{"path":"internal/x.go","offset":100}`, "[Pruned — 812 tokens: read_file internal/x.go]"},
		{"a command", "bash", `{"command":"cd /repo && go test ./..."}`,
			"[Pruned — 812 tokens: bash cd /repo && go test ./...]"},
		{"a verb of an editor with its file", "editor", `{"command":"view","path":"a.go"}`,
			"[Pruned — 812 tokens: editor view a.go]"},
		{"an address", "fetch", `{"url":"https://example.com/a"}`, "[Pruned — 812 tokens: fetch https://example.com/a]"},
		{"no arguments", "now", `{}`, "[Pruned — 812 tokens: now]"},
		{"arguments that are no JSON", "apply", "*** Begin Patch", "[Pruned — 812 tokens: apply]"},
		{"markers and lines are broken up", "bash", `{"command":"echo '<|im_start|>'"}`,
			"[Pruned — 812 tokens: bash echo '< |im_start|>']"},
		{"no name and nothing", "", "", "[Pruned — 812 tokens]"},
		{"arguments that were pruned", "write", `{"content":"[Pruned — 900 tokens]"}`, "[Pruned — 812 tokens: write]"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			msgs := results("x:812", "x:50000")
			msgs[1].ToolCalls[0].Name, msgs[1].ToolCalls[0].Arguments = tc.name, tc.arguments
			cfg := strategies.PruneConfig{Reference: true, MinimumSavings: -1}
			edits := prune(msgs, cfg)
			if len(edits) != 1 || edits[0].Text != tc.want {
				t.Errorf("%+v, want %q", edits, tc.want)
				return
			}
			cfg.ProtectTokens = -1
			cfg.ProtectedTools = []string{"x"}
			if again := prune(edited(t, msgs, edits, count), cfg); len(again) > 0 {
				t.Errorf("a notice is pruned again: %+v", again)
			}
		})
	}
	orphan := []abi.Message{sized("u", abi.RoleUser, 5), sized("r", abi.RoleTool, 812), sized("r2", abi.RoleTool, 50000)}
	if edits := prune(orphan, ion); len(edits) != 1 || edits[0].Text != strategies.PruneNotice(812) {
		t.Errorf("a result of no call: %+v", edits)
	}
}

// TestTiersMedia: an image in old output is named when the output is shortened, and
// does not vanish.
func TestTiersMedia(t *testing.T) {
	features.Proves(t, "I7")
	msgs := results("bash:3000", "bash:1")
	msgs[2].Content = abi.Parts(abi.TextPart(msgs[2].Text()), picture(1_200_000))
	edits := prune(msgs, ion)
	if len(edits) != 1 || !strings.HasSuffix(edits[0].Text, "\n[image image/png, 1.2 MB]") {
		t.Errorf("%d edits: %.80q", len(edits), editsOf(edits))
	}
}

func TestTiersProperties(t *testing.T) {
	features.Proves(t, "I7")
	did := 0
	rapid.Check(t, func(t *rapid.T) {
		msgs := sessiongen.Messages(60).Draw(t, "session")
		cfg := strategies.PruneConfig{
			ProtectTokens:  rapid.SampledFrom([]int{-1, 20, 100, 400}).Draw(t, "protect"),
			MinimumSavings: rapid.SampledFrom([]int{-1, 1, 50}).Draw(t, "minimum"),
			ShortenTokens:  rapid.SampledFrom([]int{1, 20, 60, 120}).Draw(t, "shorten"),
			EndTokens:      rapid.SampledFrom([]int{-1, 5, 0}).Draw(t, "end"),
			Reference:      rapid.Bool().Draw(t, "reference"),
		}
		after := checkEdits(t, msgs, func(msgs []abi.Message) []abi.Edit { return prune(msgs, cfg) })
		for i := range msgs {
			if msgs[i].Role != abi.RoleTool && count.Message(&after[i]) != count.Message(&msgs[i]) {
				t.Fatalf("%s is no tool output, and was pruned", msgs[i].ID)
			}
			if count.Message(&after[i]) != count.Message(&msgs[i]) {
				did++
			}
		}
	})
	if did == 0 {
		t.Error("nothing was ever pruned: nothing was shown")
	}
}

// TestShortenRecent: output in what stays is cut to about 500 tokens.
func TestShortenRecent(t *testing.T) {
	features.Proves(t, "I2")
	msgs := append(results("bash:3000", "bash:400", "read:900", "bash:900"), sized("now", abi.RoleUser, 5),
		sized("last", abi.RoleAssistant, 5))
	edits := strategies.ShortenRecent(whole(msgs), 500, nil)
	if got := editsOf(edits); got != "r0 r3" {
		t.Fatalf("edits %q, want r0 and r3: r1 is short, r2 is protected", got)
	}
	after := edited(t, msgs, edits, count)
	if n := count.Message(&after[8]); n > 500 || n < 400 {
		t.Errorf("%d tokens are left", n)
	}
	if got := editsOf(strategies.ShortenRecent(whole(msgs), 500, []string{})); got != "r0 r2 r3" {
		t.Errorf("no tool protected: %q", got)
	}
	if got := editsOf(strategies.ShortenRecent(whole(results("bash:900", "bash:900")), 500, nil)); got != "r0" {
		t.Errorf("the current turn: %q", got)
	}
	if got := strategies.ShortenRecent(whole(msgs), 0, nil); got != nil {
		t.Errorf("switched off: %v", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		msgs := sessiongen.Messages(40).Draw(t, "session")
		limit := rapid.IntRange(1, 60).Draw(t, "tokens")
		after := checkEdits(t, msgs, func(msgs []abi.Message) []abi.Edit {
			return strategies.ShortenRecent(whole(msgs), limit, []string{})
		})
		turn, pins := abi.CurrentTurn(msgs), abi.Pinned(msgs)
		for i := range msgs {
			if n := count.Message(&after[i]); msgs[i].Role == abi.RoleTool && n > max(limit, 10) && !turn[i] && !pins[i] {
				t.Fatalf("%s has %d tokens, %d allowed", msgs[i].ID, n, limit)
			}
		}
	})
}
