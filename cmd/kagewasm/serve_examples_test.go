//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/store"
)

// TestExampleClients: the clients of docs/server.md work as they stand there.
func TestExampleClients(t *testing.T) {
	features.Proves(t, "K16")
	home := filepath.Join(t.TempDir(), "state")
	s := serve(t, home, t.TempDir(), "--listen", "127.0.0.1:0", "--no-config")
	examples := filepath.Join("..", "..", "docs", "examples")
	script := filepath.Join(t.TempDir(), "loop.mjs") // it has no types to strip
	if err := os.WriteFile(script, read(t, filepath.Join(examples, "loop.ts")), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ program, file, want string }{
		{"sh", filepath.Join(examples, "loop.sh"), `"messages":[{"role":"user","content":"Hello."}]`},
		{"python3", filepath.Join(examples, "loop.py"), "I have read 3 messages.\n0 compactions"},
		{"node", script, "1 compactions"},
	} {
		t.Run(tc.program, func(t *testing.T) {
			for _, program := range []string{tc.program, "curl"} {
				if _, err := exec.LookPath(program); err != nil {
					t.Skip(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), tc.program, tc.file)
			cmd.Env = append(os.Environ(), "KAGEWASM_URL="+s.URL, "KAGEWASM_TOKEN_FILE="+s.TokenFile,
				"KAGEWASM_SOCKET="+s.Socket)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.Contains(string(out), tc.want) {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	var list struct{ Sessions []store.Session }
	s.do(t, "GET", "/sessions", nil, &list)
	if len(list.Sessions) != 3 {
		t.Errorf("%+v", list)
	}
}
