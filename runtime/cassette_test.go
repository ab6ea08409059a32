package runtime_test

import (
	"context"
	"encoding/json"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"strings"
	"sync"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/runtime"
)

// cassette is the simplest cassette: it notes the first time, and answers with that
// from then on.
type cassette struct {
	mu      sync.Mutex
	answers map[string]abi.HostResponse
	asked   []string
}

func (c *cassette) Answer(op abi.Op, request json.RawMessage, live func() abi.HostResponse) abi.HostResponse {
	key := string(op) + string(request)
	c.mu.Lock()
	c.asked = append(c.asked, key)
	answer, ok := c.answers[key]
	c.mu.Unlock()
	if ok {
		return answer
	}
	answer = live() // may end the call
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[key] = answer
	return answer
}

// TestRecordExtismABI: requests over the calls of the Extism ABI go through
// the same cassette, in the same form, on both engines.
func TestRecordExtismABI(t *testing.T) {
	features.Proves(t, "N6")
	here := plugintest.Web(t)
	tape := &cassette{answers: make(map[string]abi.HostResponse)}
	for _, engine := range engines {
		o := runtime.PluginOptions{
			Engine: engineOf(engine), Manifest: plugintest.Asks(abi.CapHTTP), Secrets: map[string]string{"key": secret},
			Grants: runtime.Grants{HTTP: []string{here}}, Cassette: tape,
		}
		for range 2 {
			out, stats, err := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), wasmtest.ExtismFetch(here),
				o).CallRaw(context.Background(), pre, nil)
			if err != nil || string(out) != "POST [secret key] " || stats.HTTPRequests != 1 {
				t.Errorf("%s: %q, %v, %+v", engine, out, err, stats)
			}
		}
	}
	if len(tape.answers) != 1 || len(tape.asked) != 4 || strings.Contains(tape.asked[0], secret) ||
		!strings.Contains(tape.asked[0], `{{secret:key}}`) {
		t.Errorf("asked %q", tape.asked)
	}
	o := runtime.PluginOptions{Manifest: plugintest.Asks(abi.CapHTTP), Secrets: map[string]string{"key": secret},
		Grants: runtime.Grants{HTTP: []string{here}}, Cassette: refuses{}}
	_, _, err := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), wasmtest.ExtismFetch(here), o).CallRaw(
		context.Background(), pre, nil)
	plugintest.WantError(t, err, abi.CodeNotRecorded)
}

// refuses has nothing recorded.
type refuses struct{}

func (refuses) Answer(op abi.Op, _ json.RawMessage, _ func() abi.HostResponse) abi.HostResponse {
	return abi.HostResponse{Error: &abi.Error{Code: abi.CodeNotRecorded, Op: string(op), Message: "nothing is recorded"}}
}

// TestRecordLimits: what is replayed is counted, and held to the limits, as
// what is not.
func TestRecordLimits(t *testing.T) {
	features.Proves(t, "N6")
	tape := &cassette{answers: map[string]abi.HostResponse{
		`http{"url":"https://api.example.com/"}`: {Result: json.RawMessage(`{"status":200,"body":"hello"}`)},
		`model.complete{"prompt":"hi"}`: {
			Result: json.RawMessage(`{"text":"yes","input_tokens":7,"output_tokens":2}`)},
	}}
	o := runtime.PluginOptions{
		Manifest: plugintest.Asks(abi.CapHTTP, abi.CapModel), Cassette: tape,
		Grants: runtime.Grants{HTTP: []string{"api.example.com"}, Model: true},
		Limits: abi.Limits{HTTPRequests: 3, ModelCalls: 2},
	}
	for _, tc := range []struct{ op, request string }{{"http", `{"url":"https://api.example.com/"}`},
		{"model.complete", `{"prompt":"hi"}`}} {
		t.Run(tc.op, func(t *testing.T) {
			out, stats, err := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}),
				askOften(5, tc.op, tc.request), o).CallRaw(context.Background(), pre, nil)
			var resp abi.HostResponse
			if err != nil || json.Unmarshal(out, &resp) != nil || abi.CodeOf(asError(resp.Error)) != abi.CodeQuota {
				t.Errorf("%s, %v", out, err)
			}
			if tc.op == "http" && (stats.HTTPRequests != 3 || stats.HTTPBytes != 15) ||
				tc.op != "http" && (stats.Model == nil || stats.Model.Calls != 2 || stats.Model.InputTokens != 14) {
				t.Errorf("%+v", stats)
			}
		})
	}
	resp, _ := hostCall(t, runtime.Options{}, o, abi.OpHTTP, `{"url":"https://other.example.com/"}`, nil)
	if abi.CodeOf(asError(resp.Error)) != abi.CodeDenied {
		t.Errorf("an origin that is not granted: %+v", resp)
	}
}

// TestRefusalsAreTold: a host call that is refused is a warning that says what
// fixes it, once, whatever the guest makes of it.
func TestRefusalsAreTold(t *testing.T) {
	for _, tc := range []struct {
		o   runtime.PluginOptions
		op  string
		doc string
		fix string
	}{
		{runtime.PluginOptions{Manifest: plugintest.Asks(abi.CapKV)}, "kv.get", `{"key":"a"}`, "--grant kv"},
		{runtime.PluginOptions{Manifest: plugintest.Asks(abi.CapHTTP)}, "http", `{"url":"https://api.example.com"}`,
			"--grant http=api.example.com"},
		{runtime.PluginOptions{Manifest: plugintest.Asks(abi.CapHTTP),
			Grants: runtime.Grants{HTTP: []string{"a.example.com"}}}, "http", `{"url":"https://api.example.com"}`,
			"--grant http=https://api.example.com"},
		{runtime.PluginOptions{Limits: abi.Limits{HostCalls: 1}}, "log", `{"message":"x"}`, "--limit host_calls=N"},
	} {
		t.Run(tc.fix, func(t *testing.T) {
			_, stats, err := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), askOften(5, tc.op, tc.doc),
				tc.o).CallRaw(context.Background(), pre, nil)
			if err != nil || len(stats.Warnings) != 1 || !strings.Contains(stats.Warnings[0], tc.fix) ||
				!strings.HasPrefix(stats.Warnings[0], tc.op+": ") {
				t.Errorf("%v, %q", err, stats.Warnings)
			}
		})
	}
}
