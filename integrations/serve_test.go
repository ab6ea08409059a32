package integrations_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/agenttest"
)

// calls has a plug call another program, and ask another server; none where socket is empty.
func calls(t *testing.T, script, program, socket string) {
	t.Helper()
	data, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"program": program, "socket": socket} {
		line := regexp.MustCompile(`(?m)^((?:export const )?` + name + ` = ).*$`)
		if !line.Match(data) {
			t.Fatalf("%s does not say its %s", script, name)
		}
		data = line.ReplaceAll(data, fmt.Appendf(nil, "${1}%q", value))
	}
	if err := os.WriteFile(script, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// listens is the socket of a server that does something with each connection.
func listens(t *testing.T, serve func(net.Conn)) (socket string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "kw") // a path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	socket = filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close(); os.RemoveAll(dir) })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			serve(c)
			c.Close()
		}
	}()
	return socket
}

// hangsUp is the socket of a server that goes away in the middle of each request, as one that is killed does.
func hangsUp(t *testing.T) (socket string) {
	t.Helper()
	return listens(t, func(c net.Conn) { _, _ = c.Read(make([]byte, 1000)) })
}

// servesAlone is a program that starts kagewasm's server and does nothing else: what a plug compacts then, that has
// done.
func servesAlone(t *testing.T, dir, kagewasm string) string {
	t.Helper()
	path := filepath.Join(dir, "serves-alone")
	script := "#!/bin/sh\n[ \"$1\" = serve ] && exec " + kagewasm + " \"$@\"\nexit 1\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestServer: where the command cannot compact, kagewasm's server does, which the plug starts; where the server goes
// away in the middle, the command does.
func TestServer(t *testing.T) {
	t.Run("Claude Code", func(t *testing.T) {
		c := newClaude(t)
		c.Env = slices.DeleteFunc(c.Env, func(v string) bool { // which closes sockets to mods
			return strings.HasPrefix(v, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC")
		})
		c.install(t)
		for _, by := range []struct{ what, program, socket string }{
			{"server", servesAlone(t, c.Project, c.kagewasm), c.Socket()},
			{"command", c.kagewasm, hangsUp(t)},
		} {
			calls(t, c.path("hooks", "command.js"), by.program, by.socket)
			session := c.seed(t, recorded(t, longSession)[:60]) // the same id each time
			r := c.ask(t, session, "/compact")
			log, err := os.ReadFile(c.log(session))
			if err != nil || r.IsError || c.boundaries(t, session) != 1 ||
				!strings.Contains(string(log), "<compaction_summary-") {
				t.Errorf("by the %s: %+v, %d compactions, %v", by.what, r, c.boundaries(t, session), err)
			}
			if c.made(t, session) == 0 {
				t.Errorf("by the %s: no compaction in the store", by.what)
			}
		}
		noSummaryAsked(t, c.model)
	})
	t.Run("pi", func(t *testing.T) {
		a := newPi(t)
		a.Must(t, a.kagewasm, "install", "pi")
		command := filepath.Join(a.Dir, ".pi/agent/extensions/kagewasm/command.js")
		calls(t, command, servesAlone(t, a.Dir, a.kagewasm), a.Socket())
		for _, turn := range agenttest.Replay(t, recorded(t, longSession), a.Project, bashCommand)[:6] {
			a.model.Say(turn.Answers...)
			a.pi(t, turn.Prompt)
		}
		if all, ours := a.compactions(t); ours == 0 || ours != all || a.recordedCompactions(t) < ours {
			t.Errorf("%d compactions, %d of them ours, %d in the store", all, ours, a.recordedCompactions(t))
		}
	})
	t.Run("opencode", func(t *testing.T) {
		a := newOpenCode(t)
		a.Must(t, a.kagewasm, "install", "opencode")
		calls(t, filepath.Join(a.Dir, ".config/opencode/plugins/kagewasm/command.js"), servesAlone(t, a.Dir, a.kagewasm),
			a.Socket())
		for _, turn := range agenttest.Replay(t, recorded(t, longSession), a.Project, bashCommand)[:4] {
			a.model.Say(turn.Answers...)
			a.opencode(t, turn.Prompt)
		}
		if !a.model.Last(t).Says("compaction_summary-") || a.recordedCompactions(t) == 0 {
			t.Errorf("no note, %d compactions in the store", a.recordedCompactions(t))
		}
	})
}
