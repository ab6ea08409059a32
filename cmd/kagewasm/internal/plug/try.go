package plug

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/daemon"
	"github.com/kagewasm/kagewasm/internal/atomicfile"
)

// trying is how long a program may take over the sample.
const trying = 3 * time.Minute

// TryCommand compacts the sample as a plug does, and returns how long that took. Nothing of it is recorded.
func TryCommand(ctx context.Context, c Calls) (time.Duration, error) {
	sample, err := Sample("neutral")
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, trying)
	defer cancel()
	args := append([]string{"compact", "-", "--format", "neutral", "--force", "--quiet", "--no-record"}, c.Policy...)
	cmd := exec.CommandContext(ctx, c.Kagewasm, append(args, c.State...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(sample), &stdout, &stderr
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, failed(err, first(stderr.String()))
	}
	if stdout.Len() == 0 || stdout.Len() >= len(sample) {
		return 0, fmt.Errorf("%d bytes came back for %d", stdout.Len(), len(sample))
	}
	return time.Since(start), nil
}

// TryServer compacts the sample as a plug does that asks the server, which is started where none runs. Nothing of it is
// recorded.
func TryServer(ctx context.Context, agent string, c Calls) (time.Duration, error) {
	sample, err := Sample("neutral")
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, trying)
	defer cancel()
	dir := filepath.Dir(c.Socket)
	server := exec.CommandContext(ctx, c.Kagewasm, "serve", "--background", "--state", dir)
	if out, err := server.CombinedOutput(); err != nil {
		return 0, failed(err, first(string(out)))
	}
	client, err := daemon.Find(ctx, dir)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	var made struct {
		Messages string `json:"messages"`
	}
	start := time.Now()
	err = client.Do(ctx, http.MethodPost, "/compact", map[string]any{"plug": agent, "plug_version": c.Version,
		"format": "neutral", "force": true, "messages": string(sample)}, &made)
	if err == nil && (made.Messages == "" || len(made.Messages) >= len(sample)) {
		err = fmt.Errorf("%d bytes came back for %d", len(made.Messages), len(sample))
	}
	return time.Since(start), err
}

// tryClaudeCode has the real Claude Code compact the sample through the mod that is installed. It needs no model for
// that, and gets none: where the mod fails, so does the compaction.
func tryClaudeCode(ctx context.Context, _ Agent, s Setup) error {
	if Older(s.Version, modsSince) {
		return tryClassic(ctx, s)
	}
	dir, err := os.MkdirTemp("", "kagewasm-doctor")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	sample, err := Sample("claude-code")
	if err != nil {
		return err
	}
	id := regexp.MustCompile(`"sessionId":"([^"]+)"`).FindSubmatch(sample)[1]
	project := regexp.MustCompile(`[^a-zA-Z0-9]`).ReplaceAllString(dir, "-")
	log := filepath.Join(dir, "config", "projects", project, string(id)+".jsonl")
	if err := os.MkdirAll(filepath.Dir(log), 0o700); err != nil {
		return err
	}
	if err := atomicfile.WriteFile(log, sample, 0o600); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, trying)
	defer cancel()
	cmd := exec.CommandContext(ctx, "claude", "-p", "/compact", "--resume", string(id), "--plugin-dir", claudeMod(s))
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CLAUDE_CONFIG_DIR="+filepath.Join(dir, "config"),
		"ANTHROPIC_BASE_URL=http://127.0.0.1:9",
		"ANTHROPIC_API_KEY=none", "DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1")
	out, err := cmd.CombinedOutput()
	forget := append([]string{"sessions", "delete", string(id)}, s.State...)
	_ = exec.CommandContext(ctx, s.Kagewasm, forget...).Run() // where it was recorded
	if err != nil {
		return failed(err, string(out))
	}
	after, err := os.ReadFile(log)
	switch {
	case err != nil:
		return err
	case !bytes.Contains(after, []byte("compact_boundary")) || !bytes.Contains(after, []byte("<compaction_summary-")):
		return failed(errors.New("it did not compact through kagewasm"), string(out))
	}
	return nil
}

// first is the first line of what kagewasm said of an error, else of all it said. Below it may be where.
func first(said string) string {
	said = strings.TrimSpace(said)
	if at := strings.Index("\n"+said, "\nkagewasm: "); at > 0 {
		said = said[at:]
	}
	line, _, _ := strings.Cut(said, "\n")
	return line
}

// failed is an error with the last line of what a program said.
func failed(err error, said string) error {
	said = strings.TrimSpace(said)
	if said == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, said[strings.LastIndex(said, "\n")+1:])
}
