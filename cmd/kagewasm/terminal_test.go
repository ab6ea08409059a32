package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
)

// onTerminal runs the command as somebody at a terminal does, who types answer.
func onTerminal(ctx context.Context, e env, answer string, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	e.stdin, e.stdout, e.stderr, e.terminal, e.screen = strings.NewReader(answer), &out, &errs, true, true
	code = doMain(ctx, args, e)
	return code, out.String(), errs.String()
}

// writeSession writes a session of n exchanges to a new folder.
func writeSession(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "session.jsonl")
	if err := os.WriteFile(path, []byte(longSession(n)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCheckpointRejected: who answers n gets nothing written and nothing that waits,
// and is told so once.
func TestCheckpointRejected(t *testing.T) {
	session := writeSession(t, 120)
	out := filepath.Join(filepath.Dir(session), "out.jsonl")
	home := env{stateHome: filepath.Join(t.TempDir(), "state")}
	code, stdout, stderr := onTerminal(t.Context(), home, "n\n", "compact", session, "--window", "8000", "--no-config",
		"--strategy", "checkpoint", "--out", out)
	_, after, asked := strings.Cut(stderr, "[y/N]")
	if code != 0 || stdout != "" || !asked || strings.TrimSpace(after) != "rejected on the terminal; nothing was written" {
		t.Errorf("exit %d, output %q, after the answer %q", code, stdout, after)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("it wrote the result")
	}
}

// TestInterruptedSaysSo: a command that was interrupted says that and what came of it,
// and no figures of work that did not take place.
func TestInterruptedSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	code, stdout, stderr := onTerminal(ctx, env{}, "", "compact", writeSession(t, 120), "--window", "8000", "--no-config")
	if code != 1 || stdout != "" || strings.TrimSpace(stderr) != "kagewasm: interrupted; nothing was written" {
		t.Errorf("exit %d, output %q, said %q", code, stdout, stderr)
	}
}

// TestLastLine: on a screen the report begins a line of its own, whatever the session ends with; to whatever is no
// screen the session goes as it is.
func TestLastLine(t *testing.T) {
	session := filepath.Join(t.TempDir(), "session.jsonl")
	text := strings.TrimSuffix(longSession(4), "\n")
	if err := os.WriteFile(session, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"compact", session, "--window", "8000", "--no-config", "--no-record"}
	if code, stdout, stderr := onTerminal(t.Context(), env{}, "", args...); code != 0 || stdout != text+"\n" {
		t.Errorf("exit %d, %q, %s", code, stdout[max(0, len(stdout)-20):], stderr)
	}
	var out bytes.Buffer
	e := env{stdin: strings.NewReader(""), stdout: &out, stderr: &bytes.Buffer{}}
	if code := doMain(t.Context(), args, e); code != 0 || out.String() != text {
		t.Errorf("exit %d, %q", code, out.String()[max(0, out.Len()-20):])
	}
}

// TestDumbTerminal: a terminal that knows no control sequences is sent none, by work
// that takes long enough to be told of.
func TestDumbTerminal(t *testing.T) {
	for name, dumb := range map[string]bool{"dumb": true, "not dumb": false} {
		t.Run(name, func(t *testing.T) {
			var errs bytes.Buffer
			e := env{stderr: &errs, color: true, terminal: true, dumb: dumb}
			p := e.progress()
			p.Step("reading")
			time.Sleep(400 * time.Millisecond) // longer than what passes without a word
			p.Done()
			e.say("done")
			e.err().Linef("%s", "text")
			if controls := strings.ContainsAny(errs.String(), "\r\x1b"); controls == dumb {
				t.Errorf("it printed %q", errs.String())
			}
		})
	}
}

// TestConvertedIsCountedAsWritten: tokens_after of a conversion is what the written
// session costs, and the reason says the same.
func TestConvertedIsCountedAsWritten(t *testing.T) {
	dir := t.TempDir()
	session, out := filepath.Join(dir, "s.jsonl"), filepath.Join(dir, "out.json")
	thinks := `{"role":"user","content":"Go on."}` + "\n" +
		`{"role":"assistant","content":[{"type":"thinking","thinking":"` +
		strings.Repeat("What now? ", 50) + `"},{"type":"text","text":"Done."}]}` + "\n" +
		`{"role":"user","content":"And?"}` + "\n"
	if err := os.WriteFile(session, []byte(thinks), 0o600); err != nil {
		t.Fatal(err)
	}
	report := func(args ...string) (r kagewasm.Report) {
		t.Helper()
		code, stdout, stderr := onTerminal(t.Context(), env{}, "",
			append([]string{"compact", "--no-config", "--json", "--window",
				"8000"}, args...)...)
		if err := json.Unmarshal([]byte(stdout), &r); err != nil || code != 0 {
			t.Fatalf("exit %d, %v\n%s", code, err, stderr)
		}
		return r
	}
	converted := report(session, "--to", "openai", "--out", out)
	again := report(out, "--dry-run")
	if converted.TokensAfter != again.TokensBefore || converted.TokensAfter >= converted.TokensBefore ||
		!strings.Contains(converted.Reason, fmt.Sprint(converted.TokensAfter)) || len(converted.LeftOut) != 1 {
		t.Errorf("%d tokens converted, %d as written, of %d: %s; left out %q", converted.TokensAfter, again.TokensBefore,
			converted.TokensBefore, converted.Reason, converted.LeftOut)
	}
}

// TestNarrowTerminal: on a terminal of 50 columns help, reports and errors say the same as
// elsewhere, in lines that fit.
func TestNarrowTerminal(t *testing.T) {
	const width = 50
	session := writeSession(t, 120)
	const long = "a-session-with-a-name-as-agents-give-them-03.jsonl" // as wide as the terminal
	const stored = "session-0123456789"
	named, module := filepath.Join(t.TempDir(), long), filepath.Join(t.TempDir(), "hears.wasm")
	if err := os.WriteFile(named, []byte(longSession(120)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(module, wasmtest.WithManifest(wasmtest.Nothing("post_compact"), hears), 0o600); err != nil {
		t.Fatal(err)
	}
	state := newState(t)
	if code, _, said := onTerminal(t.Context(), env{stateHome: state}, "", "compact", named, "--window", "8000",
		"--no-config", "--session", stored, "--out", filepath.Join(t.TempDir(), "out.jsonl")); code != 0 {
		t.Fatal(said)
	}
	for name, args := range map[string][]string{
		"stored sessions":   {"sessions"},
		"a stored session":  {"sessions", "show", stored},
		"a plugin":          {"inspect", module},
		"help":              {"--help"},
		"help of a command": {"compact", "--help"},
		"a report":          {"compact", session, "--window", "8000", "--no-config", "--dry-run"},
		"a wrong flag":      {"compact", session, "--windw", "8000"},
		"a setting":         {"compact", session, "--set", "foo=1"},
		"a missing file":    {"compact", "nosuch.jsonl"},
	} {
		t.Run(name, func(t *testing.T) {
			_, wideOut, wideErr := onTerminal(t.Context(), env{stateHome: state}, "", args...)
			_, out, errs := onTerminal(t.Context(), env{stateHome: state, outWidth: width, errWidth: width}, "", args...)
			shown := strings.ReplaceAll(out+errs, "\r\x1b[K", "\n") // progress, where that takes long
			for line := range strings.Lines(shown) {
				line = strings.TrimRight(line, "\n")
				if words := strings.Fields(line); len([]rune(line)) > width && len(words) > 2 {
					t.Errorf("%d columns: %q", len([]rune(line)), line)
				}
			}
			wide, narrow := strings.Fields(wideOut+wideErr), strings.Fields(out+errs)
			if name != "a report" && strings.Join(wide, " ") != strings.Join(narrow, " ") {
				t.Errorf("it says\n%s%s\nand elsewhere\n%s%s", out, errs, wideOut, wideErr)
			}
		})
	}
}

// TestNoTerminal: what is no terminal gets no control sequences, and lines as they are.
func TestNoTerminal(t *testing.T) {
	var out, errs bytes.Buffer
	e := env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, color: true}
	if code := doMain(t.Context(), []string{"compact", writeSession(t, 120), "--window", "8000", "--no-config"},
		e); code != 0 {
		t.Fatal(errs.String())
	}
	if strings.ContainsAny(out.String()+errs.String(), "\r\x1b") {
		t.Errorf("it printed %q", errs.String())
	}
}
