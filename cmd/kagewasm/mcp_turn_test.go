//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/record"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/transcript"
)

// TestMCPCompactWaitsForTheTurn: what the agent asks for by its tool is made at the boundary of a task. While a turn is
// open, with a call in flight or not, the answer says that it is made when the turn ends, and nothing is compacted;
// then it is, for the agent. A dry run need not wait, and where no turn is open the session is compacted at once.
func TestMCPCompactWaitsForTheTurn(t *testing.T) {
	features.Proves(t, "I5")
	home, dir := filepath.Join(t.TempDir(), "state"), t.TempDir()
	file := filepath.Join(dir, "a.jsonl")
	log := longSession(60)
	if err := os.WriteFile(file, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := transcript.Read(file, []byte(log), transcript.Auto)
	if err != nil {
		t.Fatal(err)
	}
	key := record.ID(read)
	s := serve(t, home, t.TempDir(), "--listen", "none", "--no-config")
	s.do(t, "POST", "/sessions", map[string]any{"id": key, "context_window": 6000}, nil)
	path := "/sessions/" + key
	s.do(t, "POST", path+"/messages", map[string]any{"messages": read.Messages}, nil)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "mcp", "--state", home, "--no-config")
	cmd.Dir, cmd.Env = dir, environment(home)
	c := client(t, &sdk.CommandTransport{Command: cmd})
	compactions := func() []abi.Record {
		t.Helper()
		var list struct{ Compactions []abi.Record }
		s.do(t, "GET", path+"/compactions", nil, &list)
		return list.Compactions
	}
	waits := func() []hooks.Wish {
		t.Helper()
		var one struct{ Requests []hooks.Wish }
		_, said := runOn(t, home, "sessions", "show", key, "--json")
		if err := json.Unmarshal([]byte(said), &one); err != nil {
			t.Fatal(err)
		}
		return one.Requests
	}
	for i, with := range []arguments{{"session": key, "focus": "keep the ports"}, {"file": file}} {
		var turn struct{ Turn string }
		var look struct{ Call string }
		s.do(t, "POST", path+"/turns", nil, &turn)
		s.do(t, "POST", path+"/calls", nil, &look)
		text, failed := call(t, c, "compact", with)
		if failed || !strings.Contains(text, "it is compacted when the turn ends") {
			t.Fatalf("%v: %s", with, text)
		}
		answer := map[string]any{"messages": []abi.Message{{Role: abi.RoleAssistant, Content: abi.Text("It is done.")}}}
		s.do(t, "POST", path+"/calls/"+look.Call+"/answer", answer, nil)
		if text, failed = call(t, c, "compact", arguments{"session": key, "dry_run": true}); failed ||
			!strings.Contains(text, "this is what would be done") {
			t.Errorf("%v: a dry run: %s", with, text)
		}
		if s.do(t, "GET", path+"/context", nil, nil); len(compactions()) != 2*i {
			t.Fatalf("%v: compacted in the turn: %+v", with, compactions())
		}
		if list := waits(); len(list) != 1 {
			t.Errorf("%v: %v waits", with, list)
		}
		s.do(t, "DELETE", path+"/turns/"+turn.Turn+"?wait=60", nil, nil)
		list := compactions()
		if len(list) != 2*i+1 || list[2*i].Trigger != abi.TriggerAgent {
			t.Fatalf("%v: when the turn has ended: %+v", with, list)
		}
		s.do(t, "POST", path+"/messages", map[string]any{"messages": servetest.Chat(30)[2:]}, nil)
		text, failed = call(t, c, "compact", arguments{"session": key})
		if list = compactions(); failed || !strings.Contains(text, "tokens to") || len(list) != 2*i+2 {
			t.Fatalf("%v: where no turn is open: %d compactions: %s", with, len(list), text)
		}
		s.do(t, "POST", path+"/messages", map[string]any{"messages": servetest.Chat(30)[2:]}, nil)
	}
	if left := waits(); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}
