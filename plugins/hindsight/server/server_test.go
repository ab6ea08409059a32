package server_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/plugins/hindsight/bank"
	"github.com/kagewasm/kagewasm/plugins/hindsight/server"
)

// memoryKV is storage in a map.
type memoryKV map[string]string

func (kv memoryKV) Get(key string) (string, bool, error) { v, ok := kv[key]; return v, ok, nil }
func (kv memoryKV) Set(key, value string) error          { kv[key] = value; return nil }
func (kv memoryKV) Swap(key, expect, value string) error {
	if kv[key] != expect {
		return abi.KeyConflict(key)
	}
	return kv.Set(key, value)
}
func (kv memoryKV) Update(key string, change func(string) string) error {
	kv[key] = change(kv[key])
	return nil
}

func (kv memoryKV) Delete(key string) error { delete(kv, key); return nil }
func (kv memoryKV) List(prefix string) (keys []string, err error) {
	for _, k := range slices.Sorted(maps.Keys(kv)) {
		if strings.HasPrefix(k, prefix) {
			keys = append(keys, k)
		}
	}
	return keys, nil
}

// fake is a server that answers by a function, and what was said about it.
type fake struct {
	kv       memoryKV
	answer   func(abi.HTTPRequest) (*abi.HTTPResponse, error)
	asked    []abi.HTTPRequest
	warnings []string
	now      time.Time
	change   func(*server.Options)
}

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func newFake() *fake {
	f := &fake{kv: memoryKV{}, now: noon}
	f.answer = func(r abi.HTTPRequest) (*abi.HTTPResponse, error) {
		if strings.HasSuffix(r.URL, "/version") {
			return &abi.HTTPResponse{Status: 200, Body: `{"api_version":"0.9.1"}`}, nil
		}
		return &abi.HTTPResponse{Status: 200, Body: `{}`}, nil
	}
	return f
}

func (f *fake) open() *server.Bank {
	o := server.Options{
		URL: "http://localhost:8888/", ID: "b", Timeout: time.Second, Effort: "low", TagsMatch: "any", MaxTokens: 100,
		Session: "s1", Context: "test", Overlap: func(string) []bank.Memory { return nil },
		KV: f.kv, Prefix: "server/b/", Now: f.now.Format(time.RFC3339),
		HTTP: func(r abi.HTTPRequest) (*abi.HTTPResponse, error) {
			f.asked = append(f.asked, r)
			return f.answer(r)
		},
		Warn: func(format string, args ...any) {
			f.warnings = append(f.warnings, fmt.Sprintf(format, args...))
		}, Lost: func(format string, args ...any) { f.warnings = append(f.warnings, fmt.Sprintf(format, args...)) },
	}
	if f.change != nil {
		f.change(&o)
	}
	return server.Open(o)
}

func (f *fake) warned(what string) bool {
	return strings.Contains(strings.Join(f.warnings, "\n"), what)
}

func (f *fake) queued() int {
	keys, _ := f.kv.List("server/b/queue/")
	return len(keys)
}

func memories(n, size int) (list []bank.Memory) {
	for i := range n {
		text := fmt.Sprintf("line %d ", i) + strings.Repeat("x", size)
		list = append(list, bank.Memory{ID: fmt.Sprint("m", i), Session: "s1", Author: "user",
			Time: "2026-11-21T10:00:00Z", Text: text})
	}
	return list
}

func status(code int, header string) func(abi.HTTPRequest) (*abi.HTTPResponse, error) {
	return func(abi.HTTPRequest) (*abi.HTTPResponse, error) {
		return &abi.HTTPResponse{Status: code, Headers: map[string]string{"retry-after": header}}, nil
	}
}

func TestHindsightRetryAfter(t *testing.T) {
	features.Proves(t, "K28")
	for _, c := range []struct {
		header, why string
		want        time.Duration
	}{
		{"90", "seconds", 90 * time.Second},
		{"1.5", "a fraction", 2 * time.Second},
		{"Sat, 21 Nov 2026 12:05:00 GMT", "a date", 5 * time.Minute},
		{"Sat, 21 Nov 2026 11:00:00 GMT", "a date that has passed", 30 * time.Second},
		{"999999", "more than an hour", time.Hour},
		{"", "nothing", 30 * time.Second},
		{"-5", "less than nothing", 30 * time.Second},
		{"soon", "nonsense", 30 * time.Second},
		{"NaN", "no number", 30 * time.Second},
	} {
		t.Run(c.why, func(t *testing.T) {
			f := newFake()
			f.answer = status(429, c.header)
			recall := func(at time.Duration) {
				f.now = noon.Add(at)
				b := f.open()
				_, err := b.Recall(bank.Query{Text: "q"})
				if err == nil {
					t.Errorf("%s: 429 is no answer", c.why)
				}
				b.Deliver()
			}
			recall(0)
			if recall(c.want - time.Second); len(f.asked) != 1 {
				t.Errorf("asked again before %v", c.want)
			}
			if recall(c.want); len(f.asked) != 2 {
				t.Errorf("not asked again after %v", c.want)
			}
		})
	}
}

// TestHindsightQueue: what the server fails on again and again is given up,
// what it never saw is not, and what waits is bounded.
func TestHindsightQueue(t *testing.T) {
	features.Proves(t, "K28")
	retain := func(f *fake, list []bank.Memory) {
		t.Helper()
		f.now = f.now.Add(time.Hour)
		b := f.open()
		if n, err := b.Retain(list); n != len(list) || err != nil {
			t.Fatal(n, err)
		}
		b.Deliver()
	}
	f := newFake()
	healthy := f.answer
	f.answer = func(r abi.HTTPRequest) (*abi.HTTPResponse, error) {
		if strings.HasSuffix(r.URL, "/memories") {
			return status(500, "")(r)
		}
		return healthy(r)
	}
	for i := range 5 {
		if retain(f, memories(1-min(i, 1), 10)); i < 4 && f.queued() != 1 {
			t.Errorf("given up after %d attempts", i+1)
		}
	}
	if f.queued() != 0 || !f.warned("given up") {
		t.Errorf("%d wait: %q", f.queued(), f.warnings)
	}

	f = newFake()
	f.answer = func(abi.HTTPRequest) (*abi.HTTPResponse, error) {
		return nil, &abi.Error{Code: abi.CodeNetwork, Message: "connection refused"}
	}
	for i := range 80 {
		retain(f, memories(i+1, 10)[i:])
	}
	if f.queued() != 64 || !f.warned("given up") {
		t.Errorf("%d wait", f.queued())
	}
	if strings.Contains(fmt.Sprint(f.kv), "line 15 ") || !strings.Contains(fmt.Sprint(f.kv), "line 16 ") {
		t.Error("it is not the oldest that were given up")
	}
	f.answer, f.asked = newFake().answer, nil
	for range 8 {
		retain(f, nil)
	}
	var order []string
	for _, r := range f.asked {
		if m := regexp.MustCompile(`line \d+`).FindString(r.Body); m != "" {
			order = append(order, m)
		}
	}
	if f.queued() != 0 || len(order) != 64 || order[0] != "line 16" || order[63] != "line 79" {
		t.Errorf("%d wait, sent %v", f.queued(), order)
	}
}

// TestHindsightDocuments: documents and requests are bounded, nothing is
// left out, and the same is the same.
func TestHindsightDocuments(t *testing.T) {
	features.Proves(t, "K28")
	for name, list := range map[string][]bank.Memory{"short ones": memories(3000, 100),
		"long ones": memories(60, 15_000), "one": memories(1, 5)} {
		t.Run(name, func(t *testing.T) {
			for _, full := range []bool{false, true} {
				t.Run(fmt.Sprintf("full session %v", full), func(t *testing.T) {
					var bodies [2]string
					for i := range bodies {
						f := newFake()
						f.change = func(o *server.Options) { o.FullSession = full }
						if _, err := f.open().Retain(list); err != nil {
							t.Fatal(err)
						}
						for range 40 { // eight requests a call
							f.open().Deliver()
						}
						for _, r := range f.asked {
							if len(r.Body) > 1<<20 {
								t.Errorf("a request of %d bytes", len(r.Body))
							}
							if strings.HasSuffix(r.URL, "/v1/default/banks/b/memories") {
								bodies[i] += r.Body + "\n"
							}
						}
					}
					if bodies[0] != bodies[1] {
						t.Errorf("%s: twice is not the same", name)
					}
					lines := 0
					for doc := range strings.Lines(bodies[0]) {
						var req struct {
							Items []struct {
								Content    string
								DocumentID string `json:"document_id"`
								UpdateMode string `json:"update_mode"`
							}
							OperationID string `json:"operation_id"`
						}
						if err := json.Unmarshal([]byte(doc), &req); err != nil {
							t.Fatal(err)
						}
						if !regexp.MustCompile(
							`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(req.OperationID) {
							t.Errorf("operation %s", req.OperationID)
						}
						for _, it := range req.Items {
							lines += strings.Count(it.Content, "] line ")
							if len(it.Content) > 25<<10 || full != (it.DocumentID == "s1" && it.UpdateMode == "append") {
								t.Errorf("document %s of %d bytes, %s", it.DocumentID, len(it.Content), it.UpdateMode)
							}
						}
					}
					if lines != len(list) {
						t.Errorf("%d of %d lines", lines, len(list))
					}
				})
			}
		})
	}
}

// TestHindsightGreets: a server of another version is told of, once, and
// another server is a new one.
func TestHindsightGreets(t *testing.T) {
	features.Proves(t, "K28")
	f := newFake()
	old := f.answer
	f.answer = func(r abi.HTTPRequest) (*abi.HTTPResponse, error) {
		if strings.HasSuffix(r.URL, "/version") {
			return &abi.HTTPResponse{Status: 200, Body: `{"api_version":"0.8.4"}`}, nil
		}
		return old(r)
	}
	deliver := func() {
		b := f.open()
		if _, err := b.Retain(memories(1, len(f.asked))); err != nil {
			t.Fatal(err)
		}
		b.Deliver()
	}
	deliver()
	deliver()
	if n := strings.Count(strings.Join(f.warnings, "\n"), `version "0.8.4"`); n != 1 {
		t.Errorf("said %d times: %q", n, f.warnings)
	}
	f.change = func(o *server.Options) { o.URL = "https://memory.example.com" }
	deliver()
	if n := strings.Count(strings.Join(f.warnings, "\n"), `version "0.8.4"`); n != 2 {
		t.Errorf("the other server is taken for known: %q", f.warnings)
	}
	if r := f.asked[0]; r.Headers["Authorization"] != "Bearer {{secret:api_token}}" || r.TimeoutMS != 1000 ||
		r.URL != "http://localhost:8888/version" {
		t.Errorf("%+v", r)
	}
}

// TestHindsightWithoutToken: where the operator gave no token the request
// goes without, and one that is not granted is not sent twice.
func TestHindsightWithoutToken(t *testing.T) {
	features.Proves(t, "K28")
	f := newFake()
	f.answer = func(r abi.HTTPRequest) (*abi.HTTPResponse, error) {
		if r.Headers["Authorization"] != "" {
			return nil, &abi.Error{Code: abi.CodeDenied, Message: `there is no secret "api_token"`}
		}
		return &abi.HTTPResponse{Status: 200, Body: `{"results":[{"id":"1","text":"found"}]}`}, nil
	}
	if hits, err := f.open().Recall(bank.Query{Text: "q"}); err != nil || len(hits) != 1 || hits[0].Text != "found" {
		t.Errorf("%+v, %v", hits, err)
	}
	f.answer = func(abi.HTTPRequest) (*abi.HTTPResponse, error) {
		return nil, &abi.Error{Code: abi.CodeDenied, Message: "not granted"}
	}
	if _, err := f.open().Recall(bank.Query{Text: "q"}); err == nil ||
		!strings.Contains(err.Error(), "--grant http=localhost:8888") {
		t.Errorf("%v", err)
	}
}
