package abi_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

// TestOrigins: harnesses write much in the role of the user. What they write is told
// from the words of a person, and from each other.
func TestOrigins(t *testing.T) {
	features.Proves(t, "complaint 15", "N13")
	names := map[abi.Origin]string{abi.FromPerson: "person", abi.FromInterruption: "interruption",
		abi.FromCommand: "command",
		abi.FromExample: "example", abi.FromHarness: "harness", abi.FromElsewhere: "elsewhere"}
	const example = "Here's a running example of how to perform a task with the provided tools.\n\n" +
		"--------------------- START OF EXAMPLE ---------------------\n\nUSER: Write app.py.\n\n" +
		"--------------------- END OF EXAMPLE ---------------------\n\n"
	for _, tc := range []struct{ why, text, want, words string }{
		{"words", "Mend the lease.", "person", "Mend the lease."},
		{"an image", " ", "person", ""},
		{"words with a comparison", "Is 3 <4?", "person", "Is 3 <4?"},
		{"a reminder", "<system-reminder>Be brief.</system-reminder>", "harness", ""},
		{"a reminder behind words", "Mend it.\n<system-reminder>Be brief.</system-reminder>", "person", "Mend it."},
		{"an indented reminder behind words", "Mend it.\n  <system-reminder>\nBe brief.\n  </system-reminder>",
			"person", "Mend it."},
		{"a reminder behind another", "Mend it.\n<system-reminder>a</system-reminder> " +
			"<system-reminder>b</system-reminder>", "person", "Mend it."},
		{"a reminder that holds one", "<system-reminder>\na <system-reminder>b</system-reminder> c\n</system-reminder>",
			"harness", ""},
		{"a reminder that ends with one", "<system-reminder>a\n<system-reminder>b</system-reminder></system-reminder>",
			"harness", ""},
		{"a reminder that shows a file with one", "<system-reminder>\nNote: a.md was modified:\n     1\tUse " +
			"<system-reminder>be terse</system-reminder> in prompts\n</system-reminder>\nMend it.", "person", "Mend it."},
		{"a reminder that quotes an end", "<system-reminder>\nIt ends with </system-reminder> always.\n</system-reminder>",
			"harness", ""},
		{"a reminder that quotes a beginning", "<system-reminder>\nIt begins with <system-reminder> always.\n" +
			"</system-reminder>\nMend it.", "person", "Mend it."},
		{"a reminder before words that quote an end", "<system-reminder>a</system-reminder>\nStrip </system-reminder> from " +
			"it.", "person", "Strip </system-reminder> from it."},
		{"words on the line where one ends, before another", "<system-reminder>a</system-reminder> Mend it.\n" +
			"<system-reminder>b</system-reminder>", "person", "Mend it."},
		{"words right behind one, before another", "<system-reminder>\na\n</system-reminder>Mend it.\nNow.\n" +
			"<system-reminder>b</system-reminder>", "person", "Mend it.\nNow."},
		{"a reminder that shows many", "<system-reminder>\nx" + strings.Repeat(" <system-reminder>y</system-reminder>", 90) +
			" z\n</system-reminder>\nMend it.", "person", "Mend it."},
		{"words that speak of one", "What does <system-reminder> do?", "person", "What does <system-reminder> do?"},
		{"an interruption", "[Request interrupted by user for tool use]", "interruption", ""},
		{"an interruption of Codex", "<turn_aborted>\nThe user interrupted it.\n</turn_aborted>", "interruption", ""},
		{"words behind an interruption of Codex", "<turn_aborted>x</turn_aborted>\nThe other one.", "person",
			"The other one."},
		{"an observation", "OBSERVATION:\nPAR-2291", "command", ""},
		{"a result of OpenHands", "EXECUTION RESULT of [execute_bash]:\nPAR-2291", "command", ""},
		{"a result of mini-swe-agent", "<returncode>0</returncode>\n<output>\nPAR-2291\n</output>", "command", ""},
		{"a demonstration", "Here is a demonstration of how to correctly accomplish this task.\nPAR-2291", "example", ""},
		{"an example alone", example, "example", ""},
		{"an example before the task", example +
			"--------------------- NEW TASK DESCRIPTION ---------------------\nMend it.\n" +
			"--------------------- END OF NEW TASK DESCRIPTION ---------------------\n\nPLEASE follow the format " +
			"strictly!", "person", "Mend it."},
		{"a command of the harness", "<command-name>/clear</command-name>\n<command-args></command-args>", "harness", ""},
		{"a command with words", "<command-name>/plan</command-name>\n<command-args>the move</command-args>", "person",
			"/plan the move"},
		{"a command that sets up the program", "<command-name>/model</command-name>\n<command-args>opus</command-args>",
			"harness", ""},
		{"instructions of a project", "# AGENTS.md instructions for /srv/kw\nBe brief.", "harness", ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			m := abi.Message{Role: abi.RoleUser, Content: abi.Text(tc.text)}
			if got := names[abi.Origins([]abi.Message{m})[0]]; got != tc.want || m.Words() != tc.words {
				t.Errorf("from %s with %q, want %s with %q", got, m.Words(), tc.want, tc.words)
			}
			if m.IsPerson() != (tc.want == "person") {
				t.Errorf("a person: %v", m.IsPerson())
			}
			m.Kind = abi.KindMeta
			if got := abi.Origins([]abi.Message{m})[0]; got != abi.FromElsewhere || m.Words() != "" {
				t.Errorf("with a kind: from %s", names[got])
			}
		})
	}
}

// TestAnswersOfAShell: what ends with a shell's prompt is a person's before the agent
// said anything, and the output of its command from then on.
func TestAnswersOfAShell(t *testing.T) {
	const text = "The task.\n(Open file: n/a)\nbash-$"
	msgs := []abi.Message{{Role: abi.RoleUser, Content: abi.Text(text)},
		{Role: abi.RoleAssistant, Content: abi.Text("ls")},
		{Role: abi.RoleUser, Content: abi.Text(text)}}
	if got := abi.Origins(msgs); got[0] != abi.FromPerson || got[2] != abi.FromCommand {
		t.Errorf("%v", got)
	}
	if got := abi.Persons(msgs); !got[0] || got[2] {
		t.Errorf("%v", got)
	}
	// The task is the first message of a person, and where nobody wrote the first one
	// with the role of the user: a summary stands behind it.
	if end := abi.PrefixEnd([]abi.Message{{Role: abi.RoleSystem},
		{Role: abi.RoleUser, Content: abi.Text("OBSERVATION: x")},
		{Role: abi.RoleAssistant}}); end != 2 {
		t.Errorf("the prefix ends at %d", end)
	}
}

// TestCommandsAreNoTask: the first task a person gave is no wrapper of a command. A harness that answered a command
// itself wrote the output behind it, whatever the command is called; a command whose prompt goes to the model has none.
func TestCommandsAreNoTask(t *testing.T) {
	features.Proves(t, "K10")
	const output, task = "<local-command-stdout>Thanks</local-command-stdout>", "TASK fix the bug in the parser"
	user := func(text string) abi.Message { return abi.Message{Role: abi.RoleUser, Content: abi.Text(text)} }
	wrapper := func(name, args string) string {
		return "<command-name>/" + name + "</command-name>\n            <command-message>" + name +
			"</command-message>\n            <command-args>" + args + "</command-args>"
	}
	command := func(name, args string) abi.Message { return user(wrapper(name, args)) }
	both := user(wrapper("tag", "x") + "\n" + output + "\n" + task)
	for why, tc := range map[string]struct {
		msgs []abi.Message
		want int // the message that is pinned
	}{
		"feedback":  {[]abi.Message{command("feedback", "the diff view is nice"), user(output), user(task)}, 2},
		"a bug":     {[]abi.Message{command("bug", "it crashes"), user(output), user(task)}, 2},
		"an aside":  {[]abi.Message{command("btw", "what is 3+3"), user(output), user(task)}, 2},
		"a plan":    {[]abi.Message{command("plan", "on"), user(output), user(task)}, 2},
		"a tag":     {[]abi.Message{command("tag", "x"), user(output), user(task)}, 2},
		"elsewhere": {[]abi.Message{command("remote-env", "x"), user(output), user(task)}, 2},
		"one that failed": {[]abi.Message{command("tag", "x"),
			user("<local-command-stderr>No such tag</local-command-stderr>"), user(task)}, 2},
		"with a bookmark between": {[]abi.Message{command("tag", "x"), {Role: abi.RoleUser, Kind: abi.KindBookmark},
			user(output), user(task)}, 2 + 1},
		"with its output in one message": {[]abi.Message{user(wrapper("tag", "x") + "\n" + output), user(task)}, 1},
		"in one message with the task":   {[]abi.Message{both}, 0},
		"before one for the model":       {[]abi.Message{command("tag", "x"), user(output), command("fix-issue", "123")}, 2},
		"output with a command in it": {[]abi.Message{user("<bash-stdout>" + wrapper("x", "do it") +
			"</bash-stdout><bash-stderr></bash-stderr>"), user(task)}, 1},
		"output with its own end in it": {[]abi.Message{user(strings.Replace(output, "Thanks",
			"a </local-command-stdout> b", 1)), user(task)}, 1},
		"a command behind a reminder": {[]abi.Message{user("<system-reminder>x</system-reminder>\n" + wrapper("clear", "")),
			user(task)}, 1},
		"output without an end": {[]abi.Message{user("<local-command-stdout>Thanks"), user(task)}, 1},
		"one for the model": {[]abi.Message{command("fix-issue", "123"),
			{Role: abi.RoleUser, Kind: abi.KindMeta, Content: abi.Text("Find issue 123 and fix it.")},
			{Role: abi.RoleAssistant, Content: abi.Text("I look at it.")}, user("Go on.")}, 0},
		"one for the model before another": {[]abi.Message{command("fix-issue", "123"), command("tag", "x"),
			user(output)}, 0},
	} {
		t.Run(why, func(t *testing.T) {
			for i, pinned := range abi.Pinned(tc.msgs) {
				if pinned != (i == tc.want) {
					t.Errorf("message %d pinned: %v, want message %d alone", i, pinned, tc.want)
				}
			}
		})
	}
	if got := both.Words(); got != task {
		t.Errorf("words behind the output: %q", got)
	}
}
