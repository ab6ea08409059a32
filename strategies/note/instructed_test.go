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
		{"steps of how something is done, and what holds on an occasion", "## Releasing\n\n1. **Bump** the version\n" +
			"2. Always tag it, and push\n\n## Issues\n\nWhen closing issues:\n- Always include `fixes #1` in the message\n",
			[]string{"Releasing: Always tag it, and push", "When closing issues: Always include `fixes #1` in the message"},
			[]string{"- Always"}},
		{"a numbered rule with the sentence before it", "## Code style\n\n1. The folder gen/ is generated. Never edit it.\n",
			[]string{"The folder gen/ is generated. Never edit it."}, nil},
		{"what is so, and what need not be", "You don't fully understand the issue.\n" +
			"The built-in fonts do not include these glyphs.\n" +
			"It may not contain real content.\nYou never saw it catch the bug.\nYou don't have to use it.\n" +
			"Being specific is always better than being clever.\n\n✅ Good: `You MUST understand it`\n" +
			"- No record of what was tested\nThe root never prints errors.\n",
			[]string{"[9 more of its lines of text are left out here]"},
			[]string{"  - You", "  - The", "  - It", "  - Being", "No record", "root"}},
		{"what a label says is a rule", "**Core principle:** Verify before implementing. Ask before assuming." +
			"\n\n**Note on parts:** A wheel turns.\n",
			[]string{"Core principle: Verify before implementing. Ask before assuming."}, []string{"wheel"}},
		{"the line below a heading of one rule", "## Key Principle\n\n**Search before you write.** It takes minutes." +
			"\n\nAnother line.\n",
			[]string{"Key Principle: Search before you write."}, []string{"Another"}},
		{"blocks that say when", "## Unclear\n\n```\nIF any item is unclear:\n  STOP - do not implement anything yet\n" +
			"  ASK for clarification\n\nWHY: Items may be related.\n\nIF it is wrong:\n  Push back\n```\n\n" +
			"```\nIF x = 1 THEN\n  y := 2\nFOR i IN rows\n  drop(i)\n```\n",
			[]string{"IF any item is unclear: STOP - do not implement anything yet; ASK for clarification",
				"IF it is wrong: Push back"}, []string{"WHY", "y := 2", "drop"}},
		{"entries that stand out", "## Forms\n\n- **No performative agreement**\n- Use a form\n",
			[]string{"Forms: No performative agreement"}, []string{"Use a form"}},
	} {
		t.Run(tc.why, func(t *testing.T) {
			skill := abi.Message{Role: abi.RoleUser, Kind: abi.KindMeta,
				Content: abi.Text("Base directory for this skill: /home/a/.claude/skills/tdd\n\n# Title\n\n" + tc.text)}
			text := render(session("Look.", skill, said("Read.")), note.Options{Budget: 20_000})
			for round := range 3 {
				_, loaded, _ := strings.Cut(text, note.HeadLoaded+"\n")
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
	part := fmt.Sprintf(" (read of it: lines 1-%d alone; what else stands in it is not known):\n", lines)
	for _, tc := range []struct{ cmd, want string }{
		{fmt.Sprintf("sed -n '1,%dp' %s", lines, file), part},
		{fmt.Sprintf("head -n %d %s", lines, file), part},
		{fmt.Sprintf("sed -n '1,%dp' %s", lines+1, file), ":\n"},
		{"cat " + file, ":\n"},
	} {
		t.Run(tc.cmd, func(t *testing.T) {
			read := called("exec_command", map[string]any{"cmd": tc.cmd}, "Chunk ID: b8\nOutput:\n"+body.String(), false)
			text := render(session("Go.", read, said("Yes.")), note.Options{Budget: 20_000})
			for round := range 3 {
				if !strings.Contains(text, "- [1] skill collab from "+file+tc.want+
					"  - description: Start or join a session.\n  - Never hand over lease number 0 of the table.\n") ||
					!strings.Contains(text, "  - [10 more of its rules are left out here]\n") {
					t.Errorf("round %d: no %q in\n%s", round, tc.want, text)
				}
				text = render(session(summary(text)), note.Options{Budget: 20_000})
			}
		})
	}
}

// TestRulesOfAProjectThatWereRead: of a file in which a project says how to work on it, and that the agent read, the
// note tells the rules word for word, how many lines are left out, and whether the file was changed since.
func TestRulesOfAProjectThatWereRead(t *testing.T) {
	features.Proves(t, "N13")
	const rules = "# Development Rules\n\n## Commands\n- After code changes: `npm run check`\n" +
		"- NEVER commit unless user asks\n- packages/ai/README.md\n\n## Style\n- No emojis in commits\n" +
		"- New entries ALWAYS go under `## [Unreleased]`\n" +
		"- No file is needed\n"
	numbered := ""
	for i, line := range strings.Split(strings.TrimSuffix(rules, "\n"), "\n") {
		numbered += fmt.Sprintf("%6d→%s\n", i+1, line)
	}
	upTo := func(lines int) string { return strings.Join(strings.SplitAfter(rules, "\n")[:lines], "") }
	changed := strings.Replace(upTo(4), "npm run", "make", 1)
	read := func(args map[string]any, output string) []abi.Message { return called("Read", args, output, false) }
	const told = "  - After code changes: `npm run check`\n  - NEVER commit unless user asks\n  - No emojis in commits\n" +
		"  - New entries ALWAYS go under `## [Unreleased]`\n  - [2 more of its lines of text are left out here]\n"
	for _, tc := range []struct {
		why  string
		msgs []abi.Message
		want string
	}{
		{"by a tool", read(map[string]any{"path": "/w/AGENTS.md"}, rules), "- [1] AGENTS.md from /w/AGENTS.md:\n" + told},
		{"with numbers", read(map[string]any{"file_path": "/w/CLAUDE.md"}, numbered+"\n<system-reminder>\nNever lie.\n"),
			"- [1] CLAUDE.md from /w/CLAUDE.md:\n" + told},
		{"by a command", run("cd /w && cat AGENTS.md", rules, false), "- [1] AGENTS.md from /w/AGENTS.md:\n" + told},
		{"and changed", session(read(map[string]any{"path": "/w/AGENTS.md"}, rules), edit("/w/AGENTS.md", "done", false)),
			"- [1] AGENTS.md from /w/AGENTS.md (changed after it was read):\n" + told},
		{"in pieces", session(run("sed -n '1,4p' AGENTS.md", rules[:strings.Index(rules, "- NEVER")], false),
			run("sed -n '5,40p' AGENTS.md", rules[strings.Index(rules, "- NEVER"):], false)),
			"- [1] AGENTS.md from AGENTS.md:\n" + told},
		{"the first piece", run("sed -n '1,4p' AGENTS.md", rules[:strings.Index(rules, "- NEVER")], false),
			"- [1] AGENTS.md from AGENTS.md (read of it: lines 1-4 alone; what else stands in it is not known):\n" +
				"  - After code changes: `npm run check`\n"},
		{"whole, and a part again", session(run("cat AGENTS.md", rules, false),
			run("sed -n '1,4p' AGENTS.md", upTo(4), false)), "- [1] AGENTS.md from AGENTS.md:\n" + told},
		{"in pieces that overlap", session(run("head -n 8 AGENTS.md", upTo(8), false),
			run("sed -n '5,6p' AGENTS.md", rules[len(upTo(4)):len(upTo(6))], false),
			run("sed -n '4,40p' AGENTS.md", rules[len(upTo(3)):], false)), "- [1] AGENTS.md from AGENTS.md:\n" + told},
		{"the end first", session(run("sed -n '5,40p' AGENTS.md", rules[len(upTo(4)):], false),
			run("sed -n '1,6p' AGENTS.md", upTo(6), false)), "- [1] AGENTS.md from AGENTS.md:\n" + told},
		{"in pieces that do not touch", session(run("sed -n '1,4p' AGENTS.md", upTo(4), false),
			run("sed -n '9,9p' AGENTS.md", rules[len(upTo(8)):len(upTo(9))], false)),
			"- [1] AGENTS.md from AGENTS.md (read of it: lines 1-4, 9-9 alone; what else stands in it is not known):\n" +
				"  - After code changes: `npm run check`\n  - No emojis in commits\n"},
		{"changed between two pieces", session(run("cd /w && head -n 4 AGENTS.md", upTo(4), false),
			edit("/w/AGENTS.md", "done", false), run("cd /w && sed -n '5,40p' AGENTS.md", rules[len(upTo(4)):], false)),
			"- [1] AGENTS.md from /w/AGENTS.md (changed after it was read):\n" + told},
		{"changed, and its beginning read again", session(run("cd /w && cat AGENTS.md", rules, false),
			edit("/w/AGENTS.md", "done", false), run("cd /w && sed -n '1,4p' AGENTS.md", changed, false)),
			"- [1] AGENTS.md from /w/AGENTS.md (read of it: lines 1-4 alone; what else stands in it is not known):\n" +
				"  - After code changes: `make check`\n"},
		{"changed, and a piece read again", session(
			run("cd /w && sed -n '3,4p' AGENTS.md", rules[len(upTo(2)):len(upTo(4))], false),
			edit("/w/AGENTS.md", "done", false), run("cd /w && sed -n '3,4p' AGENTS.md", changed[len(upTo(2)):], false)),
			"- [1] AGENTS.md from /w/AGENTS.md (read of it: lines 3-4 alone; what else stands in it is not known):\n" +
				"  - After code changes: `make check`\n"},
		{"changed, and a piece of its middle read again", session(run("cd /w && cat AGENTS.md", rules, false),
			edit("/w/AGENTS.md", "done", false), run("cd /w && sed -n '8,9p' AGENTS.md", "## Style\n- No emojis\n", false)),
			"- [1] AGENTS.md from /w/AGENTS.md (changed after it was read):\n" + told},
		{"of two packages", session(run("cd /w/a && cat AGENTS.md", "- NEVER push\n", false),
			run("cd /w/b && cat AGENTS.md", "- No emojis in names\n", false)),
			"- [1] AGENTS.md from /w/a/AGENTS.md:\n  - NEVER push\n" +
				"- [1] AGENTS.md from /w/b/AGENTS.md:\n  - No emojis in names\n"},
		{"not at all", run("cat AGENTS.md", "cat: AGENTS.md: No such file or directory", true), ""},
		{"in a search", run("grep -n never AGENTS.md", "5:- NEVER commit unless user asks", false), ""},
		{"written", run("cat > AGENTS.md <<'EOF'\n- NEVER commit\nEOF", "", false), ""},
		{"another file", run("cat README.md", rules, false), ""},
		{"two files at once", run("cat README.md AGENTS.md", rules, false), ""},
		{"one line of it", run("sed -n '5p' AGENTS.md", "- NEVER commit unless user asks", false), ""},
		{"its first bytes", run("head -c 40 AGENTS.md", rules[:40], false), ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			text := render(session("Go.", tc.msgs, said("Yes.")), note.Options{Budget: 20_000})
			for round := range 3 {
				_, loaded, ok := strings.Cut(text, note.HeadLoaded+"\n")
				loaded, _, _ = strings.Cut(loaded, "\n\n")
				loaded = strings.TrimPrefix(loaded, "Lines left out may hold more rules.\n")
				if ok != (tc.want != "") || ok && loaded+"\n" != tc.want {
					t.Errorf("round %d:\n%s\nwant\n%s", round, loaded, tc.want)
				}
				text = render(session(summary(text)), note.Options{Budget: 20_000})
			}
		})
	}
}

// TestWhatASkillDoesAsAsked: of a skill that does several things the note tells the entry that says what the person
// asked for.
func TestWhatASkillDoesAsAsked(t *testing.T) {
	features.Proves(t, "N13")
	const table = "| Input | Action |\n|---|---|\n| `/collab start <doc-path>` | Go to **Start Flow** |\n" +
		"| `/collab check` | Go to **Check Flow** |\n| `/collab clean [id]` | Go to **Clean Flow** |\n" +
		"| `/collab` (no subcommand) | Show commands |\n"
	const sentence = "The first word is the subcommand. With no arguments, list the open reviews.\n"
	for _, tc := range []struct{ said, body, want string }{
		{"$entire collab", table, "`/collab` (no subcommand), Show commands"},
		{"/entire:collab", table, "`/collab` (no subcommand), Show commands"},
		{"/collab start a.md", table, "`/collab start <doc-path>`, Go to Start Flow"},
		{"/collab check", table, "`/collab check`, Go to Check Flow"},
		{"/collab clean", table, "`/collab clean [id]`, Go to Clean Flow"},
		{"/collab dance", table, ""},
		{"let's collab", table, ""},
		{"/collab", sentence, "With no arguments, list the open reviews."},
		{"/collab now", sentence, ""},
	} {
		t.Run(tc.said, func(t *testing.T) {
			skill := abi.Message{Role: abi.RoleUser, Kind: abi.KindMeta,
				Content: abi.Text("Base directory for this skill: /home/a/.claude/skills/collab\n\n# Collab\n\n" + tc.body)}
			text := render(session(tc.said, skill, said("Yes.")), note.Options{Budget: 20_000})
			for round := range 3 {
				_, asked, ok := strings.Cut(text, "  - What was asked for: ")
				asked, _, _ = strings.Cut(asked, "\n")
				if asked != tc.want || ok != (tc.want != "") {
					t.Errorf("round %d: %q, want %q", round, asked, tc.want)
				}
				text = render(session(summary(text)), note.Options{Budget: 20_000})
			}
		})
	}
	t.Run("a command of a project", func(t *testing.T) {
		pr := abi.Message{ID: "m9", Role: abi.RoleUser, Kind: abi.KindMeta,
			Content: abi.Text("Write a title and a text for the changes.\n\nNever push.\n")}
		text := render(session("<command-message>pr</command-message>\n<command-name>/pr</command-name>", pr, said("Done.")),
			note.Options{Budget: 20_000})
		const want = "command /pr, message m9:\n  - It begins: Write a title and a text for the changes. Never push.\n" +
			"  - Never push.\n"
		if !strings.Contains(text, want) {
			t.Errorf("%s", text)
		}
	})
}

// TestEmptyFileHasNoLines: of a file of rules that is empty it is not said that lines are left out: what a harness says
// around its output is none of it.
func TestEmptyFileHasNoLines(t *testing.T) {
	features.Proves(t, "N13")
	const empty = "Command: sed -n 1,260p AGENTS.md\nChunk ID: c1\nWall time: 0.0 seconds\n" +
		"Process exited with code 0\nOutput:\n"
	read := called("exec_command", map[string]any{"cmd": "sed -n 1,260p AGENTS.md"}, empty, false)
	got := render(session("Write the rules.", read, said("It is empty.")), note.Options{})
	if strings.Contains(got, "lines of text") {
		t.Errorf("%s", got)
	}
}
