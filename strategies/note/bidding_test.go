package note_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// skillOf is a skill as an agent loads it, in the folder of that agent.
func skillOf(agent, text string) abi.Message {
	return abi.Message{Role: abi.RoleUser, Kind: abi.KindMeta,
		Content: abi.Text("Base directory for this skill: /home/a/." + agent + "/skills/desk\n\n# Desk\n\n" + text)}
}

// TestOrdersThatBind: an order is a rule where it says what must not be done in its place, when it holds, or so in
// capitals; in a list of a project it is one by itself.
func TestOrdersThatBind(t *testing.T) {
	features.Proves(t, "N13")
	for _, tc := range []struct {
		text string
		want string // as it is told; empty: it is none
	}{
		{"Put the figures into the table, not in the letter.", "Put the figures into the table, not in the letter."},
		{"Use the list of the desk instead of your memory.", "Use the list of the desk instead of your memory."},
		{"When a guest writes in French, reply in French.", "When a guest writes in French, reply in French."},
		{"If the key is lost, or broken, then stop and say so.", "If the key is lost, or broken, then stop and say so."},
		{"If you are about to sign: Ask the head of the desk.", "If you are about to sign: Ask the head of the desk."},
		{"Check the seal BEFORE the letter goes out.", "Check the seal BEFORE the letter goes out."},
		{"Only proceed with a written yes.", "Only proceed with a written yes."},
		{"Nutze die Liste statt der Suche.", "Nutze die Liste statt der Suche."},
		{"Use the list (`desk list`), not the search. It is old.", "Use the list (`desk list`), not the search."},
		{"Open the drawer.", ""},
		{"Writing by hand is work, not play.", ""},
		{"When the desk was moved, nobody saw it.", ""},
		{"If you are new, the guide helps.", ""},
		{"Which one do you use instead of this?", ""},
	} {
		t.Run(tc.text, func(t *testing.T) {
			text := render(session("Look.", skillOf("claude", tc.text+"\n"), said("Read.")), note.Options{Budget: 20_000}) + "\n"
			if got := strings.Contains(text, "\n  - "+tc.want+"\n"); got != (tc.want != "") ||
				tc.want == "" && !strings.Contains(text, "  - [1 more of its lines of text is left out here]\n") {
				t.Errorf("%s", text)
			}
		})
	}
	t.Run("in a list of a project", func(t *testing.T) {
		text := render(session("Look.", run("cat AGENTS.md",
			"# Desk\n\nKeep in touch.\n\n- Keep all names short\n- Names are long\n", false), said("Read.")),
			note.Options{Budget: 20_000})
		if !strings.Contains(text, "AGENTS.md from AGENTS.md:\n  - Keep all names short\n"+
			"  - [2 more of its lines of text are left out here]\n") {
			t.Errorf("%s", text)
		}
	})
	t.Run("a rule above others", func(t *testing.T) {
		text := render(session("Look.", skillOf("claude",
			"- You must keep the slips\n  - Never throw one away\n  - By date\n"), said("Read.")),
			note.Options{Budget: 20_000}) + "\n"
		if !strings.Contains(text, ":\n  - You must keep the slips: Never throw one away; By date\n") {
			t.Errorf("%s", text)
		}
	})
	t.Run("a list of what is to be done instead", func(t *testing.T) {
		text := render(session("Look.", skillOf("claude", "**NEVER:**\n- Sign for others\n\n**INSTEAD:**\n- Call the head\n"+
			"- Leave a slip\n"), said("Read.")), note.Options{Budget: 20_000}) + "\n"
		if !strings.Contains(text, "  - NEVER: Sign for others\n  - INSTEAD: Call the head; Leave a slip\n") {
			t.Errorf("%s", text)
		}
	})
}

// TestRulesForOtherAgents: what a skill says holds for another agent than the one in whose folder it lies is no rule of
// the session, and what it says of all others is.
func TestRulesForOtherAgents(t *testing.T) {
	features.Proves(t, "N13")
	const body = "**In Claude Code:** Use the desk tool. Never open the drawer by hand.\n\n" +
		"**In other environments:** Look into the manual of the desk.\n"
	for agent, want := range map[string]string{
		"codex":  "  - In other environments: Look into the manual of the desk.\n",
		"claude": "  - In Claude Code: [...] Never open the drawer by hand.\n",
	} {
		t.Run(agent, func(t *testing.T) {
			text := render(session("Look.", skillOf(agent, body), said("Read.")), note.Options{Budget: 20_000}) + "\n"
			if !strings.Contains(text, want+"  - [1 more of its lines of text is left out here]\n") ||
				strings.Count(text, "drawer")+strings.Count(text, "manual") != 1 {
				t.Errorf("%s", text)
			}
		})
	}
}

// TestRulesThatCountFirst: where there is no room for all rules of what was loaded, those are told that the person
// enforced, those in capitals, and those that name a command that ran, wherever they stand.
func TestRulesThatCountFirst(t *testing.T) {
	features.Proves(t, "N13")
	var body strings.Builder
	for i := range 30 {
		fmt.Fprintf(&body, "You must keep drawer number %d of the desk in good order at all times and in all seasons.\n\n", i)
	}
	const (
		enforced = "You must hang the weekly figures on the board of the hall."
		absolute = "Lock the hall BEFORE the lamps go out."
		used     = "You must run `lamp trim` at noon."
	)
	body.WriteString(enforced + "\n\n" + absolute + "\n\n" + used + "\n")
	rejected := run("mail figures --weekly", "The user doesn't want to proceed with this tool use. "+
		"The tool use was rejected. To tell you how to proceed, the user said:\nfigures hang on the board", true)
	msgs := session("Keep the desk.", skillOf("claude", body.String()), run("lamp trim --all", "", false), rejected,
		said("I see."))
	text := render(msgs, note.Options{Budget: 9000})
	for _, want := range []string{enforced, absolute, used} {
		if !strings.Contains(text, "  - "+want+"\n") {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if !strings.Contains(text, " more of its rules are left out here]\n") {
		t.Errorf("all rules were told:\n%s", text)
	}
	t.Run("in order", func(t *testing.T) {
		text := render(msgs, note.Options{Budget: 60_000})
		last := 0
		for _, rule := range []string{"drawer number 0 ", enforced, absolute, used} {
			at := strings.Index(text, "  - You must keep "+rule)
			at = max(at, strings.Index(text, "  - "+rule))
			if at < last {
				t.Errorf("%q is told before what stands above it:\n%s", rule, text)
			}
			last = at
		}
	})
}

// TestToolsOfASkill: what the head of a skill's file says may be used is told with its rules.
func TestToolsOfASkill(t *testing.T) {
	features.Proves(t, "N13")
	const body = "---\nname: desk\ndescription: Keep the desk.\n"
	for _, tc := range []struct{ head, want string }{
		{"allowed-tools:\n  - \"Read(notes/**)\"\n  - Bash(git log)\nmodel: small\n", "Read(notes/**); Bash(git log)"},
		{"allowed-tools: Read, Grep\nmodel: small\n", "Read, Grep"},
		{"model: small\n", ""},
	} {
		read := run("cat /home/a/.codex/skills/desk/SKILL.md", body+tc.head+"---\n\n# Desk\n\nYou must not sign.\n", false)
		text := render(session("Look.", read, said("Read.")), note.Options{Budget: 20_000})
		want := ":\n  - description: Keep the desk.\n  - You must not sign.\n"
		if tc.want != "" {
			want += "  - allowed-tools: " + tc.want + "\n"
		}
		if !strings.Contains(text, want) || strings.Contains(text, "small") {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
