package cassette_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/modeltest"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/kit/cassette"
	"github.com/kagewasm/kagewasm/models"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/runtime/extism"
)

const secret = "hunter2-correct-horse"

// manifest asks for all that is recorded.
var manifest = &abi.Manifest{
	Name: "asks", Version: "1", ABI: abi.Version, Hooks: []abi.Hook{abi.HookPreCompact}, Secrets: []string{"key"},
	Capabilities: map[abi.Capability]abi.Request{
		abi.CapHTTP: {Reason: "to ask", Hosts: []string{"api.example.com"}}, abi.CapModel: {Reason: "to ask"},
	},
}

// answer makes one host call from inside the sandbox.
func answer(t *testing.T, o runtime.Options, p runtime.PluginOptions, op abi.Op, request string) (abi.HostResponse,
	abi.CallStats) {
	t.Helper()
	r, err := runtime.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close(t.Context())
	p.Manifest = manifest
	loaded, err := plugintest.Load(t.Context(), r, wasmtest.HostCall("pre_compact", string(op), request), p)
	if err != nil {
		t.Fatal(err)
	}
	out, stats, err := loaded.CallRaw(t.Context(), "pre_compact", nil)
	if err != nil {
		t.Fatal(err)
	}
	var resp abi.HostResponse
	if err := json.Unmarshal(out, &resp); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	return resp, stats
}

// saved writes a recording and reads it again.
func saved(t *testing.T, r *cassette.Recorder) (*cassette.Player, string) {
	t.Helper()
	doc, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return read(t, string(doc)), string(doc)
}

func read(t *testing.T, doc string) *cassette.Player {
	t.Helper()
	path := filepath.Join(t.TempDir(), "calls.jsonl")
	if err := os.WriteFile(path, []byte(doc), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := cassette.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRecordHTTP: what a server on loopback answered is answered again when
// the server is gone, on both engines; the recording has no secret in it.
func TestRecordHTTP(t *testing.T) {
	features.Proves(t, "N6")
	for _, engine := range []runtime.Engine{nil, extism.Engine{}} {
		t.Run(fmt.Sprintf("%T", engine), func(t *testing.T) {
			asked := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked++
				body, _ := io.ReadAll(r.Body)
				fmt.Fprintf(w, "%d <%s> %s", asked, body, r.Header.Get("Authorization"))
			}))
			request := `{"method":"POST","url":"` + server.URL +
				`/q","headers":{"Authorization":"Bearer {{secret:key}}"},"body":"a<b"}`
			p := runtime.PluginOptions{Engine: engine, Grants: runtime.Grants{HTTP: []string{server.URL}},
				Secrets: map[string]string{"key": secret}}
			recorder := new(cassette.Recorder)
			p.Cassette = recorder
			var live []string
			for range 2 {
				resp, _ := answer(t, runtime.Options{}, p, abi.OpHTTP, request)
				live = append(live, string(resp.Result))
			}
			server.Close()
			player, doc := saved(t, recorder)
			if strings.Contains(doc, secret) || !strings.Contains(doc, `"Authorization":"Bearer {{secret:key}}"`) ||
				!strings.Contains(doc, "1 <a<b> Bearer [secret key]") {
				t.Errorf("the recording is\n%s", doc)
			}
			p.Cassette, p.Secrets = player, map[string]string{"key": "another"}
			for i, want := range []string{live[0], live[1], live[1]} {
				t.Run(fmt.Sprintf("answer %d", i), func(t *testing.T) {
					resp, stats := answer(t, runtime.Options{}, p, abi.OpHTTP, request)
					if string(resp.Result) != want || resp.Error != nil {
						t.Errorf("answer %d: %s %v, recorded %s", i, resp.Result, resp.Error, want)
					}
					if stats.HTTPRequests != 1 || stats.HTTPBytes == 0 {
						t.Errorf("not counted: %+v", stats)
					}
				})
			}
			if asked != 2 {
				t.Errorf("%d requests reached the server", asked)
			}
			p.Grants.HTTP = nil
			if resp, _ := answer(t, runtime.Options{}, p, abi.OpHTTP, request); resp.Error == nil ||
				resp.Error.Code != abi.CodeDenied {
				t.Errorf("without a grant: %+v", resp)
			}
			p.Grants.HTTP, p.Limits.HTTPBytes = []string{server.URL}, 5
			if resp, _ := answer(t, runtime.Options{}, p, abi.OpHTTP, request); resp.Error == nil ||
				resp.Error.Code != abi.CodeQuota {
				t.Errorf("over the limit: %+v", resp)
			}
		})
	}
}

// TestRecordFailure: that nobody listens is an answer of the world too.
func TestRecordFailure(t *testing.T) {
	features.Proves(t, "N6")
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	p := runtime.PluginOptions{Grants: runtime.Grants{HTTP: []string{server.URL}}}
	recorder := new(cassette.Recorder)
	p.Cassette = recorder
	request := `{"url":"` + server.URL + `"}`
	live, _ := answer(t, runtime.Options{}, p, abi.OpHTTP, request)
	denied, _ := answer(t, runtime.Options{}, p, abi.OpHTTP, `{"url":"https://api.example.com"}`)
	if live.Error == nil || live.Error.Code != abi.CodeNetwork || denied.Error == nil ||
		denied.Error.Code != abi.CodeDenied {
		t.Fatalf("%+v %+v", live, denied)
	}
	player, doc := saved(t, recorder)
	if strings.Count(doc, "\n") != 1 {
		t.Errorf("what was denied is no answer of the world:\n%s", doc)
	}
	p.Cassette = player
	if again, _ := answer(t, runtime.Options{}, p, abi.OpHTTP, request); again.Error == nil ||
		*again.Error != *live.Error {
		t.Errorf("%+v, recorded %+v", again.Error, live.Error)
	}
}

// TestRecordModel: completions are replayed where the host has no model.
func TestRecordModel(t *testing.T) {
	features.Proves(t, "N6")
	server := modeltest.New(t, modeltest.Answer{Text: "It is <blue>.", Input: 40, Output: 3})
	model, err := models.New(models.Config{Provider: "anthropic", Model: "m", BaseURL: server.URL(modeltest.Anthropic),
		Key: "sk-ant-test"})
	if err != nil {
		t.Fatal(err)
	}
	const request = `{"system":"Be brief.","prompt":"Which colour?"}`
	p := runtime.PluginOptions{Grants: runtime.Grants{Model: true}}
	recorder := new(cassette.Recorder)
	p.Cassette = recorder
	live, liveStats := answer(t, runtime.Options{Model: model}, p, abi.OpModelComplete, request)
	if live.Error != nil {
		t.Fatal(live.Error)
	}
	player, doc := saved(t, recorder)
	if strings.Contains(doc, "sk-ant") || !strings.Contains(doc, "It is <blue>.") {
		t.Errorf("the recording is\n%s", doc)
	}
	p.Cassette = player
	again, stats := answer(t, runtime.Options{}, p, abi.OpModelComplete,
		`{"prompt":"Which colour?",  "system":"Be brief."}`)
	if string(again.Result) != string(live.Result) || *stats.Model != *liveStats.Model || len(server.Requests()) != 1 {
		t.Errorf("%s, recorded %s; %+v, %d requests", again.Result, live.Result, stats.Model, len(server.Requests()))
	}
	if resp, _ := answer(t, runtime.Options{}, runtime.PluginOptions{Cassette: player}, abi.OpModelComplete,
		request); resp.Error == nil || resp.Error.Code != abi.CodeDenied {
		t.Errorf("without a grant: %+v", resp)
	}
	p.Limits.HostCallBytes = 100
	if resp, _ := answer(t, runtime.Options{}, p, abi.OpModelComplete, request); resp.Error == nil ||
		resp.Error.Code != abi.CodeQuota {
		t.Errorf("over the limit: %+v", resp)
	}
}

// TestRecordMiss: a call that was not recorded is an error of its own, and
// says what it differs in from the nearest one.
func TestRecordMiss(t *testing.T) {
	features.Proves(t, "N6")
	player := read(t, `{"op":"http","request":{"url":"https://api.example.com/a","method":"PUT"},"response":{"status":200}}

{"op":"http","request":{"url":"https://api.example.com/b","headers":{"Accept":"text/plain"}},"response":{"status":200}}
`)
	p := runtime.PluginOptions{Grants: runtime.Grants{HTTP: []string{"api.example.com"}, Model: true}, Cassette: player}
	resp, stats := answer(t, runtime.Options{}, p, abi.OpHTTP,
		`{"url":"https://api.example.com/b","headers":{"Accept":"text/html"}}`)
	if resp.Error == nil || resp.Error.Code != abi.CodeNotRecorded || len(stats.Warnings) != 1 {
		t.Fatalf("%+v, %v", resp, stats.Warnings)
	}
	for _, want := range []string{"line 3", `headers.Accept is recorded as "text/plain", asked was "text/html"`} {
		t.Run(fmt.Sprintf("%.40q", want), func(t *testing.T) {
			if !strings.Contains(resp.Error.Message, want) || !strings.Contains(stats.Warnings[0], want) {
				t.Errorf("%q is not in %q, %q", want, resp.Error.Message, stats.Warnings)
			}
		})
	}
	if resp, _ = answer(t, runtime.Options{}, p, abi.OpModelComplete, `{"prompt":"x"}`); resp.Error == nil ||
		!strings.Contains(resp.Error.Message, "has none of this op") {
		t.Errorf("%+v", resp)
	}
	if missed := player.Missed(); len(missed) != 2 || missed[0].Line != 3 || missed[1].Line != 0 {
		t.Errorf("%+v", missed)
	}
	if got := strings.Join(player.Origins(), " "); got != "https://api.example.com" || !player.Ops()[abi.OpHTTP] {
		t.Errorf("origins %s", got)
	}
}

// TestRecordMended: what a person wrote into the file wrongly is said by line.
func TestRecordMended(t *testing.T) {
	features.Proves(t, "N6")
	for doc, says := range map[string]string{
		`{"op":"kv.get","request":{"key":"a"},"response":{}}`:                       "http and model.complete",
		`{"op":"http","request":{"url":"x"}}`:                                       "give a response or an error",
		`{"op":"http","response":{"status":200}}`:                                   "no request",
		`{"op":"http","request":{"url":"x"},"reply":{}}`:                            "reply",
		`{"op":"http","request":{"url":"x"},"response":{"status":200},"error":{"co`: "does not end",
	} {
		t.Run(says, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "calls.jsonl")
			if err := os.WriteFile(path, []byte("\n"+doc), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := cassette.Read(path)
			if abi.CodeOf(err) != abi.CodeBadInput || !strings.Contains(err.Error(), path+":2: ") ||
				!strings.Contains(err.Error(), says) || abi.AsError(err).Hint == "" {
				t.Errorf("%s: %v", doc, err)
			}
		})
	}
	if _, err := cassette.Read("nowhere.jsonl"); abi.CodeOf(err) != abi.CodeBadInput ||
		!strings.Contains(abi.AsError(err).Hint, "--record") {
		t.Errorf("no file: %v", err)
	}
	player := read(t, `{"op":"http","request":{"url":"https://api.example.com"},"response":{"state":200}}`)
	p := runtime.PluginOptions{Grants: runtime.Grants{HTTP: []string{"api.example.com"}}, Cassette: player}
	if resp, _ := answer(t, runtime.Options{}, p, abi.OpHTTP, `{"url":"https://api.example.com"}`); resp.Error == nil ||
		resp.Error.Code != abi.CodeBadInput || !strings.Contains(resp.Error.Message, "state") {
		t.Errorf("%+v", resp)
	}
}

// TestRecordShort: of equal answers at the end one is recorded; a date alone
// makes no difference.
func TestRecordShort(t *testing.T) {
	features.Proves(t, "N6")
	r := new(cassette.Recorder)
	for _, response := range []string{
		`{"status":200,"headers":{"date":"1"},"body":"a"}`, `{"status":200,"headers":{"date":"2"},"body":"b"}`,
		`{"status":200,"headers":{"date":"3"},"body":"a"}`, `{"status":200,"headers":{"date":"4"},"body":"a"}`,
		`{"status":200,"body":"a"}`,
	} {
		r.Answer(abi.OpHTTP, json.RawMessage(`{"url":"https://api.example.com"}`), func() abi.HostResponse {
			return abi.HostResponse{Result: json.RawMessage(response)}
		})
	}
	doc, err := r.Encode()
	if lines := strings.Split(string(doc), "\n"); err != nil || len(lines) != 4 || lines[3] != "" ||
		!strings.Contains(lines[2], `"date":"3"`) {
		t.Errorf("%v, %s", err, doc)
	}
}
