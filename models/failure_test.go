package models_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/modeltest"
	"github.com/kagewasm/kagewasm/models"
)

var htmlPage = modeltest.Answer{
	Status: 502, ContentType: "text/html",
	Body: "<html><head><title>502 Bad Gateway</title></head><body><h1>502</h1>" +
		strings.Repeat("<!-- padding -->", 100) + "</body></html>",
}

// Each failure of a provider is one error that says what, where and what to
// do, by code.
func TestFailures(t *testing.T) {
	for _, tc := range []struct {
		why    string
		answer modeltest.Answer
		code   abi.Code
		tries  int
		says   string
	}{
		{"a wrong key", modeltest.Answer{Status: 401, Error: "invalid x-api-key"},
			abi.CodeUnauthorized, 1, "invalid x-api-key"},
		{"a key for something else", modeltest.Answer{Status: 403}, abi.CodeUnauthorized, 1, "status 403"},
		{"a wrong name", modeltest.Answer{Status: 404, Error: "no such model"}, abi.CodeModel, 1, "no such model"},
		{"a bad request", modeltest.Answer{Status: 400, Error: "temperature: unknown"},
			abi.CodeModel, 1, "temperature: unknown"},
		{"the answer alone too long",
			modeltest.Answer{Status: 400, Error: "max_tokens is too large: 100000. " +
				"This model supports at most 16384 completion tokens"},
			abi.CodeModel, 1, "16384"},
		{"no money", modeltest.Answer{Status: 402, Error: "Insufficient Balance"},
			abi.CodeModel, 1, "Insufficient Balance"},
		{"too fast", modeltest.Answer{Status: 429, Error: "slow down"}, abi.CodeRateLimited, 3, "slow down"},
		{"Groq's rate limit",
			modeltest.Answer{Status: 413, Error: "Request too large on tokens per minute (TPM): Limit 6000, Requested 14810"},
			abi.CodeRateLimited, 1, "TPM"},
		{"broken", modeltest.Answer{Status: 500, Error: "boom"}, abi.CodeModel, 3, "boom"},
		{"down", modeltest.Answer{Status: 503}, abi.CodeOverloaded, 3, "status 503"},
		{"Anthropic is busy", modeltest.Answer{Status: 529, Error: "Overloaded"}, abi.CodeOverloaded, 3, "Overloaded"},
		{"a gateway's page", htmlPage, abi.CodeOverloaded, 3, "status 502: 502 Bad Gateway"},
		{"a redirect is not followed",
			modeltest.Answer{Status: 307, Header: http.Header{"Location": {"https://example.com/"}}},
			abi.CodeModel, 1, "status 307"},
		{"too long", modeltest.TooLong(9000, 8192), abi.CodeContextLength, 1, "9000"},
		{"too long, and the server says 500",
			modeltest.Answer{Status: 500, Error: "the input length exceeds the context length"},
			abi.CodeContextLength, 1, "context length"},
		{"too many bytes",
			modeltest.Answer{Status: 413, Body: "<html><title>413 Request Entity Too Large</title>", ContentType: "text/html"},
			abi.CodeContextLength, 1, "413"},
		{"not JSON", modeltest.Answer{Body: `{"choices": [ {`}, abi.CodeModel, 1, "not in the form"},
		{"a page in place of an answer", modeltest.Answer{Body: "<html>Welcome</html>", ContentType: "text/html"},
			abi.CodeModel, 1, "not in the form"},
		{"another object", modeltest.Answer{Body: `{"hello":"world"}`}, abi.CodeModel, 1, "not in the form"},
		{"null", modeltest.Answer{Body: `null`}, abi.CodeModel, 1, "not in the form"},
		{"no choices", modeltest.Answer{Body: `{"object":"chat.completion","choices":[],"model":"x"}`},
			abi.CodeModel, 1, "not in the form"},
		{"an error with status 200",
			modeltest.Answer{Body: `{"error":{"message":"Provider returned error","code":429}}`},
			abi.CodeRateLimited, 3, "Provider returned error"},
		{"overloaded midway",
			modeltest.Answer{Body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`},
			abi.CodeOverloaded, 3, "Overloaded"},
		{"a reset", modeltest.Answer{Reset: true}, abi.CodeNetwork, 3, "reset"},
		{"broken off in the middle", modeltest.Answer{Text: strings.Repeat("long ", 100), Cut: true},
			abi.CodeNetwork, 3, "unexpected EOF"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			eachWire(t, tc.why, func(t *testing.T, w modeltest.Wire) {
				s := modeltest.New(t, tc.answer)
				_, err := ask(t, config(s, w))
				e := abi.AsError(err)
				if e == nil || e.Code != tc.code || !strings.Contains(e.Error(), tc.says) {
					t.Fatalf("%s %v; want %s with %q", abi.CodeOf(err), err, tc.code, tc.says)
				}
				if n := len(s.Requests()); n != tc.tries {
					t.Errorf("%d requests, want %d", n, tc.tries)
				}
				if e.Hint == "" && e.Code != abi.CodeModel {
					t.Error("no hint what to do")
				}
				if !strings.HasPrefix(e.Error(), "complete: "+string(w)+"/small-1: ") || len(e.Error()) > 1000 {
					t.Errorf("text %q", e.Error())
				}
				if x := abi.ExceededBy(err); tc.why == "too long" && (x == nil || x.Tokens != 9000 || x.Limit != 8192) {
					t.Errorf("the provider's figures are %+v", x)
				}
				if _, got := models.TooLong(err); got != (tc.code == abi.CodeContextLength) {
					t.Errorf("TooLong %v", got)
				}
			})
		})
	}
}

// What a server sends is not trusted: its words become one short line.
func TestTextOfErrors(t *testing.T) {
	for _, tc := range []struct{ why, body, want string }{
		{"an object", `{"error":{"message":"boom"}}`, "boom"},
		{"a text", `{"error":"boom"}`, "boom"},
		{"fields at the top, as vLLM had them", `{"object":"error","message":"boom","code":400}`, "boom"},
		{"FastAPI", `{"detail":"boom"}`, "boom"},
		{"no JSON", "boom", "boom"},
		{"several lines and a terminal's orders", "\x1b[2Jboom\r\n\tand\x00 more\u202e", "[2Jboom and more"},
		{"not UTF-8", "bo\xffom", "boom"},
		{"nothing", " ", ""},
		{"a page", "<HTML><Title lang=en>boom\n</title><body>" + strings.Repeat("x", 5000), "boom"},
		{"too much", strings.Repeat("é", 5000), strings.Repeat("é", 300) + " ..."},
	} {
		t.Run(tc.why, func(t *testing.T) {
			s := modeltest.New(t, modeltest.Answer{Status: 400, Body: tc.body})
			_, err := ask(t, config(s, modeltest.Ollama))
			if want := strings.TrimSpace("complete: ollama/small-1: status 400: " + tc.want); err == nil || err.Error() != want {
				t.Errorf("%v\nwant %s", err, want)
			}
		})
	}
}

func TestErrorsSentAsSuccess(t *testing.T) {
	for body, want := range map[string]abi.Code{
		`{"error":{"message":"x","type":"rate_limit_error"}}`:                       abi.CodeRateLimited,
		`{"error":{"message":"x","type":"authentication_error"}}`:                   abi.CodeUnauthorized,
		`{"error":{"message":"prompt is too long","type":"invalid_request_error"}}`: abi.CodeContextLength,
		`{"error":{"message":"x","type":"api_error"}}`:                              abi.CodeOverloaded,
		`{"error":{"message":"x","code":401}}`:                                      abi.CodeUnauthorized,
		`{"error":{"message":"maximum context length is 9 tokens","code":400}}`:     abi.CodeContextLength,
		`{"error":"upstream"}`: abi.CodeOverloaded,
	} {
		t.Run(body, func(t *testing.T) {
			s := modeltest.New(t, modeltest.Answer{Body: body})
			if _, err := ask(t, config(s, modeltest.OpenAI)); abi.CodeOf(err) != want {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
	ok := `{"error":null,"choices":[{"message":{"role":"assistant","content":"fine"},"finish_reason":"stop"}]}`
	s := modeltest.New(t, modeltest.Answer{Body: ok, ContentType: "text/plain"})
	if got, err := ask(t, config(s, modeltest.OpenAI)); err != nil || got.Text != "fine" {
		t.Errorf("an answer with an error that is null: %+v, %v", got, err)
	}
}

// the numbers reach whoever compacts.
func TestOverflowOfACall(t *testing.T) {
	features.Proves(t, "K3")
	eachWire(t, "", func(t *testing.T, w modeltest.Wire) {
		_, err := ask(t, config(modeltest.New(t, modeltest.TooLong(9000, 8192)), w))
		if x, ok := models.TooLong(err); !ok || x.Tokens != 9000 || x.Limit != 8192 {
			t.Errorf("%+v, %v", x, ok)
		}
	})
}

func TestNobodyThere(t *testing.T) {
	dead := httptest.NewServer(nil)
	dead.Close()
	eachWire(t, "", func(t *testing.T, w modeltest.Wire) {
		c := config(modeltest.New(t), w)
		c.BaseURL = dead.URL
		if _, err := ask(t, c); abi.CodeOf(err) != abi.CodeNetwork {
			t.Error(err)
		}
	})
}

// A certificate does not become better by trying again.
func TestUntrustedServer(t *testing.T) {
	server := httptest.NewUnstartedServer(nil)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	at := newClock()
	c := at.config(modeltest.New(t), modeltest.Anthropic)
	c.BaseURL = server.URL
	if _, err := ask(t, c); abi.CodeOf(err) != abi.CodeNetwork || len(at.waits) != 0 {
		t.Errorf("%v after %v", err, at.waits)
	}
}

// sdkError is like the errors of vendors' SDKs, which say little in their text.
type sdkError struct{ response string }

func (e sdkError) Error() string { return "API error" }

func (e sdkError) DumpResponse(bool) []byte {
	if e.response == "" {
		panic("no response")
	}
	return []byte(e.response)
}

// A host that calls its model through an SDK may ask about its errors;
// internal/oracle does so with the real ones.
func TestTooLongOfAnSDK(t *testing.T) {
	tooLong := `{"error":{"message":"prompt is too long: 9000 tokens > 8192 maximum"}}`
	for why, tc := range map[string]struct {
		response string
		want     bool
	}{
		"too long":             {"HTTP/1.1 400 Bad Request\r\n\r\n" + tooLong, true},
		"a status says enough": {"HTTP/1.1 413 Too Large\r\n\r\n{}", true},
		"a rate limit":         {"HTTP/1.1 429 Too Many Requests\r\n\r\n" + tooLong, false},
		"not a response":       {tooLong, false},
		"made by hand":         {"", false},
	} {
		t.Run(why, func(t *testing.T) {
			if x, ok := models.TooLong(fmt.Errorf("turn: %w", sdkError{tc.response})); ok != tc.want {
				t.Errorf("%+v, %v", x, ok)
			}
		})
	}
}

func TestKeysStayOutOfErrors(t *testing.T) {
	echo := func(r modeltest.Request) modeltest.Answer {
		return modeltest.Answer{Status: 401, Error: "no such key: " + key + " and " + r.Header.Get("X-Gateway") + ` "q"`}
	}
	eachWire(t, "", func(t *testing.T, w modeltest.Wire) {
		c := config(modeltest.NewFunc(t, echo), w)
		c.Headers = map[string]string{"X-Gateway": "Bearer gateway-secret/+\""}
		_, err := ask(t, c)
		for e := err; e != nil; e = errors.Unwrap(e) {
			text := fmt.Sprintf("%v %+v %s", e, e, e)
			if strings.Contains(text, key) || strings.Contains(text, "gateway-secret") {
				t.Errorf("a key shows in %s", text)
			}
		}
		if !strings.Contains(err.Error(), "[redacted]") {
			t.Error(err)
		}
		if text := fmt.Sprintf("%v %+v %#v %q", c, c, c.Key, c.Key); strings.Contains(text, key) {
			t.Errorf("the key shows where its configuration is printed: %s", text)
		}
	})
}

func TestTimeouts(t *testing.T) {
	eachWire(t, "", func(t *testing.T, w modeltest.Wire) {
		c := config(modeltest.New(t, modeltest.Answer{Hang: true}), w)
		c.Timeout = 20 * time.Millisecond
		_, err := ask(t, c)
		if abi.CodeOf(err) != abi.CodeDeadline || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the model's timeout: %s %v", abi.CodeOf(err), err)
		}
		c.Timeout = 0
		m := newModel(t, c)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err = m.Complete(ctx, abi.ModelRequest{Prompt: "x"})
		cancel()
		if abi.CodeOf(err) != abi.CodeDeadline || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the caller's deadline: %s %v", abi.CodeOf(err), err)
		}
		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		_, err = m.Complete(ctx, abi.ModelRequest{Prompt: "x"})
		if abi.CodeOf(err) != abi.CodeCanceled || !errors.Is(err, context.Canceled) {
			t.Errorf("the caller left: %s %v", abi.CodeOf(err), err)
		}
	})
}

func TestHugeAnswer(t *testing.T) {
	var sent int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		chunk := []byte(strings.Repeat("x", 1<<20))
		for err := error(nil); err == nil && sent < 1<<30; sent += len(chunk) {
			_, err = w.Write(chunk)
		}
	}))
	c := config(modeltest.New(t), modeltest.OpenAI)
	c.BaseURL = server.URL
	_, err := ask(t, c)
	server.Close()
	if abi.CodeOf(err) != abi.CodeModel || !strings.Contains(err.Error(), "more than 16 MiB") {
		t.Errorf("%v", err)
	}
	if sent > 64<<20 {
		t.Errorf("%d MB were read", sent>>20)
	}
}

// TestWhatLessCannotHelp: a failure says where a shorter request would fare no better.
func TestWhatLessCannotHelp(t *testing.T) {
	features.Proves(t, "A10")
	for _, tc := range []struct {
		why    string
		answer modeltest.Answer
		final  bool
	}{
		{"a wrong name", modeltest.Answer{Status: 404, Error: "no such model"}, true},
		{"no money", modeltest.Answer{Status: 402, Error: "Insufficient Balance"}, true},
		{"a redirect", modeltest.Answer{Status: 308}, true},
		{"it wants to be left alone", modeltest.Answer{Status: 429, Header: header("Retry-After", "3600")}, true},
		{"too fast", modeltest.Answer{Status: 429, Error: "slow down"}, false},
		{"broken", modeltest.Answer{Status: 500, Error: "boom"}, false},
		{"a bad request", modeltest.Answer{Status: 400, Error: "input is too big for me"}, false},
		{"a reset", modeltest.Answer{Reset: true}, false},
	} {
		t.Run(tc.why, func(t *testing.T) {
			_, err := ask(t, newClock().config(modeltest.New(t, tc.answer), modeltest.OpenAI))
			if got := isFinal(err); err == nil || got != tc.final {
				t.Errorf("final: %v, want %v: %v", got, tc.final, err)
			}
		})
	}
	c := newClock().config(modeltest.New(t, modeltest.Answer{Text: "fine"}), modeltest.OpenAI)
	c.BaseURL = "http://127.0.0.1:1" // where nobody listens
	if _, err := ask(t, c); abi.CodeOf(err) != abi.CodeNetwork || !isFinal(err) {
		t.Errorf("nobody takes the connection: %v", err)
	}
}

func isFinal(err error) bool {
	e, ok := errors.AsType[interface {
		error
		Final() bool
	}](err)
	return ok && e.Final()
}
