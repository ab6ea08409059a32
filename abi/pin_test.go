package abi_test

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

func TestPinned(t *testing.T) {
	features.Proves(t, "K10")
	keep := func(msgs []abi.Message, raw string, at ...int) []abi.Message {
		for _, i := range at {
			msgs[i].Meta = abi.Meta{abi.MetaAlwaysKeep: json.RawMessage(raw)}
		}
		return msgs
	}
	blank := func(msgs []abi.Message, at int) []abi.Message {
		msgs[at].Content = abi.Text(" \n")
		return msgs
	}
	isAssistant := func(m *abi.Message) bool { return m.Role == abi.RoleAssistant }
	isLast := func(m *abi.Message) bool { return m.ID == "m3" }
	for name, c := range map[string]struct {
		why   string
		msgs  []abi.Message
		preds []func(*abi.Message) bool
		want  []int
	}{
		"empty": {"nothing to pin", nil, nil, nil},
		"head": {"system messages and the first message of a person",
			script("sys", "sys", "user", "say", "user"), nil, []int{0, 1, 2}},
		"meta first": {"logs begin with entries that no person typed", script("meta", "sys", "meta", "user", "user"),
			nil, []int{1, 3}},
		"no system": {"the first message of a person is enough", script("say", "user", "say"), nil, []int{1}},
		"late system": {"where none leads, the first is the system prompt, and others are ordinary",
			script("user", "sys", "say", "sys", "user"), nil, []int{0, 1}},
		"system in the middle": {"wherever it stands",
			script("say", "user", "say", "user", "sys", "sys"), nil, []int{1, 4, 5}},
		"two behind the task": {"a system prompt of two messages is kept whole, as it is before a person's words",
			script("user", "sys", "sys", "say", "sys"), nil, []int{0, 1, 2}},
		"a gap in the prompt": {"what says nothing ends it", blank(script("user", "sys", "sys", "sys"), 2), nil,
			[]int{0, 1}},
		"reminders of the system": {"where one leads, a system message after the first person's is ordinary",
			script("sys", "user", "sys"), nil, []int{0, 1}},
		"no system prompt": {"a system message that says nothing is none", blank(script("user", "sys", "sys"), 1), nil,
			[]int{0, 2}},
		"nothing first": {"a message that says nothing is no task", blank(script("sys", "user", "say", "user"), 1), nil,
			[]int{0, 3}},
		"blanks alone": {"some message has to be the task", blank(script("user", "say"), 0), nil, []int{0}},
		"no person":    {"then every system message is head", script("sys", "meta", "say", "sys"), nil, []int{0, 3}},
		"marked": {"a mark pins anywhere", keep(script("user", "say", "user", "say"), "true", 1, 3), nil,
			[]int{0, 1, 3}},
		"marked, spaced": {"white space around true is no difference",
			keep(script("user", "say"), " true\n", 1), nil, []int{0, 1}},
		"marked with a text": {"only the literal true is a mark", keep(script("user", "say"), `"true"`, 1), nil, []int{0}},
		"marked false":       {"false is none", keep(script("user", "say"), "false", 1), nil, []int{0}},
		"predicates": {"operators add to the pins, each of their predicates", script("user", "say", "meta", "meta"),
			[]func(*abi.Message) bool{isAssistant, isLast}, []int{0, 1, 3}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := indices(abi.Pinned(c.msgs, c.preds...)); !slices.Equal(got, c.want) {
				t.Errorf("pinned %v, want %v: %s", got, c.want, c.why)
			}
		})
	}
}

func TestCurrentTurn(t *testing.T) {
	features.Proves(t, "K10")
	for name, c := range map[string]struct {
		why  string
		msgs []abi.Message
		want []int
	}{
		"empty": {"no messages", nil, nil},
		"one":   {"a person's message that is also the last unit", script("user"), []int{0}},
		"plain": {"last person's message and last unit", script("user", "say", "user", "say"), []int{2, 3}},
		"long turn": {"earlier units of a long turn are candidates",
			script("user", "call:a", "res:a", "call:b", "res:b"), []int{0, 3, 4}},
		"whole unit": {"the unit of the last message begins earlier",
			script("user", "call:a,b", "say", "res:a", "res:b"), []int{0, 1, 3, 4}},
		"open calls":    {"the model waits for results", script("user", "say", "call:a"), []int{0, 2}},
		"kind is later": {"what a harness wrote is no turn of a person", script("user", "say", "meta"), []int{0, 2}},
		"no person":     {"then the last unit alone", script("sys", "say"), []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := indices(abi.CurrentTurn(c.msgs)); !slices.Equal(got, c.want) {
				t.Errorf("turn %v, want %v: %s", got, c.want, c.why)
			}
		})
	}
}

func TestPrefixEnd(t *testing.T) {
	features.Proves(t, "I1")
	for name, c := range map[string]struct {
		why  string
		msgs []abi.Message
		want int
	}{
		"empty":       {"the only place there is", nil, 0},
		"head":        {"after the first message of a person", script("sys", "user", "say", "user"), 2},
		"meta first":  {"what stands before it stays before it", script("sys", "meta", "user", "say"), 3},
		"no person":   {"after the leading system messages", script("sys", "sys", "say", "sys"), 2},
		"late system": {"after the system prompt that stands behind it", script("user", "sys", "sys", "say"), 3},
		"reminder":    {"before a later message of the system", script("sys", "user", "sys", "say"), 2},
		"far system":  {"not behind what stays before the system prompt", script("user", "say", "sys", "say"), 1},
		"nothing":     {"no system and no person: at the front", script("say", "say"), 0},
		"unit across": {"never between a call and its result", script("call:a", "user", "res:a", "say"), 3},
		"units across": {"a chain of overlapping units is passed whole",
			script("call:a", "user", "call:b", "res:a", "res:b", "say"), 5},
	} {
		t.Run(name, func(t *testing.T) {
			if got := abi.PrefixEnd(c.msgs); got != c.want {
				t.Errorf("prefix ends at %d, want %d: %s", got, c.want, c.why)
			}
		})
	}
}

// checkPrefix holds PrefixEnd to its definition: a place inside no unit, and the first such one behind the message that
// says what the task is and a system prompt behind that.
func checkPrefix(t interface{ Fatalf(string, ...any) }, msgs []abi.Message) {
	units, _ := abi.Units(msgs)
	inside := make([]bool, len(msgs)+1)
	for _, u := range units {
		for i := u[0] + 1; i <= u[len(u)-1]; i++ {
			inside[i] = true
		}
	}
	end := abi.PrefixEnd(msgs)
	if inside[end] {
		t.Fatalf("prefix ends at %d, inside a unit", end)
	}
	task := slices.Index(abi.Persons(msgs), true)
	if task < 0 || slices.ContainsFunc(msgs, func(m abi.Message) bool { return m.Kind == abi.KindSummary }) {
		return // a summary may be one that only its provider can read
	}
	for i := task + 1; i < end; i++ {
		if !inside[i] && msgs[i].Role != abi.RoleSystem {
			t.Fatalf("prefix ends at %d, though a note can stand at %d, behind the task at %d", end, i, task)
		}
	}
}

func TestPrefixEndsInsideNoUnit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkPrefix(t, drawMessages(t)) })
}

// TestRemindersOfInstructions: the reminder in which Claude Code sends a project's CLAUDE.md is pinned where it is a
// message of its own; other reminders are not, and one beside a person's words leaves these a person's.
func TestRemindersOfInstructions(t *testing.T) {
	features.Proves(t, "K10")
	const rules = "<system-reminder>\nAs you answer the user's questions, you can use the following context:\n" +
		"# claudeMd\nNever push to main.\n</system-reminder>"
	user := func(text string) abi.Message { return abi.Message{Role: abi.RoleUser, Content: abi.Text(text)} }
	msgs := []abi.Message{user(rules), user("<system-reminder>Be brief.</system-reminder>"), user("Move the lease."),
		user("And now the lock.")}
	if got := indices(abi.Pinned(msgs)); !slices.Equal(got, []int{0, 2}) {
		t.Errorf("pinned %v", got)
	}
	beside := user(rules + "\nMove the lease.")
	if beside.IsInstructions() || beside.Words() != "Move the lease." {
		t.Errorf("beside words: %v, %q", beside.IsInstructions(), beside.Words())
	}
}

// TestFormsOfInstructions: the forms in which harnesses place the instructions of a project, wherever they stand, are
// kept, and are no task; beside words of a person an element that shows them is none of them.
func TestFormsOfInstructions(t *testing.T) {
	features.Proves(t, "K10")
	const (
		caveat = "<local-command-caveat>Caveat: x</local-command-caveat>\n\n"
		plain  = "Caveat: The messages below were generated by the user while running local commands, unless the user " +
			"explicitly asks you to.\n\n"
		clear  = "<command-name>/clear</command-name>\n<command-args></command-args>\n"
		env    = "<environment_context>\n<cwd>/srv/kw</cwd>\n</environment_context>\n\n"
		agents = "# AGENTS.md instructions for /srv/kw\n\n<INSTRUCTIONS>\nNever push to main.\n</INSTRUCTIONS>"
		claude = "<system-reminder>\nUse this:\n# claudeMd\nNever push to main.\n</system-reminder>"
		nested = "<system-reminder>\nContents of /srv/kw/sub/CLAUDE.md:\n\nNever push to main.\n</system-reminder>"
		gemini = "--- Context from: sub/GEMINI.md ---\nNever push to main.\n--- End of Context from: sub/GEMINI.md ---"
		from   = "Instructions from: /srv/kw/AGENTS.md\nNever push to main."
		task   = "Move the lease."
	)
	message := func(role abi.Role, text string) abi.Message {
		return abi.Message{Role: role, Content: abi.Text(text)}
	}
	said, next := message(abi.RoleUser, task), message(abi.RoleUser, "And the lock.")
	forms := []string{agents, claude, nested, gemini, from, caveat + claude, env + agents, plain + agents, clear + agents,
		env + gemini, "<system-reminder>x</system-reminder>\n" + nested, "\n" + agents,
		"<system-reminder>\nContents of C:\\kw\\AGENTS.md (project instructions):\n\nx\n</system-reminder>",
		"<system-reminder>\n" + from + "\n</system-reminder>", "<session_context>\nx\n" + gemini + "\n</session_context>"}
	for _, text := range forms {
		for _, role := range []abi.Role{abi.RoleUser, abi.RoleSystem} {
			m := message(role, text)
			if got := indices(abi.Pinned([]abi.Message{said, next, m})); !slices.Equal(got, []int{0, 2}) || !m.AlwaysKept() {
				t.Errorf("behind the task, as %s, pinned %v: %s", role, got, text)
			}
			if got := indices(abi.Pinned([]abi.Message{m, said, next})); !slices.Equal(got, []int{0, 1}) {
				t.Errorf("before the task, as %s, pinned %v: %s", role, got, text)
			}
		}
		m := message(abi.RoleAssistant, text)
		if m.IsInstructions() {
			t.Errorf("the agent's own: %s", text)
		}
	}
	for _, text := range []string{claude + "\n" + task, nested + "\n" + task, caveat + nested + task,
		"<system-reminder>\nNote: a.md was modified:\n     1\tContents of /srv/kw/CLAUDE.md:\n     2\tx\n</system-reminder>",
		"<system-reminder>\nContents of /srv/kw/README.md:\n\nx\n</system-reminder>",
		"<bash-stdout>" + claude + "</bash-stdout>", "<bash-stdout>" + agents + "</bash-stdout>", "", " ", task} {
		m := message(abi.RoleUser, text)
		if m.IsInstructions() {
			t.Errorf("no instructions: %s", text)
		}
	}
}
