package abi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/internal/strictjson"
)

// forEachSession runs f on every recorded session: the small one of this
// project, and the shared ones where they are there.
func forEachSession(t *testing.T, f func(t *testing.T, lines [][]byte, msgs []abi.Message)) {
	t.Helper()
	own, err := filepath.Glob(filepath.Join("testdata", "sessions", "*.jsonl"))
	if err != nil || len(own) == 0 {
		t.Fatalf("no sessions in testdata: %v", err)
	}
	sessions := shared.With(t, own)
	for _, path := range soak.Sample(sessions, 14, len(sessions)) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			lines, msgs := readSession(t, path)
			if len(msgs) == 0 {
				t.Fatal("no messages")
			}
			f(t, lines, msgs)
		})
	}
}

func readSession(t *testing.T, path string) (lines [][]byte, msgs []abi.Message) {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range bytes.Split(file, []byte("\n")) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := strictjson.Check(line, nil); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		var m abi.Message
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatalf("line %d: %v", i+1, err)
		}
		lines, msgs = append(lines, line), append(msgs, m)
	}
	return lines, msgs
}

// drawMessages draws a session in which everything that goes wrong in real
// logs is likely: few call ids, reused; results that are early, late, twice or
// missing; several calls in one message.
func drawMessages(t *rapid.T) []abi.Message {
	callID := rapid.SampledFrom([]string{"a", "b", "c", ""})
	kind := rapid.SampledFrom([]abi.Kind{"", "", "", abi.KindMeta, abi.KindSummary})
	n := rapid.IntRange(0, 24).Draw(t, "messages")
	msgs := make([]abi.Message, n)
	for i := range msgs {
		m := &msgs[i]
		m.ID = fmt.Sprintf("m%d", i)
		m.Role = rapid.SampledFrom([]abi.Role{
			abi.RoleSystem, abi.RoleUser, abi.RoleAssistant, abi.RoleAssistant, abi.RoleTool, abi.RoleTool,
		}).Draw(t, "role")
		switch m.Role {
		case abi.RoleAssistant:
			for _, id := range rapid.SliceOfN(callID, 0, 3).Draw(t, "calls") {
				m.ToolCalls = append(m.ToolCalls, abi.ToolCall{ID: id, Name: "t", Arguments: "{}"})
			}
		case abi.RoleTool:
			m.ToolCallID = callID.Draw(t, "result")
		case abi.RoleUser:
			m.Kind = kind.Draw(t, "kind")
		}
		if rapid.IntRange(0, 9).Draw(t, "keep") == 0 {
			m.Meta = abi.Meta{abi.MetaAlwaysKeep: json.RawMessage("true")}
		}
	}
	return msgs
}

// script builds messages from one word each: "sys", "user", "meta" (a user
// message with a kind), "say", "call:a,b", "res:a".
func script(words ...string) []abi.Message {
	msgs := make([]abi.Message, len(words))
	for i, w := range words {
		m := abi.Message{ID: fmt.Sprintf("m%d", i), Content: abi.Text(w)}
		verb, arg, _ := bytes.Cut([]byte(w), []byte(":"))
		switch string(verb) {
		case "sys":
			m.Role = abi.RoleSystem
		case "user":
			m.Role = abi.RoleUser
		case "meta":
			m.Role, m.Kind = abi.RoleUser, abi.KindMeta
		case "say":
			m.Role = abi.RoleAssistant
		case "call":
			m.Role = abi.RoleAssistant
			for id := range bytes.SplitSeq(arg, []byte(",")) {
				m.ToolCalls = append(m.ToolCalls, abi.ToolCall{ID: string(id), Name: "t"})
			}
		case "res":
			m.Role, m.ToolCallID = abi.RoleTool, string(arg)
		default:
			panic("script: " + w)
		}
		msgs[i] = m
	}
	return msgs
}
