package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/turnend"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
)

// TestTurnEndCommand: where no server runs the command tells plugins of the end of a turn, and says what one wants; the
// fourth turn in a row in which it asks it is not listened to. Where none hears of turns the session is not read.
func TestTurnEndCommand(t *testing.T) {
	features.Proves(t, "T2", "O4")
	home, dir := filepath.Join(t.TempDir(), "state"), t.TempDir()
	session := filepath.Join(dir, "session.jsonl")
	module := wasmtest.WithManifest(wasmtest.Answer("turn_end", `{"request_compaction":{"instructions":"the ports"}}`),
		`{"name":"asks","version":"1.0.0","abi":1,"roles":["observer"],"hooks":["turn_end"],`+
			`"capabilities":{"compaction.request":{"reason":"it asks"}}}`)
	for name, text := range map[string]string{
		"asks.wasm": string(module),
		"config.yaml": "compaction: {observers: [asks]}\n" +
			"plugins: {asks: {path: asks.wasm, grants: {compaction.request: true}}}\n",
		"deaf.yaml": "compaction: {}\n",
		"session.jsonl": `{"id":"u1","role":"user","content":"Which port?"}` + "\n" +
			`{"id":"a1","role":"assistant","content":"8080."}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tell := func(config, file string) (ended turnend.Ended) {
		t.Helper()
		code, said := runOn(t, home, "turn-end", file, "--format", "neutral", "--session", "talk", "--config",
			filepath.Join(dir, config))
		if err := json.Unmarshal([]byte(said), &ended); code != 0 || err != nil {
			t.Fatalf("exit code %d, %v: %s", code, err, said)
		}
		return ended
	}
	for turn := range 5 {
		ended := tell("config.yaml", session)
		if !ended.Listening {
			t.Fatalf("turn %d: nobody listens", turn)
		}
		if asked := ended.Wanted != nil && ended.Wanted.Reason == "plugin"; asked != (turn < 3) {
			t.Errorf("turn %d: wanted %+v", turn, ended.Wanted)
		} else if asked && ended.Wanted.Instructions != "asks: the ports" {
			t.Errorf("turn %d: %q", turn, ended.Wanted.Instructions)
		}
	}
	if ended := tell("deaf.yaml", filepath.Join(dir, "none.jsonl")); ended.Listening || ended.Wanted != nil {
		t.Errorf("nobody hears of turns: %+v", ended)
	}
	code, said := runOn(t, home, "compact", session, "--force", "--reason", "boredom")
	if code != 2 || !strings.Contains(said, `--reason "boredom"`) {
		t.Errorf("exit code %d: %s", code, said)
	}
}

// TestAskedInACompactionCommand: what a plugin asks for in a compaction of the command is kept with the session, wanted
// at the end of its turn, and answered by the next compaction. Where nothing is recorded the report alone has it.
func TestAskedInACompactionCommand(t *testing.T) {
	features.Proves(t, "T2")
	home, dir := filepath.Join(t.TempDir(), "state"), t.TempDir()
	session := filepath.Join(dir, "session.jsonl")
	var talk strings.Builder
	for i := range 60 {
		fmt.Fprintf(&talk, `{"id":"u%d","role":"user","content":"Which port has service %d?"}`+"\n", i, i)
		fmt.Fprintf(&talk, `{"id":"a%d","role":"assistant","content":"It listens on %d, as config-%d.yaml says."}`+"\n",
			i, 8000+i, i)
	}
	module := wasmtest.WithManifest(wasmtest.Answer("post_compact", `{"request_compaction":{"instructions":"the ports"}}`),
		`{"name":"asks","version":"1.0.0","abi":1,"roles":["observer"],"hooks":["post_compact"],`+
			`"capabilities":{"compaction.request":{"reason":"it asks"}}}`)
	for name, text := range map[string]string{"asks.wasm": string(module), "session.jsonl": talk.String(),
		"config.yaml": "compaction: {observers: [asks]}\n" +
			"plugins: {asks: {path: asks.wasm, grants: {compaction.request: true}}}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	of := []string{session, "--format", "neutral", "--session", "talk", "--config", filepath.Join(dir, "config.yaml")}
	compacts := func(more ...string) string {
		t.Helper()
		code, said := runOn(t, home, slices.Concat([]string{"compact"}, of, []string{"--window", "1500", "--out",
			filepath.Join(dir, "out.jsonl")}, more)...)
		if code != 0 || !strings.Contains(said, "superseded") {
			t.Fatalf("exit code %d: %s", code, said)
		}
		return said
	}
	wanted := func() *turnend.Wanted {
		t.Helper()
		code, said := runOn(t, home, append([]string{"turn-end"}, of...)...)
		var ended turnend.Ended
		if err := json.Unmarshal([]byte(said), &ended); code != 0 || err != nil || !ended.Listening {
			t.Fatalf("exit code %d, %v: %s", code, err, said)
		}
		return ended.Wanted
	}
	const kept = "is kept with session talk"
	if said := compacts("--no-record"); strings.Contains(said, kept) || !strings.Contains(said, "by asks: the ports") {
		t.Errorf("%s", said)
	}
	if w := wanted(); w != nil {
		t.Errorf("wanted %+v", w)
	}
	if said := compacts(); !strings.Contains(said, kept) || !strings.Contains(said, "by asks: the ports") {
		t.Errorf("%s", said)
	}
	if w := wanted(); w == nil || w.Reason != "plugin" || w.Instructions != "asks: the ports" {
		t.Errorf("wanted %+v", w)
	}
	if _, said := runOn(t, home, "sessions", "show", "talk"); !strings.Contains(said, "a compaction, by asks: the ports") {
		t.Errorf("%s", said)
	}
	for _, reason := range []string{"plugin", "agent"} {
		if _, err := os.Stat("/dev/full"); err != nil {
			break // no compaction fails that easily
		}
		code, said := runOn(t, home, slices.Concat([]string{"compact"}, of, []string{"--force", "--reason", reason, "--out",
			"/dev/full"})...)
		if code != 1 || !strings.Contains(said, "no space left") {
			t.Errorf("where nothing can be written: exit code %d: %s", code, said)
		}
		if w := wanted(); w == nil || w.Instructions != "asks: the ports" {
			t.Errorf("behind one that failed: %+v", w)
		}
	}
	if said := compacts("--force", "--reason", "plugin"); !strings.Contains(said, "a plugin asked for this compaction") {
		t.Errorf("%s", said)
	}
	if w := wanted(); w != nil {
		t.Errorf("wanted behind it %+v", w)
	}
}
