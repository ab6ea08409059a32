package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/files"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/transcript"
)

// hookCall is what an agent tells a hook.
type hookCall struct {
	Session    string `json:"session_id"`
	Transcript string `json:"transcript_path"`
	Event      string `json:"hook_event_name"`
	Source     string `json:"source"`
}

// newHook answers the hooks of agents that let nobody compact for them. Install writes it into their settings; nobody
// types it.
func newHook(e env) *cobra.Command {
	return &cobra.Command{
		Use:                "hook AGENT [COMPACT FLAGS]",
		Short:              "Answer a hook of an agent",
		Hidden:             true,
		DisableFlagParsing: true,
		Run: func(c *cobra.Command, args []string) {
			var says bytes.Buffer
			asked := e
			asked.stdout = &says
			err := answerHook(c.Context(), asked, args)
			if err != nil {
				ui.Error(e.err(), err)
			}
			if len(args) > 0 && (err != nil || says.Len() > 0) { // one that has nothing to say did not try
				keepHookFailure(hookState(e, args), args[0], err)
			}
			_ = e.print(says.String()) // nobody reads it any more
		},
	}
}

// answerHook answers a hook. What fails here must not fail for the agent: to Claude Code exit code 2 of a hook means
// that it may not compact, and a session in a full window would be stuck.
func answerHook(ctx context.Context, e env, args []string) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &abi.Error{Code: abi.CodeInternal, Op: "hook", Message: fmt.Sprint(r)}
		}
	}()
	if len(args) == 0 || args[0] != "claude-code" && args[0] != "codex" {
		return ui.Usagef("hook: know claude-code and codex alone")
	}
	data, err := files.Read(ctx, e.stdin, "-")
	if err != nil {
		return err
	}
	var call hookCall
	if err := json.Unmarshal(data, &call); err != nil {
		return &abi.Error{Code: abi.CodeBadInput, Op: "hook", Message: "standard input: " + err.Error(), Err: err}
	}
	if args[0] == "codex" {
		return codexHook(ctx, e, call, args[1:])
	}
	return claudeHook(ctx, e, call, args)
}

// handedBack is what the note begins with that is handed to a conversation behind its summary.
const handedBack = "What the summary may have left out, exactly as it was:\n"

// claudeHook tells the model that summarizes what to keep, and the conversation behind the summary what it was.
func claudeHook(ctx context.Context, e env, call hookCall, args []string) error {
	kept := noteFile(e, call, args)
	switch {
	case call.Event == "PreCompact":
		log, err := files.Read(ctx, nil, filepath.Clean(call.Transcript))
		if err != nil {
			return err
		}
		note, err := noteOf(ctx, e, wholeLines(log), "claude-code", args[1:])
		if err != nil || note == "" {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(kept), 0o700); err != nil {
			return err
		}
		return errors.Join(files.WritePrivate(kept, []byte(note)), e.print("These names, rules and failures are exact. "+
			"Keep them word for word in the summary:\n"+note))
	case call.Event == "SessionStart" && call.Source == "compact":
		note, err := os.ReadFile(kept)
		if err != nil {
			return nil // nothing was compacted that a note is about
		}
		return errors.Join(os.Remove(kept), e.print(handedBack+string(note)))
	}
	return nil
}

// print prints what an agent reads, as it is.
func (e env) print(text string) error {
	_, err := io.WriteString(e.stdout, text)
	return err
}

// noteFile is where the note waits until the summary is written: the log of a session then tells of that alone.
func noteFile(e env, call hookCall, args []string) string {
	return filepath.Join(hookState(e, args), agentsFolder, "notes", filepath.Base(call.Session)+".txt")
}

// hookState is the state folder of a hook.
func hookState(e env, args []string) string {
	if i := slices.Index(args, "--state"); i >= 0 && i+1 < len(args) {
		return args[i+1]
	}
	return e.stateHome
}

// hookFailureFile is where it stands why the hook of an agent failed last.
func hookFailureFile(dir, agent string) string {
	return filepath.Join(dir, agentsFolder, filepath.Base(agent)+".hook.txt")
}

// keepHookFailure keeps for doctor why a hook failed. The next one that does not fail clears it. Where that cannot be
// written nobody is told: the agent goes on.
func keepHookFailure(dir, agent string, err error) {
	path := hookFailureFile(dir, agent)
	if err == nil {
		_ = os.Remove(path)
		return
	}
	if os.MkdirAll(filepath.Dir(path), 0o700) == nil {
		_ = files.WritePrivate(path, []byte(time.Now().UTC().Format(time.RFC3339)+": "+err.Error()+"\n"))
	}
}

// hookFailure is when and why the hook of an agent failed last; empty where it did not.
func hookFailure(dir, agent string) string {
	text, _ := os.ReadFile(hookFailureFile(dir, agent))
	return strings.TrimSpace(string(text))
}

// wholeLines is a log without a last line that is being written.
func wholeLines(log []byte) []byte {
	if end := bytes.LastIndexByte(log, '\n') + 1; !json.Valid(log[end:]) {
		return log[:end]
	}
	return log
}

// mostInjected is how many characters agents take from a hook, and Codex how many bytes; more goes to a file.
const mostInjected = 10_000

// noteOf is the note of a log that an agent summarizes.
func noteOf(ctx context.Context, e env, log []byte, format transcript.Format, flags []string) (string, error) {
	var report kagewasm.Report
	args := slices.Concat([]string{"compact", "-", "--format", string(format), "--force", "--target", "0",
		"--note-tokens", "2000", "--dry-run", "--json"}, flags)
	var stdout, stderr bytes.Buffer
	inner := e
	inner.stdin, inner.stdout, inner.stderr = bytes.NewReader(log), &stdout, &stderr
	inner.terminal, inner.screen = false, false
	if code := doMain(ctx, args, inner); code != ui.ExitOK {
		return "", &abi.Error{Code: abi.CodeBadInput, Op: "hook", Message: strings.TrimSpace(strings.TrimPrefix(
			strings.TrimSpace(stderr.String()), "kagewasm:"))}
	}
	if err := json.Unmarshal(stdout.Bytes(), &report); err != nil || report.Summary == "" {
		return "", err
	}
	return clip.Cut(report.Summary, mostInjected-200, " …\n"), nil
}
