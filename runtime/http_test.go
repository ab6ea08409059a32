package runtime_test

import (
	"context"
	"encoding/json"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// secret is what must not be seen outside of a request.
const secret = "hunter2-correct-horse"

func TestHTTP(t *testing.T) {
	here := plugintest.Web(t)
	granted := runtime.PluginOptions{
		Manifest: plugintest.Asks(abi.CapHTTP), Secrets: map[string]string{"key": secret},
		Grants: runtime.Grants{HTTP: []string{strings.TrimPrefix(here, "http://")}},
	}
	with := func(change func(*runtime.PluginOptions)) runtime.PluginOptions {
		o := granted
		change(&o)
		return o
	}
	for _, tc := range []struct {
		name, request string
		o             runtime.PluginOptions
		code          abi.Code
		want          abi.HTTPResponse
		why           string
	}{
		{"get", `{"url":"URL/"}`, granted, "", abi.HTTPResponse{Status: 418, Body: "GET  "}, "any status is an answer"},
		{"post", `{"method":"POST","url":"URL/","body":"text"}`, granted, "",
			abi.HTTPResponse{Status: 418, Body: "POST  text"}, ""},
		{"post bytes", `{"method":"POST","url":"URL/","body_base64":"aGk="}`, granted, "",
			abi.HTTPResponse{Status: 418, Body: "POST  hi"}, "bytes arrive as bytes"},
		{"get bytes", `{"url":"URL/bytes"}`, granted, "", abi.HTTPResponse{Status: 200, BodyBase64: []byte{0xff, 0}},
			"and come back as base64"},
		{"secret", `{"url":"URL/","headers":{"Authorization":"Bearer {{secret:key}}"}}`, granted, "",
			abi.HTTPResponse{Status: 418, Body: "GET Bearer [secret key] "}, "the server saw it, the guest does not"},
		{"no such secret", `{"url":"URL/","headers":{"Authorization":"{{secret:other}}"}}`, granted, abi.CodeDenied,
			abi.HTTPResponse{}, ""},
		{"not asked", `{"url":"URL/"}`, with(func(o *runtime.PluginOptions) {
			o.Manifest = plugintest.Asks()
		}), abi.CodeDenied, abi.HTTPResponse{}, "a grant alone gives nothing"},
		{"not granted", `{"url":"URL/"}`, with(func(o *runtime.PluginOptions) {
			o.Grants.HTTP = nil
		}), abi.CodeDenied, abi.HTTPResponse{}, "asking alone gives nothing"},
		{"another host", `{"url":"https://api.example.com/"}`, granted, abi.CodeDenied, abi.HTTPResponse{},
			"the operator's origins count, not the manifest's"},
		{"redirect", `{"url":"URL/away"}`, granted, abi.CodeDenied, abi.HTTPResponse{}, "metadata by a redirect"},
		{"two bodies", `{"url":"URL/","body":"a","body_base64":"aGk="}`, granted, abi.CodeUsage, abi.HTTPResponse{}, ""},
		{"no url", `{}`, granted, abi.CodeUsage, abi.HTTPResponse{}, ""},
		{"forbidden header", `{"url":"URL/","headers":{"Host":"a"}}`, granted, abi.CodeUsage, abi.HTTPResponse{}, ""},
		{"a header named as a field is", `{"url":"URL/","headers":{"Method":"a"}}`, granted, "",
			abi.HTTPResponse{Status: 418, Body: "GET  "}, ""},
		{"too long", `{"url":"URL/long"}`, with(func(o *runtime.PluginOptions) {
			o.Limits.HTTPBytes = 999
		}), abi.CodeQuota, abi.HTTPResponse{}, ""},
		{"no bytes left", `{"url":"URL/long"}`, with(func(o *runtime.PluginOptions) {
			o.Limits.HostCallBytes = 999
		}), abi.CodeQuota, abi.HTTPResponse{}, ""},
		{"too slow", `{"url":"URL/hang","timeout_ms":30}`, granted, abi.CodeDeadline, abi.HTTPResponse{},
			"the request's own time: the call goes on"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			resp, stats := hostCall(t, runtime.Options{}, tc.o, abi.OpHTTP, strings.ReplaceAll(tc.request, "URL", here), nil)
			if got := abi.CodeOf(asError(resp.Error)); got != tc.code {
				t.Fatalf("code %q, want %q: %v: %s", got, tc.code, resp.Error, tc.why)
			}
			doc, _ := json.Marshal(resp)
			if strings.Contains(string(doc), secret) {
				t.Errorf("the guest sees the secret: %s", doc)
			}
			if tc.code != "" {
				return
			}
			var got abi.HTTPResponse
			if err := json.Unmarshal(resp.Result, &got); err != nil || got.Status != tc.want.Status ||
				got.Body != tc.want.Body || string(got.BodyBase64) != string(tc.want.BodyBase64) {
				t.Errorf("%s, %v: %s", resp.Result, err, tc.why)
			}
			if stats.HTTPRequests != 1 || stats.HTTPBytes == 0 || stats.HostCallBytes == 0 || stats.HostCalls[abi.OpHTTP] != 1 {
				t.Errorf("counted %+v", stats)
			}
		})
	}
}

// TestHTTPRefused: the operator is told once that nobody listens, and at which address it was tried.
func TestHTTPRefused(t *testing.T) {
	if goruntime.GOOS == "windows" {
		t.Skip("the system has other words for it")
	}
	const at = "127.0.0.1:1" // where nobody listens
	o := runtime.PluginOptions{Manifest: plugintest.Asks(abi.CapHTTP), Grants: runtime.Grants{HTTP: []string{at}}}
	resp, stats := hostCall(t, runtime.Options{}, o, abi.OpHTTP, `{"url":"http://`+at+`/"}`, nil)
	if abi.CodeOf(asError(resp.Error)) != abi.CodeNetwork {
		t.Fatalf("%v", resp.Error)
	}
	if want := "http: http://" + at + ": connection refused at " + at; !slices.Equal(stats.Warnings, []string{want}) {
		t.Errorf("%q, want %q", stats.Warnings, want)
	}
}

// TestHTTPDeadline: a server that never answers does not end the call with it.
// The guest is told in time to answer without; so is one that asks again.
func TestHTTPDeadline(t *testing.T) {
	here := plugintest.Web(t)
	p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}),
		askOften(3, string(abi.OpHTTP), `{"url":"`+here+`/hang"}`), runtime.PluginOptions{
			Manifest: plugintest.Asks(abi.CapHTTP), Grants: runtime.Grants{HTTP: []string{here}},
			Limits: abi.Limits{TimeoutMS: 2000},
		})
	out, stats, err := p.CallRaw(context.Background(), pre, nil)
	var resp abi.HostResponse
	if err != nil || json.Unmarshal(out, &resp) != nil || abi.CodeOf(asError(resp.Error)) != abi.CodeDeadline ||
		stats.HostCalls[abi.OpHTTP] != 3 {
		t.Errorf("%s, %v, %+v", out, err, stats)
	}
	if stats.MS < 1000 {
		t.Errorf("given up after %.0f of 2,000 ms", stats.MS)
	}
}

func TestHTTPRequestsAreCounted(t *testing.T) {
	here := plugintest.Web(t)
	wasm := askOften(5, string(abi.OpHTTP), `{"url":"`+here+`/"}`)
	p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), wasm, runtime.PluginOptions{
		Manifest: plugintest.Asks(abi.CapHTTP), Grants: runtime.Grants{HTTP: []string{here}},
		Limits: abi.Limits{HTTPRequests: 3},
	})
	out, stats, err := p.CallRaw(context.Background(), pre, nil)
	var resp abi.HostResponse
	if err != nil || json.Unmarshal(out, &resp) != nil || abi.CodeOf(asError(resp.Error)) != abi.CodeQuota ||
		stats.HTTPRequests != 3 || stats.Limits.HTTPRequests != 3 || stats.HostCalls[abi.OpHTTP] != 5 {
		t.Errorf("%s, %v, %+v", out, err, stats)
	}
}

// TestHostCallBytes: what all host calls of a call carry is bounded, requests
// and responses together.
func TestHostCallBytes(t *testing.T) {
	const request = `{"level":"info","message":"hi"}`
	p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), askOften(10, string(abi.OpLog), request),
		runtime.PluginOptions{Limits: abi.Limits{HostCallBytes: 4*len(request) + 5}})
	out, stats, err := p.CallRaw(context.Background(), pre, nil)
	var resp abi.HostResponse
	if err != nil || json.Unmarshal(out, &resp) != nil || abi.CodeOf(asError(resp.Error)) != abi.CodeQuota {
		t.Errorf("%s, %v", out, err)
	}
	if len(stats.Logs) != 4 || stats.HostCallBytes != int64(4*len(request)) || stats.Limits.HostCallBytes != 4*len(
		request)+5 {
		t.Errorf("%d lines, %d bytes of %d", len(stats.Logs), stats.HostCallBytes, stats.Limits.HostCallBytes)
	}
}

// askOften is a guest that makes one host call n times and answers with the last
// response.
func askOften(n int32, op, request string) []byte {
	return wasmtest.Build(func(m *wasmtest.Module) {
		i32 := wasmtest.I32
		call := m.Import(abi.ImportModule, "host_call", []wasmtest.Type{i32, i32, i32, i32}, []wasmtest.Type{i32})
		read := m.Import(abi.ImportModule, "response_read", []wasmtest.Type{i32, i32, i32}, []wasmtest.Type{i32})
		write := m.OutputWrite()
		m.Memory(1, -1, "memory")
		m.Data(0, []byte(op+request))
		c, opLen := wasmtest.Const32, int32(len(op))
		m.Hook(pre, []wasmtest.Type{i32, i32},
			wasmtest.While(c(0), c(opLen), c(opLen), c(int32(len(request))), wasmtest.Call(call), wasmtest.Set(1),
				wasmtest.Get(0), c(1), wasmtest.Add32, wasmtest.Set(0), wasmtest.Get(0), c(n), wasmtest.LtU32),
			c(4096), c(4096), c(0), wasmtest.Get(1), wasmtest.Call(read), wasmtest.Call(write))
	})
}

// TestExtismHTTP: the same client behind the calls of the Extism ABI, on both
// engines.
func TestExtismHTTP(t *testing.T) {
	here := plugintest.Web(t)
	r := plugintest.New(t, runtime.Options{})
	for _, engine := range engines {
		o := runtime.PluginOptions{Engine: engineOf(engine), Manifest: plugintest.Asks(abi.CapHTTP),
			Secrets: map[string]string{"key": secret}, Grants: runtime.Grants{HTTP: []string{here}}}
		out, stats, err := plugintest.MustLoad(t, r, wasmtest.ExtismFetch(here), o).CallRaw(context.Background(), pre, nil)
		if err != nil || string(out) != "POST [secret key] " || stats.HTTPRequests != 1 ||
			stats.HostCalls[abi.OpHTTP] != 1 || stats.HostCallBytes == 0 {
			t.Errorf("%s: %q, %v, %+v", engine, out, err, stats)
		}
		_, _, err = plugintest.MustLoad(t, r, wasmtest.ExtismFetch("http://169.254.169.254/"), o).CallRaw(
			context.Background(), pre, nil)
		plugintest.WantError(t, err, abi.CodeDenied)
		_, _, err = plugintest.MustLoad(t, r, wasmtest.ExtismFetch(here+"/away"), o).CallRaw(context.Background(), pre, nil)
		plugintest.WantError(t, err, abi.CodeDenied)
		o.Grants = runtime.Grants{}
		_, _, err = plugintest.MustLoad(t, r, wasmtest.ExtismFetch(here), o).CallRaw(context.Background(), pre, nil)
		plugintest.WantError(t, err, abi.CodeDenied)
	}
}

func TestBadHTTPGrant(t *testing.T) {
	_, err := plugintest.Load(context.Background(), plugintest.New(t, runtime.Options{}), wasmtest.Nothing(pre),
		runtime.PluginOptions{Grants: runtime.Grants{HTTP: []string{"*.example.com"}}})
	plugintest.WantError(t, err, abi.CodeUsage)
}

// TestSecretsStayInside: nothing a plugin has to do with a secret shows its
// value, whatever it does with it.
func TestSecretsStayInside(t *testing.T) {
	here := plugintest.Web(t)
	o := runtime.PluginOptions{Manifest: plugintest.Asks(abi.CapHTTP), Secrets: map[string]string{"key": secret},
		Grants: runtime.Grants{HTTP: []string{here, "localhost:1"}}}
	for where, request := range map[string]string{
		"a header":     `{"url":"` + here + `/","headers":{"Authorization":"{{secret:key}}"}}`,
		"url and body": `{"url":"` + here + `/{{secret:key}}","body":"{{secret:key}}"}`,
		"nobody there": `{"url":"http://localhost:1/","headers":{"X":"{{secret:key}}"}}`,
		"not granted":  `{"url":"http://localhost:2/","headers":{"X":"{{secret:key}}"}}`,
		"the method":   `{"method":"{{secret:key}}","url":"` + here + `"}`,
	} {
		t.Run(where, func(t *testing.T) {
			resp, stats := hostCall(t, runtime.Options{}, o, abi.OpHTTP, request, nil)
			doc, _ := json.Marshal([]any{resp, stats})
			if strings.Contains(string(doc), secret) {
				t.Errorf("%s shows it: %s", request, doc)
			}
		})
	}
	p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), wasmtest.Nothing(pre), o)
	if doc, _ := json.Marshal(p.Info()); strings.Contains(string(doc), secret) {
		t.Errorf("the description shows it: %s", doc)
	}
}
