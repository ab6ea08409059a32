package note_test

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/strategies/note"
)

var byRune = sessiongen.Counter{}.Text

func user(text string) abi.Message { return abi.Message{Role: abi.RoleUser, Content: abi.Text(text)} }
func said(text string) abi.Message {
	return abi.Message{Role: abi.RoleAssistant, Content: abi.Text(text)}
}

// summary is a message as a compaction leaves it.
func summary(text string) abi.Message {
	framed := abi.Fence(abi.KindSummary, "strategy:drop", "a note", text)
	return abi.Message{Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text(framed)}
}

// called is a call to a tool with these arguments, and its result.
func called(tool string, args map[string]any, output string, failed bool) []abi.Message {
	doc, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return []abi.Message{
		{Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{ID: "c", Name: tool, Arguments: string(doc)}}},
		{Role: abi.RoleTool, ToolCallID: "c", Content: abi.Text(output), IsError: failed},
	}
}

func run(command, output string, failed bool) []abi.Message {
	return called("Bash", map[string]any{"command": command}, output, failed)
}

func edit(path, output string, failed bool) []abi.Message {
	return called("Edit", map[string]any{"file_path": path, "old_string": "a", "new_string": "b"}, output, failed)
}

func todoWrite(list ...string) []abi.Message {
	todos := []any{}
	for i := 0; i < len(list); i += 2 {
		todos = append(todos, map[string]any{"content": list[i], "status": list[i+1]})
	}
	return called("TodoWrite", map[string]any{"todos": todos}, "ok", false)
}

// session puts messages and calls into one session.
func session(parts ...any) (msgs []abi.Message) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			msgs = append(msgs, user(p))
		case abi.Message:
			msgs = append(msgs, p)
		case []abi.Message:
			msgs = append(msgs, p...)
		}
	}
	return msgs
}

// work is a piece of work with everything in it that a note keeps.
func work() []abi.Message {
	return session(
		"hello!",
		"Make the lease table safe.\n\n- [ ] no parcel is handed out twice\n- [x] a test shows it\n\n"+
			"You must not change the wire format. Thanks",
		said("I decided to use one lock for the table because two were the cause. Let me read it."),
		todoWrite("write the test", "completed", "add the lock", "in_progress", "run everything", "pending"),
		called("Read", map[string]any{"file_path": "/srv/kw/docs/leases.md"}, "# parcel_lease_ttl", false),
		called("Write", map[string]any{"file_path": "/srv/kw/internal/store/lock.go", "content": "package store"},
			"File created", false),
		called("Edit", map[string]any{"file_path": "/srv/kw/internal/store/lease.go", "old_string": "// x",
			"new_string": "func acquireLocked()\n}"},
			"updated:\n    11→\n    12→func acquireLocked()\n    13→}\n    14→\n", false),
		edit("/srv/kw/internal/store/lease.go",
			"<tool_use_error>String to replace not found in file.</tool_use_error>", true),
		run("go test ./internal/store/... -run TestLease",
			"Exit code 1\n--- FAIL: TestLease (0.41s)\n    lease_test.go:40: got 2, want 1", true),
		run("go test ./internal/store/...", "ok", false),
		said("The lock works. Next I will run the race detector over PAR-2291."),
		"ok",
	)
}

// gone is the session of which every message goes.
func gone(msgs []abi.Message) note.Session { return goneUpTo(len(msgs), msgs) }

// goneUpTo is the session of which the first n messages go.
func goneUpTo(n int, msgs []abi.Message) note.Session {
	return note.Session{Messages: msgs, Gone: slices.Concat(slices.Repeat([]bool{true}, n), make([]bool, len(msgs)-n))}
}

func build(s note.Session) *note.Note { return note.Build(context.Background(), s) }

// render is the note on messages that all go.
func render(msgs []abi.Message, o note.Options) string { return write(gone(msgs), o) }

// write is the note on a session.
func write(s note.Session, o note.Options) string {
	if o.Count == nil {
		o.Count = byRune
	}
	if o.Budget == 0 {
		o.Budget = 3000
	}
	return build(s).Render(o)
}
