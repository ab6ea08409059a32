package note_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestWhatSkillsDemand: of a skill the note tells its rules as they are worded there: laws in blocks, lists of rules
// under their heading, and sentences, each with what it says nothing without.
func TestWhatSkillsDemand(t *testing.T) {
	features.Proves(t, "N13")
	for _, tc := range []struct {
		why, text string
		want      []string
		none      []string
	}{
		{"a law in a block of code", "## The Iron Law\n\n```\nNO PRODUCTION CODE WITHOUT A FAILING TEST FIRST\n```\n\n" +
			"Write code before the test? Delete it.\n\n```bash\nnpm test\n```\n",
			[]string{"The Iron Law: NO PRODUCTION CODE WITHOUT A FAILING TEST FIRST"}, []string{"Law: npm"}},
		{"a law of two lines", "## Final Rule\n\n```\nProduction code → test exists and failed first\n" +
			"Otherwise → not TDD\n```\n",
			[]string{"Final Rule: Production code → test exists and failed first; Otherwise → not TDD"}, nil},
		{"code under a heading of rules", "## Rules\n\n```go\nx := 1\n```\n", nil, []string{"x := 1"}},
		{"a short list of rules", "## STOP — Critical Protocol Rules\n\n" +
			"- Never skip fencing checks (version verification on CLAIM and HANDOFF)\n" +
			"- Always write the snapshot BEFORE updating state.json\n" +
			"- History is monotonic\n\n## Next\n\n- Look around\n",
			[]string{"STOP — Critical Protocol Rules: Never skip fencing checks (version verification on CLAIM and HANDOFF); " +
				"Always write the snapshot BEFORE updating state.json; History is monotonic"}, []string{"Look around"}},
		{"a list that says when", "## When To Apply\n\n**ALWAYS before:**\n- ANY expression of satisfaction\n" +
			"- Delegating to agents\n",
			[]string{"ALWAYS before: ANY expression of satisfaction; Delegating to agents"}, nil},
		{"one word above a list", "## When to Use\n\n**Always:**\n- New features\n- Bug fixes\n\n" +
			"**Exceptions (ask your human partner):**\n- Generated code\n",
			[]string{"When to Use: Always: New features; Bug fixes"}, []string{"Generated"}},
		{"what a person must be", "If you think there is even a 1% chance a skill might apply to what you are doing, you " +
			"ABSOLUTELY MUST invoke the skill.\n\nIF A SKILL APPLIES TO YOUR TASK, YOU DO NOT HAVE A CHOICE. YOU MUST USE IT.\n",
			[]string{"If you think there is even a 1% chance a skill might apply to what you are doing, you ABSOLUTELY MUST " +
				"invoke the skill.", "IF A SKILL APPLIES TO YOUR TASK, YOU DO NOT HAVE A CHOICE. YOU MUST USE IT."}, nil},
		{"with its condition", "**Fallback:** Find the newest file. Always exclude sessions of your own agent.\n",
			[]string{"Fallback: [...] Always exclude sessions of your own agent."}, []string{"newest"}},
		{"two words and their heading", "### Verify RED - Watch It Fail\n\n**MANDATORY. Never skip.**\n",
			[]string{"Verify RED - Watch It Fail: MANDATORY. Never skip."},
			[]string{"- Verify RED - Watch It Fail: MANDATORY.\n"}},
		{"wrapped at a width", "Do not paste accumulated prior-task summaries into later dispatches, and never\n" +
			"hand over the history of the session as it was.\n",
			[]string{"Do not paste accumulated prior-task summaries into later dispatches, and never hand over the history of " +
				"the session as it was."}, nil},
		{"what is so, and what need not be", "You don't fully understand the issue.\n" +
			"The built-in fonts do not include these glyphs.\n" +
			"It may not contain real content.\nYou never saw it catch the bug.\nYou don't have to use it.\n" +
			"Being specific is always better than being clever.\n\n✅ Good: `You MUST understand it`\n",
			nil, []string{"  - "}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			skill := abi.Message{Role: abi.RoleUser, Kind: abi.KindMeta,
				Content: abi.Text("Base directory for this skill: /home/a/.claude/skills/tdd\n\n# Title\n\n" + tc.text)}
			text := render(session("Look.", skill, said("Read.")), note.Options{Budget: 20_000})
			for round := range 3 {
				_, loaded, _ := strings.Cut(text, "## What skills and later messages of the system say\n")
				loaded, _, _ = strings.Cut(loaded+"\n", "\n\n")
				for _, want := range tc.want {
					if strings.Count(loaded+"\n", "  - "+want+"\n") != 1 {
						t.Errorf("round %d: no %q in\n%s", round, want, loaded)
					}
				}
				for _, none := range tc.none {
					if strings.Contains(loaded+"\n", none) {
						t.Errorf("round %d: %q in\n%s", round, none, loaded)
					}
				}
				text = render(session(summary(text)), note.Options{Budget: 20_000})
			}
		})
	}
}

// TestWhatOfASkillWasRead: where an agent read a part of a skill's file the note says which, and it says how many of
// its rules there is no room for.
func TestWhatOfASkillWasRead(t *testing.T) {
	features.Proves(t, "N13")
	const file = "/home/a/.codex/skills/collab/SKILL.md"
	var body strings.Builder
	body.WriteString("---\nname: collab\ndescription: Start or join a session. Use when asked to.\n---\n")
	for i := range 30 {
		fmt.Fprintf(&body, "\nNever hand over lease number %d of the table.\n", i)
	}
	lines := strings.Count(body.String(), "\n")
	for _, tc := range []struct{ cmd, want string }{
		{fmt.Sprintf("sed -n '1,%dp' %s", lines, file), fmt.Sprintf(" (read of it: lines 1-%d):\n", lines)},
		{fmt.Sprintf("head -n %d %s", lines, file), fmt.Sprintf(" (read of it: lines 1-%d):\n", lines)},
		{fmt.Sprintf("sed -n '1,%dp' %s", lines+1, file), ":\n"},
		{"cat " + file, ":\n"},
	} {
		t.Run(tc.cmd, func(t *testing.T) {
			read := called("exec_command", map[string]any{"cmd": tc.cmd}, "Chunk ID: b8\nOutput:\n"+body.String(), false)
			text := render(session("Go.", read, said("Yes.")), note.Options{Budget: 20_000})
			for round := range 3 {
				if !strings.Contains(text, "- [1] skill collab from "+file+tc.want+
					"  - description: Start or join a session.\n  - Never hand over lease number 0 of the table.\n") ||
					!strings.Contains(text, "  - [18 more of its rules are left out here]\n") {
					t.Errorf("round %d: no %q in\n%s", round, tc.want, text)
				}
				text = render(session(summary(text)), note.Options{Budget: 20_000})
			}
		})
	}
}
