package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi/abitest"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/files"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/devloop"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/soak"
)

// runDev runs kagewasm dev and returns its exit code and what it wrote.
func runDev(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = doMain(t.Context(), append([]string{"dev"}, args...), env{stdout: &out, stderr: &errs, stateHome: newState(t)})
	return code, out.String(), errs.String()
}

func fixture(name string) string { return filepath.Join("..", "..", "kit", "testdata", name) }

func TestDevCommandOnce(t *testing.T) {
	features.Proves(t, "N6")
	soak.Only(t, "surveys all sample sessions")
	code, out, errs := runDev(t, fixture("notes2"), "--once")
	if code != ui.ExitOK || errs != "" {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	samples := 0
	for _, msgs := range abitest.Sessions() {
		if len(msgs) > 1 { // of one nothing can go
			samples++
		}
	}
	for _, says := range []string{"round 1", "notes 2.0.0", fmt.Sprintf("%d sample sessions", samples),
		"withheld    http", "plain session", fmt.Sprintf("%d compacted", samples), "log         info: pinned 1"} {
		t.Run(says, func(t *testing.T) {
			if !strings.Contains(out, says) {
				t.Errorf("does not say %q:\n%s", says, out)
			}
		})
	}
	if strings.Contains(out, "\x1b") {
		t.Error("control sequences, and nobody watches")
	}

	code, out, _ = runDev(t, fixture("broken"), "--once")
	if code != ui.ExitFailure || !strings.Contains(out, "undefined: undefinedFunction") {
		t.Errorf("does not compile: exit code %d: %s", code, out)
	}
	for why, args := range map[string][]string{
		"no folder":   {fixture("nowhere"), "--once"},
		"no sessions": {fixture("notes1"), "--once", "--sessions", "nowhere"},
		"no window":   {fixture("notes1"), "--once", "--window", "-1"},
		"two folders": {fixture("notes1"), fixture("notes2")},
	} {
		t.Run(why, func(t *testing.T) {
			if code, _, errs := runDev(t, args...); code != ui.ExitUsage || errs == "" {
				t.Errorf("%s: exit code %d: %s", why, code, errs)
			}
		})
	}
	if code, out, _ := runDev(t, fixture("notes1"), "--once", "--knob", "nope=1"); code != ui.ExitUsage || out != "" {
		t.Errorf("a knob that the plugin does not have: exit code %d: %s", code, out)
	}
}

// TestDevCommandWatches: each round is one line of JSON, knobs hold for each
// build, and who interrupts the loop gets exit code 0.
func TestDevCommandWatches(t *testing.T) {
	features.Proves(t, "N6")
	soak.Only(t, "builds a plugin in Go again and again")
	sessions := filepath.Join(t.TempDir(), "session.jsonl")
	save := func(text string) {
		t.Helper()
		if err := files.Write(sessions, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	save(longSession(40))
	ctx, interrupt := context.WithCancel(t.Context())
	r, w := io.Pipe()
	done, home := make(chan int, 1), newState(t)
	var errs bytes.Buffer
	go func() {
		done <- doMain(ctx, []string{"dev", fixture("notes2"), "--json", "--knob", "most=5",
			"--sessions", sessions, "--window", "2000"}, env{stdout: w, stderr: &errs, stateHome: home})
		w.Close()
	}()
	lines := bufio.NewReader(r)
	next := func() (round devloop.Round) {
		t.Helper()
		line, err := lines.ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(line, &round)
		}
		if err != nil || round.Error != nil {
			t.Fatalf("%v, %v: %s", err, round.Error, line)
		}
		return round
	}
	if round := next(); round.Number != 1 || round.Survey.Totals.Compacted != 1 ||
		round.Survey.Sessions[0].Report.Window != 2000 {
		t.Errorf("%+v", round)
	}
	save(longSession(60))
	if round := next(); round.Number != 2 || len(round.Change.Sessions) != 1 {
		t.Errorf("%+v", round)
	}
	interrupt()
	go func() { _, _ = io.Copy(io.Discard, lines) }() // a round that was on its way
	if code := <-done; code != ui.ExitOK {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
}
