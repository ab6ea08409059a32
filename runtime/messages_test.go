package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"reflect"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// lazy is a plugin that is given messages without their bodies.
var lazy = &abi.Manifest{Name: "lazy", ABI: abi.Version, Hooks: []abi.Hook{abi.HookPreCompact},
	Content: abi.ContentLazy}

// escaped is a text of n bytes that takes six times as many in JSON.
func escaped(n int) abi.Content { return abi.Text(strings.Repeat("\x01", n)) }

// Every field of a message crosses as it was.
func TestMessagesGetWhole(t *testing.T) {
	var parts abi.Content
	if err := json.Unmarshal([]byte(`[{"type":"text","text":"a","cache":{"x":1}},{"type":"image","data":"AAAA"},`+
		`{"type":"text","text":""}]`), &parts); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("ä\x02<\"", 20_000) // cut between pieces, at any byte of a rune
	calls := []abi.ToolCall{{ID: "c", Name: "n", Arguments: long}, {ID: "d", Name: "n"}}
	in := plugintest.HookInput()
	in.Messages = nil
	for i, m := range []abi.Message{
		{Role: abi.RoleUser, Content: abi.Text(long)},
		{Role: abi.RoleUser, Content: abi.Text("a" + long)},
		{Role: abi.RoleUser, Content: parts, Kind: abi.KindSynthetic, Timestamp: "2026-01-01T00:00:00Z"},
		{Role: abi.RoleAssistant, Content: abi.Parts(abi.TextPart(long), abi.TextPart("")), ToolCalls: calls},
		{Role: abi.RoleAssistant, Content: abi.Parts()},
		{Role: abi.RoleTool, ToolCallID: "c", Name: "n", IsError: true, Meta: abi.Meta{"x": json.RawMessage(`[1]`)},
			Raw: json.RawMessage(`{"y":"<"}`)},
	} {
		m.ID = fmt.Sprint("m", i)
		in.Messages = append(in.Messages, abi.InputMessage{Message: m, Tokens: i, Unit: i, Pinned: i == 1})
	}
	resp, _ := hostCall(t, runtime.Options{}, runtime.PluginOptions{}, abi.OpMessagesGet,
		`{"ids":["m0","m1","m2","m3","m4","m5"]}`, in)
	want, err := json.Marshal(abi.MessagesResponse{Messages: in.Messages})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := value(t, resp.Result), value(t, want); !reflect.DeepEqual(got, want) {
		t.Errorf("%d bytes, %s", len(resp.Result), resp.Result[:min(len(resp.Result), 500)])
	}
}

func value(t *testing.T, doc []byte) (v any) {
	t.Helper()
	if err := json.Unmarshal(doc, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// Messages are refused before the host has made anything of them that is
// longer than what the guest may have.
func TestMessagesGetBounds(t *testing.T) {
	for _, tc := range []struct {
		name   string
		ids    string
		length int // of m1, in bytes before escaping
		limits abi.Limits
		code   abi.Code
		why    string
	}{
		{"fits", `"m1","m2"`, 1 << 20, abi.Limits{}, "", "6 MiB once escaped"},
		{"twice", `"m1","m1"`, 1, abi.Limits{}, abi.CodeUsage, "each once, though there are as many messages"},
		{"memory", `"m1"`, 2 << 20, abi.Limits{MemoryMB: 8}, abi.CodeQuota, "12 MiB once escaped"},
		{"all memory", `"m1"`, 4<<20 - 1<<18, abi.Limits{MemoryMB: 24, HostCallBytes: 1 << 30}, abi.CodeQuota,
			"22.5 MiB, beside the guest's own 4"},
		{"crossing", `"m1"`, 1 << 20, abi.Limits{HostCallBytes: 1 << 20}, abi.CodeQuota, "6 MiB, of which one may cross"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := plugintest.HookInput()
			in.Messages[0].Content = escaped(tc.length)
			p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), wasmtest.Build(func(m *wasmtest.Module) {
				i32 := wasmtest.I32
				fail := m.Import(abi.ImportModule, "error_write", []wasmtest.Type{i32, i32}, nil)
				call := m.Import(abi.ImportModule, "host_call", []wasmtest.Type{i32, i32, i32, i32}, []wasmtest.Type{i32})
				read := m.Import(abi.ImportModule, "response_read", []wasmtest.Type{i32, i32, i32}, []wasmtest.Type{i32})
				request := `{"ids":[` + tc.ids + `]}`
				op, c := string(abi.OpMessagesGet), wasmtest.Const32
				m.Memory(64, -1, "memory")
				m.Data(0, []byte(op+request))
				// It ends with the beginning of what it was given as its error.
				m.Hook(pre, nil, c(0), c(int32(len(op))), c(int32(len(op))), c(int32(len(request))),
					wasmtest.Call(call), wasmtest.Drop,
					c(4096), c(0), c(40), wasmtest.Call(read), wasmtest.Drop, c(4096), c(40), wasmtest.Call(fail), c(1))
			}), runtime.PluginOptions{Limits: tc.limits, Manifest: lazy})
			_, stats, err := p.Call(context.Background(), in)
			want := `{"result":{"messages":[`
			if tc.code != "" {
				want = fmt.Sprintf(`{"error":{"code":%q`, tc.code)
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s: %s", err, want, tc.why)
			}
			if held := stats.PeakMemoryBytes - 4<<20; tc.code == "" && held < 6<<20 || tc.code != "" && held != 0 {
				t.Errorf("%d bytes of memory beside the guest's", held)
			}
		})
	}
}

// One request holds no more items than the ABI says, however short they are.
func TestRequestItems(t *testing.T) {
	list := func(item string, n int) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }
	model := runtime.PluginOptions{Manifest: plugintest.Asks(abi.CapModel), Grants: runtime.Grants{Model: true}}
	few, many := plugintest.HookInput(), plugintest.HookInput()
	for n := range abi.MaxRequestItems {
		many.Messages = append(many.Messages, abi.InputMessage{Message: abi.Message{ID: fmt.Sprint(n), Role: abi.RoleUser}})
	}
	for _, tc := range []struct {
		op      abi.Op
		request func(n int) string
		o       runtime.PluginOptions
		code    abi.Code
	}{
		{abi.OpTokensCount, func(n int) string { return `{"texts":[` + list(`""`, n) + `]}` }, runtime.PluginOptions{}, ""},
		{abi.OpMessagesGet, func(n int) string {
			return `{"ids":[` + list(`"m1"`, n) + `]}`
		}, runtime.PluginOptions{}, abi.CodeUsage},
		{abi.OpModelComplete, func(n int) string {
			return `{"prompt":"x","messages":[` + list(`{}`, n) + `]}`
		}, model, abi.CodeUsage},
	} {
		t.Run(string(tc.op), func(t *testing.T) {
			for n, want := range map[int]abi.Code{abi.MaxRequestItems: tc.code, abi.MaxRequestItems + 1: abi.CodeQuota} {
				t.Run(fmt.Sprintf("%d items", n), func(t *testing.T) {
					tc.o.Limits.TimeoutMS = 60_000
					in := few
					if tc.op == abi.OpMessagesGet {
						in = many
					}
					resp, _ := hostCall(t, runtime.Options{Counter: plugintest.Bytes{}, Model: &fakeModel{}}, tc.o,
						tc.op, tc.request(n), in)
					if got := abi.CodeOf(asError(resp.Error)); got != want {
						t.Errorf("%s of %d: code %q, want %q", tc.op, n, got, want)
					}
				})
			}
		})
	}
}
