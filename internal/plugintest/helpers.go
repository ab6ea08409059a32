package plugintest

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lineage"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/store/kv"
)

// New makes a runtime that is closed when the test ends.
func New(tb testing.TB, o runtime.Options) *runtime.Runtime {
	tb.Helper()
	r, err := runtime.New(context.Background(), o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := r.Close(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return r
}

// MustLoad loads a module that has to load.
func MustLoad(tb testing.TB, r *runtime.Runtime, wasm []byte, o runtime.PluginOptions) *runtime.Plugin {
	tb.Helper()
	p, err := Load(context.Background(), r, wasm, o)
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// WantError checks the code, and that the error says who and where.
func WantError(tb testing.TB, err error, code abi.Code) *abi.Error {
	tb.Helper()
	if abi.CodeOf(err) != code || err == nil {
		tb.Fatalf("code %q, want %q: %v", abi.CodeOf(err), code, err)
	}
	e := abi.AsError(err)
	if e.Message == "" || e.Op == "" {
		tb.Errorf("an error that does not say what or where: %+v", e)
	}
	return e
}

// Await waits for what another goroutine does.
func Await(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !done(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

// SDKDir is the folder of Extism's SDK, which brings plugins of many languages.
func SDKDir(tb testing.TB) string {
	tb.Helper()
	dir, err := sdkDir()
	if err != nil {
		tb.Fatal(err)
	}
	return dir
}

var sdkDir = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/extism/go-sdk").Output()
	return strings.TrimSpace(string(out)), err
})

// HookInput is the input of pre_compact for a session of two messages.
func HookInput() *abi.Input {
	read := []abi.ToolCall{{ID: "c", Name: "read", Arguments: `{"path":"a"}`}}
	return &abi.Input{Hook: abi.HookPreCompact, Messages: []abi.InputMessage{
		{Message: abi.Message{ID: "m1", Role: abi.RoleUser, Content: abi.Text("fix <it>")}, Tokens: 3, Pinned: true},
		{Message: abi.Message{ID: "m2", Role: abi.RoleAssistant, ToolCalls: read}, Unit: 1},
	}}
}

// Asks is a manifest that asks for these capabilities, and for the secret key.
func Asks(caps ...abi.Capability) *abi.Manifest {
	m := &abi.Manifest{Name: "asks", ABI: 1, Capabilities: map[abi.Capability]abi.Request{}, Secrets: []string{"key"}}
	for _, c := range caps {
		m.Capabilities[c] = abi.Request{Reason: "to test it", Hosts: []string{"api.example.com"}}
	}
	return m
}

// AsksAll is a manifest that asks for what stays on this machine.
var AsksAll = &abi.Manifest{Name: "asks", ABI: 1, Capabilities: map[abi.Capability]abi.Request{
	abi.CapKV: {Reason: "to remember"}, abi.CapCompactionRequest: {Reason: "to tidy up"},
}}

// KV is a storage in memory: "ns key" -> value. Every call returns Fail.
type KV struct {
	mu   sync.Mutex
	Data map[string]string
	Fail error
}

// Owned is a storage with data that the first module of a plugin's name may claim.
func Owned(plugin string, data map[string]string) *KV {
	ctx, records := context.Background(), kv.NewMemory(kv.Options{})
	if err := lineage.Offer(ctx, records, plugin); err != nil {
		panic(err)
	}
	doc, _, _ := records.Get(ctx, lineage.Space, lineage.Key(plugin)) // as it was stored
	data[lineage.Space+" "+lineage.Key(plugin)] = doc
	return &KV{Data: data}
}

// Get implements abi.KV.
func (k *KV) Get(_ context.Context, ns, key string) (string, bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	v, ok := k.Data[ns+" "+key]
	return v, ok, k.Fail
}

// Set implements abi.KV.
func (k *KV) Set(_ context.Context, ns, key, value string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.Data[ns+" "+key] = value
	return k.Fail
}

// Delete implements abi.KV.
func (k *KV) Delete(_ context.Context, ns, key string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.Data, ns+" "+key)
	return k.Fail
}

// List implements abi.KV.
func (k *KV) List(_ context.Context, ns, prefix string) ([]string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var keys []string
	for _, key := range slices.Sorted(maps.Keys(k.Data)) {
		if rest, ok := strings.CutPrefix(key, ns+" "); ok && strings.HasPrefix(rest, prefix) {
			keys = append(keys, rest)
		}
	}
	return keys, k.Fail
}

// Bytes counts bytes as tokens.
type Bytes struct{}

// Text implements abi.Counter.
func (Bytes) Text(s string) int { return len(s) }

// Message implements abi.Counter.
func (Bytes) Message(m *abi.Message) int { return len(m.Text()) }

// Web is a server on loopback that says what it was sent.
func Web(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/bytes":
			w.Write([]byte{0xff, 0})
		case "/hang":
			<-r.Context().Done()
		case "/away":
			http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
		case "/long":
			w.Write([]byte(strings.Repeat("x", 1000)))
		default:
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("X-Echo", r.Header.Get("Authorization"))
			w.WriteHeader(http.StatusTeapot)
			io.WriteString(w, r.Method+" "+r.Header.Get("Authorization")+" "+string(body))
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}
