package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
)

// begin is how a client begins.
const begin = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
	`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// TestMCPInputEnds: what was asked before the input ended is answered, all of it, and the server ends then.
func TestMCPInputEnds(t *testing.T) {
	h := newToolHome(t, longSession(120))
	in := begin + "\n" + `{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"
	for i, tool := range []string{`"recall","arguments":{"query":"step7"}`, `"lost"`, `"status"`, `"compact"`} {
		in += fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%s}}`+"\n", i+2, tool)
	}
	var out bytes.Buffer
	if code := doMain(t.Context(), []string{"mcp", "--no-config"}, env{stdin: strings.NewReader(in), stdout: &out,
		stderr: io.Discard, stateHome: h.state}); code != 0 {
		t.Errorf("exit code %d", code)
	}
	answers := make(map[int]bool)
	for line := range bytes.Lines(out.Bytes()) {
		var a struct {
			ID     int
			Result struct{ IsError bool }
			Error  any
		}
		if err := json.Unmarshal(line, &a); err != nil || a.Error != nil || a.Result.IsError {
			t.Errorf("%s: %v", line, err)
		}
		answers[a.ID] = true
	}
	if len(answers) != 5 {
		t.Errorf("answers to %v of 5", answers)
	}
}

// TestMCPGoesOn: a line that is no message is answered as JSON-RPC 2.0 has it, and the server
// goes on.
func TestMCPGoesOn(t *testing.T) {
	in, typed := io.Pipe()
	read, out := io.Pipe()
	f := &mcpFlags{tokens: 2000}
	f.keep, f.off, f.given = 1000, true, func(string) bool { return false }
	ended := make(chan error, 1)
	go func() {
		defer out.Close() // who waits for an answer learns that there is none
		ended <- f.serve(t.Context(), env{stdin: in, stdout: out, stderr: io.Discard, stateHome: newState(t)})
	}()
	lines := bufio.NewScanner(read)
	ask := func(line string) (a struct {
		ID    json.RawMessage
		Error struct{ Code int }
	}) {
		t.Helper()
		if _, err := io.WriteString(typed, line+"\n"); err != nil {
			t.Fatal(err)
		}
		if !lines.Scan() {
			t.Fatalf("%.100s: no answer", line)
		}
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatalf("%.100s: %s: %v", line, lines.Bytes(), err)
		}
		return a
	}
	for _, tc := range []struct {
		why, line string
		code      int
	}{
		{"words before all else", "hello", -32700},
		{"the beginning", begin, 0},
		{"half a message", `{"jsonrpc":"2.0","id":2,`, -32700},
		{"two on a line", `{"jsonrpc":"2.0","id":2,"method":"ping"}{}`, -32700},
		{"a text", `"hello"`, -32600},
		{"a number", `7`, -32600},
		{"another version", `{"jsonrpc":"1.0","id":2,"method":"ping"}`, -32600},
		{"a list", `[{"jsonrpc":"2.0","id":2,"method":"ping"}]`, -32600},
		{"an empty list", `[]`, -32600},
		{"a line without end", strings.Repeat("x", 17<<20), -32600},
		{"bytes that are no text", "\xff\xfe{", -32700},
		{"a message with spaces around", "\n  " + `{"jsonrpc":"2.0","id":3,"method":"ping"}` + " \r", 0},
	} {
		a := ask(tc.line)
		if a.Error.Code != tc.code || (tc.code != 0) != bytes.Equal(a.ID, []byte("null")) {
			t.Errorf("%s: code %d, id %s, want %d", tc.why, a.Error.Code, a.ID, tc.code)
		}
	}
	typed.Close()
	if err := <-ended; err != nil {
		t.Errorf("it ends with %v", err)
	}
}
