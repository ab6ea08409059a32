package integrations_test

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/internal/agenttest"
)

// underSystemd runs a script where systemd manages the user's services, in processes and mounts of its own, and
// returns what it says. Whoever may not make these has the test left out.
func underSystemd(t *testing.T, h *agenttest.Home, script string) string {
	t.Helper()
	const systemd = "/lib/systemd/systemd"
	alone := []string{"--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c"}
	const booted = "mount -t tmpfs none /run && mkdir -p /run/systemd/system && mkdir -m 700 /run/user /run/user/0"
	if out, err := exec.Command("unshare", append(alone, booted+" && test -x "+systemd)...).CombinedOutput(); err != nil {
		t.Skipf("no systemd can be started beside the machine's: %v %s", err, out)
	}
	const start = `
export XDG_RUNTIME_DIR=/run/user/0
env -u XDG_STATE_HOME ` + systemd + ` --user 2>/dev/null & manager=$!
for n in $(seq 100); do systemctl --user show-environment >/dev/null 2>&1 && break; sleep 0.1; done
systemctl --user show-environment >/dev/null || exit 77
`
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	all := booted + start + script + "\nkill $manager; wait $manager\ntrue\n"
	cmd := exec.CommandContext(ctx, "unshare", append(alone, all)...)
	cmd.Dir, cmd.Env = h.Project, h.Env
	out, err := cmd.CombinedOutput()
	switch {
	case cmd.ProcessState != nil && cmd.ProcessState.ExitCode() == 77:
		t.Skipf("systemd does not manage services here: %s", out)
	case err != nil:
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

// freeAddress is one that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestCodexService: where systemd manages the user's services, install codex has it keep the proxy answering: it starts
// with the first request, again after it was killed, and passes requests on where its settings are wrong. Another
// installation holds at once. Its state is the user's. uninstall ends it, and leaves nothing.
func TestCodexService(t *testing.T) {
	c := newCodex(t)
	address, other := freeAddress(t), freeAddress(t)
	before := agenttest.Tree(t, c.Dir)
	settings := filepath.Join(c.State, "kagewasm", "agents", "codex.yaml")
	said := underSystemd(t, c.Home, fmt.Sprintf(`
section() { printf '\n== %%s\n' "$1"; shift; "$@" 2>&1; echo "exit $?"; }
section install %[1]s install codex --listen %[2]s
section verified systemd-analyze --user verify $HOME/.config/systemd/user/kagewasm-codex.service
section doctor %[1]s doctor codex
systemctl --user kill --signal KILL kagewasm-codex.service; sleep 0.5
section killed curl -sS http://%[2]s/.kagewasm
echo 'compaction: {upper_threshold: high}' > %[3]s
systemctl --user stop kagewasm-codex.service
section wrong curl -sS http://%[2]s/.kagewasm
section sick %[1]s doctor codex
rm %[3]s
section again %[1]s install codex
section healthy %[1]s doctor codex
section moved %[1]s install codex --listen %[4]s
section there curl -sS http://%[4]s/.kagewasm
section left curl -sS http://%[2]s/.kagewasm
section base grep base_url $HOME/.codex/config.toml
section state sh -c 'test -s $XDG_STATE_HOME/kagewasm/sessions.db && test ! -e $HOME/.local'
section uninstall %[1]s uninstall codex
section gone systemctl --user --no-legend --plain --all list-units 'kagewasm*'
`, c.kagewasm, address, settings, other))
	sections := make(map[string]string)
	for _, s := range strings.Split(said, "\n== ")[1:] {
		name, text, _ := strings.Cut(s, "\n")
		sections[name] = text
	}
	const works = "it compacted a small session through kagewasm\nexit 0"
	for name, want := range map[string]string{
		"install":   "Codex 0.169.0 compacts through kagewasm now",
		"verified":  "exit 0",
		"doctor":    works,
		"killed":    `{"kagewasm":"devel"}`,
		"wrong":     `"passing":"config: ` + settings + `:1:`,
		"sick":      "mv " + settings + " " + settings + ".old && kagewasm install codex",
		"again":     "Codex 0.169.0 compacts through kagewasm now",
		"healthy":   works,
		"moved":     "Codex 0.169.0 compacts through kagewasm now",
		"there":     `{"kagewasm":"devel"}`,
		"left":      "Failed to connect",
		"base":      `"http://` + other + `"`,
		"state":     "exit 0",
		"uninstall": "Codex is as it was without kagewasm",
		"gone":      "exit 0",
	} {
		if !strings.Contains(sections[name], want) || name == "gone" && strings.TrimSpace(sections[name]) != want {
			t.Errorf("%s: %s\nwant %s", name, sections[name], want)
		}
	}
	if changed := agenttest.Changed(before, agenttest.Tree(t, c.Dir), ".cache"); len(changed) > 0 {
		t.Errorf("uninstall left %v", changed)
	}
}
