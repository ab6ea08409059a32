package guest_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest"
	"github.com/kagewasm/kagewasm/abi/guest/guesttest"
	"github.com/kagewasm/kagewasm/internal/features"
)

func TestKV(t *testing.T) {
	kv := guest.NewCall(input(abi.HookTurnEnd), new(guesttest.Host)).KV()
	for _, k := range []string{"facts/b.md", "facts/a.md", "other"} {
		t.Run(k, func(t *testing.T) {
			if err := kv.Set(k, "of "+k); err != nil {
				t.Fatal(err)
			}
		})
	}
	if v, ok, err := kv.Get("facts/a.md"); v != "of facts/a.md" || !ok || err != nil {
		t.Errorf("get: %q, %v, %v", v, ok, err)
	}
	if v, ok, err := kv.Get("facts"); v != "" || ok || err != nil {
		t.Errorf("get of what is not there: %q, %v, %v", v, ok, err)
	}
	if keys, err := kv.List("facts/"); !slices.Equal(keys, []string{"facts/a.md", "facts/b.md"}) || err != nil {
		t.Errorf("list: %q, %v", keys, err)
	}
	if err := errors.Join(kv.Delete("other"), kv.Delete("other")); err != nil {
		t.Errorf("delete: %v", err)
	}
	if keys, _ := kv.List(""); len(keys) != 2 {
		t.Errorf("after delete: %q", keys)
	}
	if err := kv.Set("../x", ""); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("a key that is none: %v", err)
	}
}

// racing is a host that others store in, a number of times, right before the
// plugin does.
type racing struct {
	guesttest.Host
	others int
}

func (r *racing) HostCall(op abi.Op, request []byte) []byte {
	if op == abi.OpKVSet && r.others > 0 {
		r.others--
		r.KV["log.md"] += "theirs\n"
	}
	return r.Host.HostCall(op, request)
}

func TestCosts(t *testing.T) {
	host := &guesttest.Host{Count: func(s string) int { return len(s) }}
	c := guest.NewCall(input(abi.HookTurnEnd), host)
	if got := c.Costs("ab", ""); !slices.Equal(got, []int{2, 0}) || len(host.Logs) > 0 {
		t.Errorf("%v, %v", got, host.Logs)
	}
	host.Fail = map[abi.Op]*abi.Error{abi.OpTokensCount: {Code: abi.CodeQuota, Message: "no more"}}
	if got := c.Costs("123456", ""); !slices.Equal(got, []int{3, 1}) || len(host.Logs) != 1 {
		t.Errorf("without a host that counts: %v, %v", got, host.Logs)
	}
}

func TestKVSwap(t *testing.T) {
	features.Proves(t, "K28")
	host := &guesttest.Host{KV: map[string]string{"k": "old"}}
	kv := guest.NewCall(input(abi.HookTurnEnd), host).KV()
	if err := kv.Swap("k", "another", "new"); abi.CodeOf(err) != abi.CodeConflict || host.KV["k"] != "old" {
		t.Errorf("over another value: %q, %v", host.KV["k"], err)
	}
	if err := kv.Swap("k", "old", "new"); err != nil || host.KV["k"] != "new" {
		t.Errorf("%q, %v", host.KV["k"], err)
	}
	if err := kv.Swap("first", "", "x"); err != nil || host.KV["first"] != "x" {
		t.Errorf("a key that is not there: %q, %v", host.KV["first"], err)
	}
	if err := kv.Swap("first", "", "y"); abi.CodeOf(err) != abi.CodeConflict {
		t.Errorf("a key that is there: %v", err)
	}
}

func TestKVUpdate(t *testing.T) {
	features.Proves(t, "K28")
	add := func(s string) string { return s + "ours\n" }
	host := &racing{Host: guesttest.Host{KV: map[string]string{"log.md": "old\n"}}, others: 2}
	kv := guest.NewCall(input(abi.HookTurnEnd), host).KV()
	if err := kv.Update("log.md", add); err != nil || host.KV["log.md"] != "old\ntheirs\ntheirs\nours\n" {
		t.Errorf("%q, %v", host.KV["log.md"], err)
	}
	if err := kv.Update("new.md", add); err != nil || host.KV["new.md"] != "ours\n" {
		t.Errorf("%q, %v", host.KV["new.md"], err)
	}
	sets := host.Calls[abi.OpKVSet]
	if err := kv.Update("log.md", func(s string) string { return s }); err != nil || host.Calls[abi.OpKVSet] != sets {
		t.Errorf("a value that stays is stored: %v", err)
	}
	host.others = 1000
	if err := kv.Update("log.md", add); abi.CodeOf(err) != abi.CodeConflict {
		t.Errorf("without end: %v", err)
	}
	host.Fail = map[abi.Op]*abi.Error{abi.OpKVSet: {Code: abi.CodeQuota, Message: "full"}}
	if err := kv.Update("log.md", add); abi.CodeOf(err) != abi.CodeQuota {
		t.Errorf("a full store: %v", err)
	}
}

func TestHostErrorsKeepTheirCode(t *testing.T) {
	host := &guesttest.Host{Fail: map[abi.Op]*abi.Error{
		abi.OpKVGet:          {Code: abi.CodeDenied, Message: "not granted"},
		abi.OpRequestCompact: {Code: abi.CodeQuota, Message: "asked too often"},
	}}
	c := guest.NewCall(input(abi.HookTurnEnd), host)
	_, _, err := c.KV().Get("x")
	var e *abi.Error
	if !errors.As(err, &e) || e.Code != abi.CodeDenied || e.Message != "not granted" {
		t.Errorf("kv: %v", err)
	}
	if err := c.RequestCompaction("x"); abi.CodeOf(err) != abi.CodeQuota {
		t.Errorf("request: %v", err)
	}
}

func TestLogTokensMessagesRequest(t *testing.T) {
	in := input(abi.HookTurnEnd)
	host := &guesttest.Host{Messages: in.Messages}
	c := guest.NewCall(in, host)
	c.Log(abi.LogWarn, "%d facts", 3)
	if !slices.Equal(host.Logs, []abi.LogRequest{{Level: abi.LogWarn, Message: "3 facts"}}) {
		t.Errorf("logs: %+v", host.Logs)
	}
	if n, err := c.CountTokens("12345678", ""); !slices.Equal(n, []int{2, 0}) || err != nil {
		t.Errorf("tokens: %v, %v", n, err)
	}
	if msgs, err := c.Messages("m1"); err != nil || len(msgs) != 1 || msgs[0].Text() != "a < b & ✓" ||
		msgs[0].Tokens != 3 {
		t.Errorf("messages: %+v, %v", msgs, err)
	}
	if _, err := c.Messages("m2"); abi.CodeOf(err) != abi.CodeUnknownID {
		t.Errorf("unknown message: %v", err)
	}
	if err := c.RequestCompaction("keep the plan"); err != nil || len(host.Requests) != 1 ||
		host.Requests[0].Instructions != "keep the plan" {
		t.Errorf("request: %+v, %v", host.Requests, err)
	}
	if host.Calls[abi.OpMessagesGet] != 2 {
		t.Errorf("calls: %v", host.Calls)
	}
}

type brokenHost string

func (h brokenHost) HostCall(abi.Op, []byte) []byte { return []byte(h) }

func TestBrokenResponsesAreErrors(t *testing.T) {
	for _, resp := range []string{"", "{", `{"result":[]}`, `{"result":{"counts":[1,2]}}`} {
		t.Run(fmt.Sprintf("response %q", resp), func(t *testing.T) {
			c := guest.NewCall(input(abi.HookTurnEnd), brokenHost(resp))
			if _, err := c.CountTokens("one text"); abi.CodeOf(err) != abi.CodeInternal {
				t.Errorf("response %q: %v", resp, err)
			}
		})
	}
}

func TestHTTPAndModel(t *testing.T) {
	host := &guesttest.Host{
		HTTP: func(r abi.HTTPRequest) (*abi.HTTPResponse, error) {
			return &abi.HTTPResponse{Status: 404, Headers: r.Headers, BodyBase64: append(r.Bytes(), 0xff)}, nil
		},
		Model: func(r abi.ModelRequest) (*abi.ModelResponse, error) {
			return &abi.ModelResponse{Text: "about " + r.Prompt, InputTokens: r.MaxTokens}, nil
		},
	}
	c := guest.NewCall(input(abi.HookTurnEnd), host)
	resp, err := c.HTTP(abi.HTTPRequest{URL: "https://a.example", Headers: map[string]string{"x-a": "1"}, Body: "hi"})
	if err != nil || resp.Status != 404 || string(resp.Bytes()) != "hi\xff" || resp.Headers["x-a"] != "1" {
		t.Errorf("http: %+v, %v", resp, err)
	}
	answer, err := c.Complete(abi.ModelRequest{Prompt: "x", MaxTokens: 5})
	if err != nil || answer.Text != "about x" || answer.InputTokens != 5 {
		t.Errorf("model: %+v, %v", answer, err)
	}
	c = guest.NewCall(input(abi.HookTurnEnd), new(guesttest.Host))
	if _, err := c.HTTP(abi.HTTPRequest{URL: "https://a.example"}); abi.CodeOf(err) != abi.CodeDenied {
		t.Errorf("http that is not there: %v", err)
	}
	if _, err := c.Complete(abi.ModelRequest{Prompt: "x"}); abi.CodeOf(err) != abi.CodeDenied {
		t.Errorf("a model that is not there: %v", err)
	}
}
