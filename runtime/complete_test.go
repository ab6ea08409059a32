package runtime_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
	"github.com/kagewasm/kagewasm/runtime"
)

// fakeModel answers with what it was asked.
type fakeModel struct {
	asked []abi.ModelRequest
	err   error
	hang  bool
}

func (m *fakeModel) Complete(ctx context.Context, r abi.ModelRequest) (abi.ModelResponse, error) {
	m.asked = append(m.asked, r)
	if m.hang {
		<-ctx.Done()
		return abi.ModelResponse{}, ctx.Err()
	}
	return abi.ModelResponse{Text: "about " + r.Prompt, InputTokens: 7, OutputTokens: 2, Cost: 0.5}, m.err
}

func TestModelComplete(t *testing.T) {
	granted := runtime.PluginOptions{Manifest: plugintest.Asks(abi.CapModel), Grants: runtime.Grants{Model: true},
		Secrets: map[string]string{"key": secret}}
	for _, tc := range []struct {
		name, request string
		o             runtime.PluginOptions
		model         *fakeModel
		code          abi.Code
		why           string
	}{
		{"prompt", `{"prompt":"x","system":"s","max_tokens":5,"model":"small"}`, granted, &fakeModel{}, "", ""},
		{"messages", `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]}`, granted,
			&fakeModel{}, "", ""},
		{"not asked", `{"prompt":"x"}`, runtime.PluginOptions{Manifest: plugintest.Asks(),
			Grants: runtime.Grants{Model: true}}, &fakeModel{}, abi.CodeDenied, ""},
		{"not granted", `{"prompt":"x"}`, runtime.PluginOptions{Manifest: plugintest.Asks(abi.CapModel)}, &fakeModel{},
			abi.CodeDenied, ""},
		{"no model", `{"prompt":"x"}`, granted, nil, abi.CodeDenied, "the host has none"},
		{"nothing asked", `{}`, granted, &fakeModel{}, abi.CodeUsage, ""},
		{"both", `{"prompt":"x","messages":[{"role":"user","content":"x"}]}`, granted, &fakeModel{}, abi.CodeUsage, ""},
		{"a role", `{"messages":[{"role":"system","content":"x"}]}`, granted, &fakeModel{}, abi.CodeUsage,
			"system has a field of its own"},
		{"negative", `{"prompt":"x","max_tokens":-1}`, granted, &fakeModel{}, abi.CodeUsage, ""},
		{"a provider's error", `{"prompt":"x"}`, granted, &fakeModel{err: errors.New("401 for key " + secret)},
			abi.CodeModel, "the plugin learns that it failed"},
		{"a quota", `{"prompt":"x"}`, granted, &fakeModel{err: &abi.Error{Code: abi.CodeQuota, Message: "budget"}},
			abi.CodeQuota, "codes pass"},
		{"a coded error of a provider", `{"prompt":"x"}`, granted,
			&fakeModel{err: fmt.Errorf("ask: %w",
				&abi.Error{Code: abi.CodeNetwork, Op: "dial 10.0.0.7", Message: "401 for key " + secret,
					Hint: "ask account 401"})}, abi.CodeNetwork, "its text does not"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var o runtime.Options
			if tc.model != nil {
				o.Model = tc.model
			}
			resp, stats := hostCall(t, o, tc.o, abi.OpModelComplete, tc.request, nil)
			if got := abi.CodeOf(asError(resp.Error)); got != tc.code {
				t.Fatalf("code %q, want %q: %v: %s", got, tc.code, resp.Error, tc.why)
			}
			doc, _ := json.Marshal([]any{resp, stats})
			if strings.Contains(string(doc), secret) || resp.Error != nil && strings.Contains(
				fmt.Sprintf("%+v", *resp.Error), "401") {
				t.Errorf("too much is told: %s", doc)
			}
			if tc.code == "" && (stats.Model == nil || *stats.Model != abi.ModelUsage{Calls: 1, InputTokens: 7,
				OutputTokens: 2, Cost: 0.5} || !strings.Contains(string(resp.Result), `"text":"about `)) {
				t.Errorf("%s, %+v", resp.Result, stats.Model)
			}
			if tc.model != nil && tc.model.err != nil && len(stats.Warnings) != 1 {
				t.Errorf("the host is told %q", stats.Warnings)
			}
			if tc.code == abi.CodeDenied && tc.model != nil && len(tc.model.asked) > 0 {
				t.Error("the model was asked all the same")
			}
		})
	}
}

func TestModelCallsAreCounted(t *testing.T) {
	model := &fakeModel{}
	p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{Model: model}),
		askOften(10, string(abi.OpModelComplete), `{"prompt":"x"}`),
		runtime.PluginOptions{Manifest: plugintest.Asks(abi.CapModel), Grants: runtime.Grants{Model: true}})
	out, stats, err := p.CallRaw(context.Background(), pre, nil)
	var resp abi.HostResponse
	if err != nil || json.Unmarshal(out, &resp) != nil || abi.CodeOf(asError(resp.Error)) != abi.CodeQuota ||
		len(model.asked) != 8 || stats.Model.InputTokens != 56 {
		t.Errorf("%s, %v, %d asked, %+v", out, err, len(model.asked), stats.Model)
	}
}

func TestModelDeadline(t *testing.T) {
	p := plugintest.MustLoad(t, plugintest.New(t, runtime.Options{Model: &fakeModel{hang: true}}),
		wasmtest.HostCall(pre, string(abi.OpModelComplete), `{"prompt":"x"}`),
		runtime.PluginOptions{Manifest: plugintest.Asks(abi.CapModel), Grants: runtime.Grants{Model: true},
			Limits: abi.Limits{TimeoutMS: 50}})
	_, _, err := p.Call(context.Background(), plugintest.HookInput())
	plugintest.WantError(t, err, abi.CodeDeadline)
}
