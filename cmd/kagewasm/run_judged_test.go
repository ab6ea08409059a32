package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
)

// TestRunSaysWhatIsRefused: run says of an answer to a session what a compaction would refuse it for, such as ids that
// the session has not, and nothing of one that it takes.
func TestRunSaysWhatIsRefused(t *testing.T) {
	home, dir := filepath.Join(t.TempDir(), "state"), t.TempDir()
	session := filepath.Join(shared.Root(t), "testdata", "demo.jsonl")
	for _, c := range []struct {
		name, answer string
		refused      bool
	}{
		{"forged", `{"messages":[{"id":"msg_nobody","role":"assistant","content":"It is done."}],"superseded":["msg_no"]}`, true},
		{"short", `{"superseded":["nobody"],"summary":"What went."}`, true},
		{"silent", `null`, false},
	} {
		module := wasmtest.WithManifest(wasmtest.Answer("pre_compact", c.answer),
			`{"name":"`+c.name+`","version":"1.0.0","abi":1,"roles":["compactor"],"hooks":["pre_compact"]}`)
		path := filepath.Join(dir, c.name+".wasm")
		if err := os.WriteFile(path, module, 0o600); err != nil {
			t.Fatal(err)
		}
		code, said := runOn(t, home, "run", path, "pre_compact", "--session", session)
		if refused := strings.Contains(said, "a compaction refuses this answer ("); code != 0 || refused != c.refused {
			t.Errorf("%s: exit code %d, refused %v: %s", c.name, code, refused, said)
		}
	}
}

// TestRunJudgesWhatADocumentIsAnswered: of a document too run says what a compaction of its messages would not take: a
// list with ids that it has not, half of a call and its result, too much, or what is no plugin's to say.
func TestRunJudgesWhatADocumentIsAnswered(t *testing.T) {
	home, dir := filepath.Join(t.TempDir(), "state"), t.TempDir()
	input := filepath.Join(dir, "input.json")
	const long = "The lease table is read by three programs, and each of them writes it again at once. "
	doc := `{"abi":1,"call":"c","hook":"pre_compact","session":{"id":"s"},"trigger":{"reason":"manual"},
		"budget":{"target_tokens":120,"summary_tokens":50},"messages":[
		{"id":"m1","role":"user","content":"Mend it.","tokens":10,"pinned":true},
		{"id":"m2","role":"assistant","content":"","tool_calls":[{"id":"c","name":"read","arguments":"{}"}],"tokens":10},
		{"id":"m3","role":"tool","tool_call_id":"c","content":"` + strings.Repeat(long, 20) + `","tokens":300},
		{"id":"m4","role":"user","content":"Go on.","tokens":5,"pinned":true}]}`
	if err := os.WriteFile(input, []byte(doc), 0o600); err != nil {
		t.Fatal(err)
	}
	const summary = `{"role":"user","kind":"compaction_summary","content":"It was read."}`
	for _, c := range []struct{ name, roles, answer, says string }{
		{"sound", `["compactor"]`, `{"messages":[{"ref":"m1"},` + summary + `,{"ref":"m4"}],"superseded":["m2","m3"]}`, ""},
		{"forged", `["compactor"]`, `{"messages":[{"ref":"m1"},{"ref":"m9"},{"ref":"m4"}]}`, "m9"},
		{"half", `["compactor"]`, `{"messages":[{"ref":"m1"},{"ref":"m2"},{"ref":"m4"}]}`, "m3"},
		{"unpinned", `["compactor"]`, `{"messages":[` + summary + `,{"ref":"m4"}]}`, "m1"},
		{"everything", `["compactor"]`, `{"messages":[{"ref":"m1"},{"ref":"m2"},{"ref":"m3"},{"ref":"m4"}]}`, "325 tokens"},
		{"observer", `["observer"]`, `{"messages":[{"ref":"m1"},{"ref":"m4"}]}`, "an observer returned messages"},
		{"silent", `["compactor"]`, `null`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			module := wasmtest.WithManifest(wasmtest.Answer("pre_compact", c.answer),
				`{"name":"`+c.name+`","version":"1.0.0","abi":1,"roles":`+c.roles+`,"hooks":["pre_compact"]}`)
			path := filepath.Join(dir, c.name+".wasm")
			if err := os.WriteFile(path, module, 0o600); err != nil {
				t.Fatal(err)
			}
			code, said := runOn(t, home, "run", path, "pre_compact", "-i", input)
			_, judged, warned := strings.Cut(said, "would not take all of this answer: ")
			if code != 0 || warned != (c.says != "") || !strings.Contains(judged, c.says) {
				t.Errorf("exit code %d, want %q: %s", code, c.says, said)
			}
		})
	}
}

// TestStateOfGroups: breaker, memory and audit know --state by themselves too, and do then what they are asked for
// most.
func TestStateOfGroups(t *testing.T) {
	home := filepath.Join(t.TempDir(), "state")
	for _, group := range []string{"breaker", "memory", "audit"} {
		if code, said := runOn(t, home, group); strings.Contains(said, "unknown flag") || !strings.Contains(said, home) {
			t.Errorf("%s --state: exit code %d: %s", group, code, said)
		}
	}
}

// TestDeleteSaysWhatStays: who deletes a session is told that what plugins keep of it stays, where they keep anything.
func TestDeleteSaysWhatStays(t *testing.T) {
	home, dir := filepath.Join(t.TempDir(), "state"), t.TempDir()
	module := wasmtest.WithManifest(wasmtest.Answer("pre_compact", `{"retain":["The port is 8080."]}`),
		`{"name":"keeps","version":"1.0.0","abi":1,"roles":["observer"],"hooks":["pre_compact"]}`)
	path := filepath.Join(dir, "keeps.wasm")
	if err := os.WriteFile(path, module, 0o600); err != nil {
		t.Fatal(err)
	}
	session := filepath.Join(shared.Root(t), "testdata", "demo.jsonl")
	for _, c := range []struct {
		flags []string
		stays bool
	}{{nil, false}, {[]string{"--plugin", path}, true}} {
		args := append([]string{"compact", session, "--force", "--no-config", "--session", "talk", "--out",
			filepath.Join(dir, "out.jsonl")}, c.flags...)
		if code, said := runOn(t, home, args...); code != 0 {
			t.Fatalf("exit code %d: %s", code, said)
		}
		code, said := runOn(t, home, "sessions", "delete", "talk")
		if stays := strings.Contains(said, "what plugins keep of them stays"); code != 0 || stays != c.stays {
			t.Errorf("exit code %d, stays %v: %s", code, stays, said)
		}
	}
}
