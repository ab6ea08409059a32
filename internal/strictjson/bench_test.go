package strictjson_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/strictjson"
)

// inputDocument is an Input of about n bytes, shaped like a coding session:
// short prose, tool calls with JSON arguments, long tool output.
func inputDocument(tb testing.TB, n int) []byte {
	tb.Helper()
	window := 200_000
	in := abi.Input{
		ABI: abi.Version, Call: "c1", Time: "2026-01-02T03:04:05Z", Hook: abi.HookPreCompact,
		Session: abi.Session{ID: "s1", Model: "m", ContextWindow: &window},
		Trigger: abi.Trigger{Reason: abi.TriggerThreshold, Tokens: 1, Fraction: .9, Upper: .85, Lower: .6},
	}
	output := strings.Repeat("func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {\n\tif err := "+
		"s.do(r); err != nil {\n\t\tlog.Printf(\"%q\", err)\n\t}\n}\n", 12)
	for size, i := 0, 0; size < n; i++ {
		call := fmt.Sprintf("call_%d", i)
		for _, m := range []abi.Message{
			{Role: abi.RoleAssistant, Content: abi.Text("Let me look at the handler first."), ToolCalls: []abi.ToolCall{
				{ID: call, Name: "read", Arguments: `{"path":"internal/server/server.go","limit":400}`}}},
			{Role: abi.RoleTool, ToolCallID: call, Name: "read", Content: abi.Text(output)},
		} {
			m.ID = fmt.Sprintf("m%05d", len(in.Messages))
			in.Messages = append(in.Messages, abi.InputMessage{Message: m, Tokens: 400, Unit: i})
		}
		size += len(output) + 600
	}
	doc, err := json.Marshal(in)
	if err != nil {
		tb.Fatal(err)
	}
	return doc
}

// BenchmarkCheckJSON measures the check beside json.Valid on the same
// documents: the large one is bound by its text, the small one by its keys.
func BenchmarkCheckJSON(b *testing.B) {
	known := strictjson.Keys(abi.Input{})
	for _, size := range []int{1 << 20, 1} {
		doc := inputDocument(b, size)
		b.Run(fmt.Sprintf("check/%dKB", len(doc)>>10), func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				if err := strictjson.Check(doc, known); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("valid/%dKB", len(doc)>>10), func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				if !json.Valid(doc) {
					b.Fatal("not valid")
				}
			}
		})
	}
}
