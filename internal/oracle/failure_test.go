package oracle_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/modeltest"
	"github.com/kagewasm/kagewasm/models"
)

// failures are errors as the wires have them.
var failures = []struct {
	why    string
	answer modeltest.Answer
}{
	{"a wrong key", modeltest.Answer{Status: 401, Error: "invalid x-api-key"}},
	{"a wrong name", modeltest.Answer{Status: 404, Error: "no such model"}},
	{"a bad request", modeltest.Answer{Status: 400, Error: "temperature: unknown"}},
	{"too fast", modeltest.Answer{Status: 429, Error: "slow down"}},
	{"too fast, in the words of too long", modeltest.Answer{Status: 429, Error: "prompt is too long"}},
	{"broken", modeltest.Answer{Status: 500, Error: "boom"}},
	{"overloaded", modeltest.Answer{Status: 529, Error: "Overloaded"}},
	{"too long", modeltest.TooLong(9000, 8192)},
	{"too long, as vLLM had it", modeltest.Answer{Status: 400, Body: `{"object":"error","code":400,
		"message":"This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens."}`}},
	{"too many bytes", modeltest.Answer{Status: 413, Body: "{}"}},
	{"a page", modeltest.Answer{Status: 413, ContentType: "text/html",
		Body: "<html><title>413 Request Entity Too Large</title>"}},
}

// TestFailures: the SDK and package models see the same error, and TooLong says
// the same of both.
func TestFailures(t *testing.T) {
	for _, tc := range failures {
		for w, ask := range sdks {
			t.Run(string(w)+"/"+tc.why, func(t *testing.T) {
				s := modeltest.New(t, tc.answer)
				_, theirs := ask(t.Context(), s, prompt)
				_, err := ours(t, s, w, prompt)
				status, message := read(t, theirs)
				if want := fmt.Sprintf("status %d: %s", status, message); !strings.Contains(abi.AsError(err).Message, want) {
					t.Errorf("%v\nthe SDK reads %q", err, want)
				}
				x, ok := models.TooLong(err)
				for range 2 { // asking does not use the error up
					if y, same := models.TooLong(fmt.Errorf("turn: %w", theirs)); same != ok || x != y {
						t.Errorf("%+v, %v; of the SDK's error %+v, %v", x, ok, y, same)
					}
				}
				if tooLong := strings.HasPrefix(tc.why, "too long") || status == 413; ok != tooLong {
					t.Errorf("too long: %v", ok)
				}
			})
		}
	}
}

// read returns what an SDK says of an error response.
func read(t *testing.T, err error) (status int, message string) {
	t.Helper()
	if o, ok := errors.AsType[*openai.Error](err); ok {
		return o.StatusCode, o.Message
	}
	var a *anthropic.Error
	if !errors.As(err, &a) {
		t.Fatalf("not an SDK's error of a response: %v", err)
	}
	var doc struct{ Error struct{ Message string } }
	_ = json.Unmarshal([]byte(a.RawJSON()), &doc) // what does not parse has no message
	return a.StatusCode, doc.Error.Message
}

// TestErrorsMadeByHand: a host's own tests make errors without a response.
func TestErrorsMadeByHand(t *testing.T) {
	if _, ok := models.TooLong(&openai.Error{StatusCode: 400}); ok {
		t.Error("too long")
	}
}
