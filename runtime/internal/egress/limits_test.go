package egress_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/egress"
)

func TestQuotas(t *testing.T) {
	here := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/exact":
			w.Write(make([]byte, 1000))
		case "/long":
			w.Write(make([]byte, 1001))
		case "/endless":
			for r.Context().Err() == nil {
				w.Write(make([]byte, 1<<16))
			}
		case "/headers":
			for i := range 1000 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("x", 100))
			}
		case "/many":
			for i := range 200 {
				w.Header().Set(fmt.Sprintf("X-%d", i), "x")
			}
		case "/hop":
			http.Redirect(w, r, "/exact", http.StatusFound)
		}
	})
	c := client(t, egress.Options{Grants: []string{here}})
	for _, tc := range []struct {
		path string
		body int
		code abi.Code
		why  string
	}{
		{"/exact", 1000, "", "just what is allowed"},
		{"/exact", 1001, abi.CodeQuota, "a request too long"},
		{"/long", 0, abi.CodeQuota, "a response too long"},
		{"/endless", 0, abi.CodeQuota, "a response without end"},
		{"/headers", 0, abi.CodeNetwork, "headers of 100 kB: the client gives up"},
		{"/many", 0, "", "many headers"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			s := c.Session(egress.Limits{Requests: 1, BodyBytes: 1000})
			resp, err := s.Do(t.Context(), egress.Request{Method: "PUT", URL: "http://" + here + tc.path,
				Body: make([]byte, tc.body)})
			if abi.CodeOf(err) != tc.code {
				t.Errorf("%v", err)
			}
			if err == nil && len(resp.Headers) > 64 {
				t.Errorf("%d headers", len(resp.Headers))
			}
			s.Close()
		})
	}
	s := c.Session(egress.Limits{Requests: 3, BodyBytes: 1000})
	defer s.Close()
	for i, tc := range []struct {
		path string
		code abi.Code
	}{{"/hop", ""}, {"/hop", abi.CodeQuota}, {"/exact", abi.CodeQuota}} {
		t.Run(fmt.Sprintf("request %d: %s", i, tc.path), func(t *testing.T) {
			if _, err := s.Do(t.Context(), egress.Request{URL: "http://" + here + tc.path}); abi.CodeOf(err) != tc.code {
				t.Errorf("request %d: %v", i, err)
			}
		})
	}
	if u := s.Used(); u.Requests != 3 || u.Bytes != 1000 {
		t.Errorf("used %+v", u)
	}
}

func TestTime(t *testing.T) {
	here := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" { // a byte now and then
			w.WriteHeader(200)
			for r.Context().Err() == nil {
				w.Write([]byte("x"))
				w.(http.Flusher).Flush()
				time.Sleep(5 * time.Millisecond)
			}
		}
		<-r.Context().Done()
	})
	c := client(t, egress.Options{Grants: []string{here}})
	for _, path := range []string{"/never", "/slow"} {
		t.Run(path, func(t *testing.T) {
			_, err := do(t, c, egress.Request{URL: "http://" + here + path, Timeout: 50 * time.Millisecond})
			if abi.CodeOf(err) != abi.CodeDeadline || !strings.Contains(err.Error(), "50 ms") {
				t.Errorf("%s, the request's own time: %v", path, err)
			}
			s := c.Session(limits)
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			if _, err := s.Do(ctx, egress.Request{URL: "http://" + here + path}); abi.CodeOf(err) != abi.CodeDeadline {
				t.Errorf("%s, the call's time: %v", path, err)
			}
			cancel()
			ctx, cancel = context.WithCancel(t.Context())
			time.AfterFunc(20*time.Millisecond, cancel)
			if _, err := s.Do(ctx, egress.Request{URL: "http://" + here + path}); abi.CodeOf(err) != abi.CodeCanceled {
				t.Errorf("%s, a caller that gives up: %v", path, err)
			}
			s.Close()
		})
	}
}
