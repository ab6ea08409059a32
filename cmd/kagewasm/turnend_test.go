package main

import (
	"encoding/json"
	"os"
	"path/filepath"
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
