package guest_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
)

// TestMain is a plugin's main where the environment says so: Main ends the
// process, so it runs in one of its own.
func TestMain(m *testing.M) {
	if os.Getenv("GUEST_TEST_MAIN") == "" {
		os.Exit(m.Run())
	}
	guest.Register(guest.Plugin{
		PreCompact: func(c *guest.Call) (*abi.Output, error) {
			c.Log(abi.LogInfo, "reading")
			msgs, err := c.Messages("m1")
			if err != nil {
				return nil, err
			}
			return &abi.Output{Inject: msgs[0].Text()}, nil
		},
	})
	guest.Main()
}

func TestMainServesOneCall(t *testing.T) {
	const doc = `{"messages":[{"id":"m1","role":"user","content":"hello"}]}`
	for _, c := range []struct {
		name, arg, in, out, err string
		code                    int
	}{
		{"a hook with a handler", "pre_compact", doc, `{"inject":"hello"}`, "info: reading", 0},
		{"a hook without", "turn_end", doc, "null", "", 0},
		{"a handler that fails", "pre_compact", `{"messages":[]}`, "", `no message "m1"`, 1},
		{"no hook", "compact", doc, "", "usage: ", 2},
		{"no input", "pre_compact", "", "", "decode input", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), os.Args[0], c.arg)
			cmd.Env = append(os.Environ(), "GUEST_TEST_MAIN=1")
			cmd.Stdin = strings.NewReader(c.in)
			var out, errs strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &errs
			_ = cmd.Run() // the code is checked below
			if got := cmd.ProcessState.ExitCode(); got != c.code {
				t.Errorf("exit code %d, want %d: %s", got, c.code, errs.String())
			}
			if strings.TrimSpace(out.String()) != c.out || !strings.Contains(errs.String(), c.err) {
				t.Errorf("printed %q and %q", out.String(), errs.String())
			}
		})
	}
}
