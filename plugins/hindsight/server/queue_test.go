package server_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/plugins/hindsight/bank"
	"github.com/kagewasm/kagewasm/plugins/hindsight/server"
)

// posted are the documents that a server was sent, in one text.
func (f *fake) posted() string {
	var b strings.Builder
	for _, r := range f.asked {
		if strings.HasSuffix(r.URL, "/memories") {
			b.WriteString(r.Body)
		}
	}
	return b.String()
}

func retain(t *testing.T, b *server.Bank, texts ...string) {
	t.Helper()
	for _, text := range texts {
		m := bank.Memory{ID: "m", Session: "s1", Author: "user", Text: text}
		if _, err := b.Retain([]bank.Memory{m}); err != nil {
			t.Fatal(err)
		}
	}
}

// listedKV lets others in after the queue was listed.
type listedKV struct {
	memoryKV
	others func()
}

func (kv *listedKV) List(prefix string) ([]string, error) {
	keys, err := kv.memoryKV.List(prefix)
	if others := kv.others; others != nil {
		kv.others = nil
		others()
	}
	return keys, err
}

// TestHindsightQueueTogether: of two sessions that queue at the same time
// neither loses a document, and neither drops the other's unsent.
func TestHindsightQueueTogether(t *testing.T) {
	features.Proves(t, "K28")
	f := newFake()
	other := f.open()
	f.change = func(o *server.Options) {
		o.KV = &listedKV{memoryKV: f.kv, others: func() { retain(t, other, "of the other") }}
	}
	b := f.open()
	retain(t, b, "of the one")
	if f.queued() != 2 {
		t.Fatalf("%d of 2 wait", f.queued())
	}
	f.change = nil
	healthy, late := f.answer, f.open()
	f.answer = func(r abi.HTTPRequest) (*abi.HTTPResponse, error) {
		if strings.Contains(r.Body, "of the one") { // the queue is empty for a third, who starts from nothing
			sent := f.kv
			f.kv = memoryKV{}
			for k, v := range sent {
				if !strings.Contains(k, "/queue/") {
					f.kv[k] = v
				}
			}
			retain(t, f.open(), "of the late")
			maps.Copy(sent, f.kv)
			f.kv = sent
		}
		return healthy(r)
	}
	late.Deliver()
	f.answer = healthy
	f.open().Deliver()
	for _, want := range []string{"of the one", "of the other", "of the late"} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(f.posted(), want) {
				t.Errorf("%q was dropped unsent", want)
			}
		})
	}
	if f.queued() != 0 {
		t.Errorf("%d wait", f.queued())
	}
}

// TestHindsightStateTogether: what two calls learn at the same time is known
// afterwards.
func TestHindsightStateTogether(t *testing.T) {
	features.Proves(t, "K28")
	f := newFake()
	f.answer = func(r abi.HTTPRequest) (*abi.HTTPResponse, error) {
		if strings.HasSuffix(r.URL, "/memories") {
			return &abi.HTTPResponse{Status: 200,
				Body: fmt.Sprintf(`{"operation_id":"op%d"}`, strings.Count(r.Body, "of b"))}, nil
		}
		return &abi.HTTPResponse{Status: 200, Body: `{"api_version":"0.9.1"}`}, nil
	}
	a, b, c := f.open(), f.open(), f.open()
	retain(t, a, "of a")
	a.Deliver()
	retain(t, b, "of b")
	b.Deliver()
	f.answer = status(429, "600")
	if _, err := c.Recall(bank.Query{Text: "q"}); err == nil {
		t.Error("429 is no answer")
	}
	c.Deliver()
	for _, want := range []string{`"op0"`, `"op1"`, `"not_before":"2026-11-21T12:10:00Z"`, `"greeted":"`} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(f.kv["server/b/state.json"], want) {
				t.Errorf("%s is not in %s", want, f.kv["server/b/state.json"])
			}
		})
	}
}

// TestHindsightQuota: where the requests of a call are used up the rest
// waits; what is too long for any request is given up, and holds nobody up.
func TestHindsightQuota(t *testing.T) {
	features.Proves(t, "K28")
	for _, allowed := range []int{1, 2, 3, 16} {
		t.Run(fmt.Sprintf("%d allowed", allowed), func(t *testing.T) {
			f := newFake()
			healthy, left := f.answer, 0
			f.answer = func(r abi.HTTPRequest) (*abi.HTTPResponse, error) {
				switch {
				case len(r.Body) > 10_000:
					return nil, &abi.Error{Code: abi.CodeQuota, Message: "a body of too many bytes"}
				case left == 0:
					return nil, &abi.Error{Code: abi.CodeQuota, Message: "more than so many requests"}
				}
				left--
				return healthy(r)
			}
			retain(t, f.open(), "one.", "two.", "three.", "four.", "five.")
			for range 8 {
				left = allowed
				f.open().Deliver()
			}
			if f.queued() != 0 || f.warned("given up") {
				t.Errorf("%d requests a call: %d wait: %q", allowed, f.queued(), f.warnings)
			}
			retain(t, f.open(), "long."+strings.Repeat("x", 12_000), "six.")
			for range 6 {
				left = allowed
				f.open().Deliver()
			}
			if f.queued() != 0 || strings.Count(strings.Join(f.warnings, ""), "given up") != 1 {
				t.Errorf("%d requests a call: %d wait: %q", allowed, f.queued(), f.warnings)
			}
			for _, want := range []string{"one.", "two.", "three.", "four.", "five.", "six."} {
				t.Run(want, func(t *testing.T) {
					if !strings.Contains(f.posted(), want) {
						t.Errorf("%d requests a call: %s was dropped unsent", allowed, want)
					}
				})
			}
		})
	}
}

// TestHindsightRefusals: a request is dropped for what is wrong with it, not
// for what is wrong with the server or where it is.
func TestHindsightRefusals(t *testing.T) {
	features.Proves(t, "K28")
	for code, refused := range map[int]bool{
		400: true, 413: true, 422: true,
		302: false, 401: false, 403: false, 404: false, 405: false, 407: false, 408: false, 409: false, 425: false,
		429: false, 500: false, 503: false,
	} {
		t.Run(fmt.Sprintf("status %d", code), func(t *testing.T) {
			f := newFake()
			healthy := f.answer
			f.answer = func(r abi.HTTPRequest) (*abi.HTTPResponse, error) {
				if strings.HasSuffix(r.URL, "/memories") {
					return status(code, "")(r)
				}
				return healthy(r)
			}
			retain(t, f.open(), "text")
			f.open().Deliver()
			if dropped := f.queued() == 0; dropped != refused {
				t.Errorf("%d: dropped is %v: %q", code, dropped, f.warnings)
			}
			f.answer, f.now, f.asked = healthy, f.now.Add(time.Hour), nil
			f.open().Deliver()
			if sent := f.posted() != ""; sent == refused {
				t.Errorf("%d: sent later is %v", code, sent)
			}
		})
	}
}

// TestHindsightAgents: agents that share a bank have documents each, though
// their sessions have the same id.
func TestHindsightAgents(t *testing.T) {
	features.Proves(t, "K28")
	f := newFake()
	ids := make(map[string]bool)
	for _, agent := range []string{"", "main/coder", "main/critic"} {
		for _, full := range []bool{false, true} {
			f.change = func(o *server.Options) { o.Agent, o.FullSession = agent, full }
			f.asked = nil
			b := f.open()
			retain(t, b, "the same words")
			b.Deliver()
			_, rest, _ := strings.Cut(f.posted(), `"document_id":"`)
			id, _, _ := strings.Cut(rest, `"`)
			ids[id] = true
		}
	}
	if len(ids) != 6 || ids[""] {
		t.Errorf("documents %v", ids)
	}
}
