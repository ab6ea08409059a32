package plug

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/internal/sealmark"
)

// codexAsks is a request to Codex as its windows ask it.
func codexAsks(n int, method string, params map[string]any) map[string]any {
	return map[string]any{"id": n, "method": method, "params": params}
}

// codexAnswers waits for the answer to a request, and reads it.
func codexAnswers(n int, into any) func([]byte) (bool, error) {
	return func(line []byte) (bool, error) {
		var m struct {
			ID     int
			Method string
			Error  *struct{ Message string }
			Result json.RawMessage
		}
		if json.Unmarshal(line, &m) != nil || m.ID != n || m.Method != "" {
			return false, nil
		}
		if m.Error != nil {
			return false, errors.New(m.Error.Message)
		}
		if into != nil {
			return true, json.Unmarshal(m.Result, into)
		}
		return true, nil
	}
}

// codexConverse starts Codex in the folder of a trial, and says one thing after the other.
func (t *trial) codexConverse(ctx context.Context, says ...exchange) error {
	client := map[string]any{"clientInfo": map[string]any{"name": "kagewasm-doctor", "version": "1"}}
	return t.converse(ctx, []string{"CODEX_HOME=" + filepath.Join(t.dir, ".codex")}, append([]exchange{
		{codexAsks(1, "initialize", client), codexAnswers(1, nil)},
		{map[string]any{"method": "initialized"}, nil},
	}, says...), "codex", "app-server")
}

// tryCodex has the real Codex compact the sample at the proxy that is its provider, which asks no other one for that.
func tryCodex(ctx context.Context, _ Agent, s Setup) error {
	address, kagewasm, state := s.Listen, s.Kagewasm, s.State
	t, err := newTrial(s)
	if err != nil {
		return err
	}
	defer t.close()
	if err := t.codexReads(ctx, filepath.Join(codexHome(s), "config.toml")); err != nil {
		return err
	}
	settings := slices.Concat(putProvider(nil, cmp.Or(address, CodexAddress), nil), []byte("[features]\nhooks = false\n"))
	err = errors.Join(
		t.put(".codex/config.toml", append([]byte("model = \"gpt-5.1-codex\"\n"+
			"cli_auth_credentials_store = \"file\"\n"), settings...)),
		t.put(".codex/auth.json", []byte(`{"OPENAI_API_KEY":"none"}`)),
	)
	id := ""
	if err == nil {
		id, err = t.sample("codex", func(id string) string {
			return ".codex/sessions/2026/01/02/rollout-2026-01-02T03-00-00-" + id + ".jsonl"
		})
	}
	if err != nil {
		return err
	}
	compacted := func(line []byte) (bool, error) {
		var m struct {
			Method string
			Params struct {
				Turn struct {
					Status string
					Error  *struct{ Message string }
				}
			}
		}
		if json.Unmarshal(line, &m) != nil || m.Method != "turn/completed" {
			return false, nil
		}
		if e := m.Params.Turn.Error; e != nil {
			return false, fmt.Errorf("%s: %s", m.Params.Turn.Status, e.Message)
		}
		return true, nil
	}
	err = t.codexConverse(ctx,
		exchange{codexAsks(2, "thread/resume", map[string]any{"threadId": id}), codexAnswers(2, nil)},
		exchange{codexAsks(3, "thread/compact/start", map[string]any{"threadId": id}), compacted})
	forget := append([]string{"sessions", "delete", id}, state...)
	_ = exec.CommandContext(ctx, kagewasm, forget...).Run() // where it was recorded
	if err == nil && !t.has(".codex/sessions", sealmark.Prefix) {
		err = errors.New("it did not compact through kagewasm")
	}
	return err
}

// codexReads is the error where Codex cannot read a person's settings: it is stricter than our TOML reader. What they
// name that is not in the folder of the trial is nothing to tell.
func (t *trial) codexReads(ctx context.Context, config string) error {
	settings, err := read(config)
	if err == nil && settings != nil {
		err = t.put(".codex/config.toml", settings)
	}
	if err != nil || settings == nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, trying)
	defer cancel()
	cmd := exec.CommandContext(ctx, "codex", "mcp", "list")
	cmd.Dir, cmd.Env = t.dir, append(os.Environ(), "HOME="+t.dir, "CODEX_HOME="+filepath.Join(t.dir, ".codex"))
	said, _ := cmd.CombinedOutput()
	if m := unreadTOML().FindSubmatch(said); m != nil {
		return &abi.Error{Code: abi.CodeBadInput, Hint: "correct it there",
			Message: fmt.Sprintf("Codex cannot read %s: line %s: %s", config, m[1], m[2])}
	}
	return nil
}

// unreadTOML is where Codex says that it cannot read its settings.
var unreadTOML = lazy.Regexp(`config\.toml:(\d+):\d+: ([^\n]*)`)

// tryCodexHook asks the real Codex whether it runs our hook: one as it is installed, with the trust that it has.
func tryCodexHook(ctx context.Context, s Setup) string {
	trusted, err := askCodexHook(ctx, s)
	switch {
	case err != nil:
		return "Codex does not say whether it runs it: " + err.Error()
	case trusted == "":
		return "Codex does not run it: it is switched off in its settings, or this version has no hooks"
	case trusted == "trusted":
		return "trusted: it adds exact names, rules and failures where Codex compacts by itself"
	}
	return "Codex does not run it before you trust it (it is for where Codex compacts by itself): start codex, and " +
		"choose \"Trust all and continue\""
}

// askCodexHook returns the word that Codex has for its trust in our hook, empty where it runs none.
func askCodexHook(ctx context.Context, s Setup) (string, error) {
	config := filepath.Join(codexHome(s), "config.toml")
	was, err := read(config)
	if err != nil {
		return "", err
	}
	h, err := findCodexHook(s, config, was)
	if err != nil {
		return "", err
	}
	var file codexHooks
	if err := parseTOML(was, &file); err != nil || file.Features.Hooks != nil && !*file.Features.Hooks {
		return "", err
	}
	t, err := newTrial(s)
	if err != nil {
		return "", err
	}
	defer t.close()
	key := filepath.Join(t.dir, ".codex", "config.toml") + ":session_start:0:0"
	settings := strings.Join(hookLines(h.hook), "\n") + "\n"
	if _, keys, ok := bytes.Cut(bytes.TrimSpace(h.trust), []byte("\n")); ok { // the name of the table has the place in it
		settings += "[hooks.state." + tomlString(key) + "]\n" + string(keys) + "\n"
	}
	if err := t.put(".codex/config.toml", []byte(settings)); err != nil {
		return "", err
	}
	var list struct {
		Data []struct {
			Hooks []struct {
				Enabled     bool
				TrustStatus string
			}
		}
	}
	err = t.codexConverse(ctx,
		exchange{codexAsks(2, "hooks/list", map[string]any{"cwds": []string{t.dir}}), codexAnswers(2, &list)})
	for _, d := range list.Data {
		for _, one := range d.Hooks {
			if one.Enabled || one.TrustStatus != "trusted" {
				return one.TrustStatus, err
			}
		}
	}
	return "", err
}
