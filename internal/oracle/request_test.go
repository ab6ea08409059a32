package oracle_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/modeltest"
)

// judges decode a request into the type that the SDK has for it.
var judges = map[modeltest.Wire]func(body []byte) error{
	modeltest.OpenAI:    judge[openai.ChatCompletionNewParams],
	modeltest.Anthropic: judge[anthropic.MessageNewParams],
}

// judge refuses a request with fields that the SDK does not know, or without
// one that it requires.
func judge[P any](body []byte) error {
	var params P
	if err := json.Unmarshal(body, &params); err != nil {
		return err
	}
	understood, err := json.Marshal(params)
	if err != nil {
		return err
	}
	if !sameJSON(body, understood) {
		return fmt.Errorf("of %s the SDK understands %s", body, understood)
	}
	v := reflect.ValueOf(params)
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.Tag.Get("api") == "required" && v.Field(i).IsZero() {
			return fmt.Errorf("%s: missing", f.Tag.Get("json"))
		}
	}
	return nil
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// judged is a server that answers requests which the SDK's types take whole.
func judged(t *testing.T) *modeltest.Server {
	return modeltest.NewFunc(t, func(r modeltest.Request) modeltest.Answer {
		if err := judges[r.Wire](r.Body); err != nil {
			return modeltest.Answer{Status: 400, Error: err.Error()}
		}
		return modeltest.Answer{}
	})
}

// TestJudge: the judge itself, on requests that are wrong.
func TestJudge(t *testing.T) {
	for _, tc := range []struct {
		why       string
		wire      modeltest.Wire
		from, but string // in a request that is right
	}{
		{"an unknown field", modeltest.OpenAI, `"model":"m"`, `"model":"m","num_ctx":5`},
		{"an unknown field of a message", modeltest.OpenAI, `"role":"user"`, `"role":"user","text":"y"`},
		{"no model", modeltest.OpenAI, `"model":"m",`, ``},
		{"no messages", modeltest.OpenAI, `"messages"`, `"metadata"`},
		{"no max_tokens", modeltest.Anthropic, `"max_tokens":1,`, ``},
		{"a field of the other's", modeltest.Anthropic, `"max_tokens":1`, `"max_tokens":1,"max_completion_tokens":1`},
		{"a block that is not there", modeltest.Anthropic, `"type":"text"`, `"type":"txt"`},
		{"a number in place of the prompt", modeltest.Anthropic, `"max_tokens":1`, `"max_tokens":1,"system":5`},
	} {
		t.Run(tc.why, func(t *testing.T) {
			right := map[modeltest.Wire]string{
				modeltest.OpenAI:    `{"model":"m","messages":[{"role":"user","content":"x"}]}`,
				modeltest.Anthropic: `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":"x"}]}]}`,
			}[tc.wire]
			if err := judges[tc.wire]([]byte(right)); err != nil {
				t.Errorf("refused: %v", err)
			}
			wrong := strings.Replace(right, tc.from, tc.but, 1)
			if wrong == right || judges[tc.wire]([]byte(wrong)) == nil {
				t.Errorf("not refused: %s", wrong)
			}
		})
	}
}

// TestRequests: for the same input the SDK and package models send the same.
func TestRequests(t *testing.T) {
	talk := []abi.ModelMessage{
		{Role: abi.RoleUser, Content: "one"}, {Role: abi.RoleAssistant, Content: "two"},
		{Role: abi.RoleUser, Content: "three"}, {Role: abi.RoleUser, Content: "four <&> \u2028 \x00 \"é\""},
	}
	for why, r := range map[string]abi.ModelRequest{
		"a prompt":           {Prompt: "Summarize this."},
		"a system prompt":    {System: "Be brief.", Prompt: "Summarize this."},
		"a conversation":     {System: "Be brief.", Messages: talk},
		"a limit":            {Messages: talk, MaxTokens: 77},
		"text that is not":   {Prompt: "broken \xff UTF-8"},
		"an empty message":   {Messages: []abi.ModelMessage{{Role: abi.RoleUser, Content: "x"}, {Role: abi.RoleUser}}},
		"a large request":    {Prompt: strings.Repeat("read the file ", 20_000)},
		"the model answered": {Messages: talk[:2]},
	} {
		for w, ask := range sdks {
			t.Run(string(w)+"/"+why, func(t *testing.T) {
				s := judged(t)
				if _, err := ours(t, s, w, r); err != nil {
					t.Fatal(err)
				}
				if _, err := ask(t.Context(), s, r); err != nil {
					t.Fatalf("the SDK's own: %v", err)
				}
				compare(t, s.Requests()[0], s.Requests()[1])
			})
		}
	}
}

func compare(t *testing.T, got, want modeltest.Request) {
	t.Helper()
	if got.Path != want.Path || !sameJSON(got.Body, want.Body) {
		t.Errorf("%s %.2000s\nthe SDK sends\n%s %.2000s", got.Path, got.Body, want.Path, want.Body)
	}
	for _, name := range []string{"Content-Type", "Accept", "Authorization", "X-Api-Key", "Anthropic-Version"} {
		if got.Header.Get(name) != want.Header.Get(name) {
			t.Errorf("header %s: %q, the SDK sends %q", name, got.Header.Get(name), want.Header.Get(name))
		}
	}
}
