package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestHooksNeverFail: a hook that cannot say anything ends as one with nothing to say. An agent takes its failure for
// an order not to compact. Why it failed is told on standard error, and by doctor.
func TestHooksNeverFail(t *testing.T) {
	log := string(longLog(t, "claude-code"))
	for _, c := range []struct {
		why, log, stdin string
		flags           []string
		says            string // empty where it does not fail
	}{
		{why: "a plugin that is not there", log: log, flags: []string{"--plugin", "/none.wasm"}, says: "/none.wasm"},
		{why: "settings that are not there", log: log, flags: []string{"--config", "/none.yaml"}, says: "/none.yaml"},
		{why: "settings that are wrong", log: log, flags: []string{"--config", "bad.yaml"}, says: "upper_threshold"},
		{why: "no log", says: "log.jsonl"},
		{why: "a log without messages", log: "{\"x\":1}\n", says: "message"},
		{why: "no call", stdin: "none", says: "standard input"},
		{why: "a log that is being written", log: log + `{"type":"user","mess`},
	} {
		for _, agent := range []string{"claude-code", "vim"} {
			t.Run(agent+": "+c.why, func(t *testing.T) {
				dir := t.TempDir()
				home, path := filepath.Join(dir, "state"), filepath.Join(dir, "log.jsonl")
				if err := os.WriteFile(filepath.Join(dir, "bad.yaml"), []byte("compaction: {upper_threshold: high}\n"),
					0o600); err != nil {
					t.Fatal(err)
				}
				if c.log != "" {
					if err := os.WriteFile(path, []byte(c.log), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				call := c.stdin
				if call == "" {
					call = fmt.Sprintf(`{"session_id":"x","hook_event_name":"PreCompact","transcript_path":%q}`, path)
				}
				fails := c.says != "" || agent == "vim"
				var stdout, stderr bytes.Buffer
				cmd := exec.CommandContext(t.Context(), os.Args[0], append([]string{"hook", agent, "--state", home},
					c.flags...)...)
				cmd.Env, cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = environment(home), dir, strings.NewReader(call), &stdout,
					&stderr
				if err := cmd.Run(); err != nil {
					t.Errorf("it fails for the agent: %v", err)
				}
				if (stdout.Len() == 0) != fails {
					t.Errorf("the agent is told %d bytes", stdout.Len())
				}
				why := hookFailure(home, agent)
				if agent == "claude-code" && (!strings.Contains(stderr.String(), c.says) || !strings.Contains(why, c.says)) {
					t.Errorf("want %q, standard error says %q, doctor %q", c.says, stderr.String(), why)
				}
				if (why != "") != fails {
					t.Errorf("doctor is told %q", why)
				}
			})
		}
	}
}
