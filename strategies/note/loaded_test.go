package note_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestWhatSkillsForbid: of a skill that the agent loaded and of a message of the system that came in the middle the
// note says where it can be read again, and what it forbids, once, after any number of compactions.
func TestWhatSkillsForbid(t *testing.T) {
	features.Proves(t, "N13")
	meta := func(text string) abi.Message {
		return abi.Message{Role: abi.RoleUser, Kind: abi.KindMeta, Content: abi.Text(text)}
	}
	review := meta("Base directory for this skill: /home/a/.claude/skills/receiving-review\n\n# Reviews\n\n" +
		"Reviews are read.\n\n## Forbidden Responses\n\n**NEVER:**\n- \"Great point!\" (performative)\n\n**INSTEAD:**\n" +
		"- Just start working\n\nYou must not merge by yourself. Ask first.\n\n```\nnever mind this code\n```\n")
	collab := called("exec_command", map[string]any{"cmd": "sed -n '1,220p' /home/a/.codex/skills/collab/SKILL.md"},
		"Chunk ID: b8\nOutput:\n---\nname: collab\ndescription: Start a session.\n---\n\n# Collab\n\n"+
			"- Never skip fencing checks\n- Always write the snapshot first\n", false)
	late := abi.Message{ID: "m7", Role: abi.RoleSystem, Content: abi.Text("Plan mode is on. You must not edit files.")}
	first := abi.Message{ID: "m0", Role: abi.RoleSystem, Content: abi.Text("Never say who you are.")}
	const want = "## What skills, files of rules, documents that persons named and later messages of the system say\n" +
		"Lines left out may hold more rules.\n" +
		"- [2] skill receiving-review from /home/a/.claude/skills/receiving-review:\n" +
		"  - NEVER: \"Great point!\" (performative)\n" +
		"  - INSTEAD: Just start working\n" +
		"  - You must not merge by yourself.\n" +
		"  - [2 more of its lines of text are left out here]\n" +
		"- [2] skill collab from /home/a/.codex/skills/collab/SKILL.md:\n" +
		"  - description: Start a session.\n" +
		"  - Never skip fencing checks\n" +
		"  - Always write the snapshot first\n" +
		"- [2] message of the system, message m7:\n" +
		"  - You must not edit files.\n"
	text := render(session(first, "Answer the review.", review, said("Read."), "And together.", review, collab, late,
		said("Yes.")), note.Options{Budget: 20_000})
	if strings.Contains(text, "who you are") {
		t.Errorf("the first message of the system stays by itself:\n%s", text)
	}
	for round := range 3 {
		if got := text + "\n"; !strings.Contains(got, want) || strings.Count(got, "performative") != 1 {
			t.Errorf("round %d:\n%s", round, text)
		}
		text = render(session(summary(text)), note.Options{Budget: 20_000})
	}
	t.Run("a document that a person named, and none that the agent writes", func(t *testing.T) {
		const doc = "# Task\n\n## Overview\n\nThe lease table is slow.\n\n## Acceptance Criteria\n\n" +
			"- [ ] no lease is lost\n- [ ] a test shows it\n\nDo NOT block the table.\n"
		read := func(file string) []abi.Message {
			return called("Read", map[string]any{"file_path": "/srv/kw/docs/" + file}, doc, false)
		}
		text := render(session("Please implement @docs/TASK-LEASE.md, and tell of it in NOTES.md.", read("TASK-LEASE.md"),
			read("NOTES.md"), read("OTHER.md"), edit("/srv/kw/docs/NOTES.md", "ok", false), said("Yes.")), note.Options{})
		const want = "- [1] TASK-LEASE.md from /srv/kw/docs/TASK-LEASE.md:\n  - Do NOT block the table.\n"
		const criteria = "- [1] What has to hold by /srv/kw/docs/TASK-LEASE.md, as it was read (Acceptance Criteria):\n" +
			"- [1] [ ] no lease is lost\n- [1] [ ] a test shows it\n"
		for round := range 3 {
			if !strings.Contains(text, want) || !strings.Contains(text, criteria) || strings.Contains(text, " NOTES.md from ") ||
				strings.Contains(text, " OTHER.md from ") {
				t.Errorf("round %d:\n%s", round, text)
			}
			text = render(session(summary(text)), note.Options{})
		}
	})
	t.Run("no document that a person wants replaced, or looked at", func(t *testing.T) {
		const doc = "# Task\n\n## Acceptance Criteria\n\n- [ ] no lease is lost\n\nDo NOT block the table.\n"
		read := called("Read", map[string]any{"file_path": "/srv/kw/docs/TASK-LEASE.md"}, doc, false)
		for _, words := range []string{"Replace docs/TASK-LEASE.md.", "Is docs/TASK-LEASE.md still right?"} {
			text := render(session(words, read, said("Yes.")), note.Options{})
			if strings.Contains(text, "What skills") || strings.Contains(text, "block the table") {
				t.Errorf("%s:\n%s", words, text)
			}
		}
	})
	t.Run("of a note by an earlier version too", func(t *testing.T) {
		text := render(session("Answer the review.", review, said("Read."), "Go on.", said("Yes.")), note.Options{})
		const earlier = "## What skills, files of rules and later messages of the system say"
		heading, _, _ := strings.Cut(want, "\n")
		old := strings.Replace(text, heading, earlier, 1)
		if !strings.Contains(old, earlier) {
			t.Fatalf("no rules in\n%s", text)
		}
		if got := render(session(summary(old)), note.Options{}); got != render(session(summary(text)), note.Options{}) {
			t.Errorf("%s", got)
		}
	})
	t.Run("little room", func(t *testing.T) {
		text := render(session("Answer the review.", review, said("Read.")), note.Options{Budget: 140})
		if !strings.Contains(text, "- [1] skill receiving-review from ") || strings.Contains(text, "not merge") {
			t.Errorf("%s", text)
		}
	})
	t.Run("with what they hold for, and no headings", func(t *testing.T) {
		skill := meta("Base directory for this skill: /home/a/.claude/skills/powers\n\n" +
			"**In Claude Code:** Use the `Skill` tool. It shows the skill. Never use the Read tool on skill files.\n\n" +
			"**In other environments:** Read them.\n\n" +
			"Step B: show the transcript (do NOT show raw output to user):\n\n```bash\ngrep x\n```\n\nYou must not guess.\n")
		text := render(session("Look.", skill, said("Read.")), note.Options{})
		for _, want := range []string{"  - In Claude Code: [...] Never use the Read tool on skill files.\n",
			"  - You must not guess."} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, text)
			}
		}
		if strings.Contains(text, "raw output") {
			t.Errorf("a heading is told:\n%s", text)
		}
	})
	t.Run("no line that says nothing", func(t *testing.T) {
		about := abi.Message{ID: "m4", Role: abi.RoleSystem, Content: abi.Text("Skills of this plugin are prefixed.")}
		for _, budget := range []int{450, 500, 550, 600, 700, 1000} {
			text := render(session("Look.", about, said("Read.")), note.Options{Budget: budget})
			_, loaded, ok := strings.Cut(text, "message m4")
			loaded, _, _ = strings.Cut(loaded, "\n\n")
			if ok && !strings.Contains(loaded, "It begins: Skills of this plugin are prefixed.") ||
				strings.Contains(loaded, "more of its") {
				t.Errorf("budget %d:%s", budget, loaded)
			}
		}
	})
	t.Run("without how its command ended", func(t *testing.T) {
		text := render(session("Look.", called("exec_command", map[string]any{"cmd": "cat /h/.codex/skills/a/SKILL.md"},
			"Chunk ID: 1\nProcess exited with code 0\nOutput:\n---\nname: a\ndescription: Start a session.\n---\n"+
				"Never skip checks.\nexit code 1\n", false), said("Read.")), note.Options{})
		if !strings.Contains(text, "  - description: Start a session.\n  - Never skip checks.\n") ||
			strings.Contains(text, "exited with") {
			t.Errorf("%s", text)
		}
	})
	t.Run("no skill", func(t *testing.T) {
		text := render(session("Look.", run("cat /home/a/.notes/SKILL.md", "never read", false), said("Read."),
			run("cat plugins/mine/skills/search/SKILL.md", "---\nname: x\ndescription: y\n---\nNever dump it.", false)),
			note.Options{})
		if strings.Contains(text, "What skills") {
			t.Errorf("%s", text)
		}
	})
}
