package egress_test

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/egress"
)

func TestHeaders(t *testing.T) {
	var got http.Header
	var host string
	here := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got, host = r.Header.Clone(), r.Host
		w.Header().Add("X-Two", "a")
		w.Header().Add("X-Two", "b")
		w.Header().Set("Set-Cookie", "session=1")
		w.Header().Set("Alt-Svc", `h3=":443"`)
		w.Header().Set("Content-Encoding", "gzip")
		w.Write([]byte("\x1f\x8b not a bomb"))
	})
	c := client(t, egress.Options{Grants: []string{here}, Secrets: map[string]string{"key": "hunter2", "torn": "a\nb"}})
	s := c.Session(limits)
	defer s.Close()
	for range 2 {
		resp, err := s.Do(t.Context(), egress.Request{URL: "http://" + here,
			Headers: map[string]string{"x-own": "1", "Cookie": "mine"}})
		if err != nil {
			t.Fatal(err)
		}
		if resp.Headers["x-two"] != "a, b" || resp.Headers["content-encoding"] != "gzip" ||
			resp.Headers["set-cookie"] != "" || resp.Headers["alt-svc"] != "" {
			t.Errorf("the guest sees %v", resp.Headers)
		}
		if string(resp.Body) != "\x1f\x8b not a bomb" {
			t.Errorf("the body was touched: %q", resp.Body)
		}
		if got.Get("X-Own") != "1" || got.Get("Accept-Encoding") != "identity" || got.Get("User-Agent") != "kagewasm" ||
			got.Get("Cookie") != "mine" || host != here {
			t.Errorf("the server of %s sees %v", host, got)
		}
	}
	many := make(map[string]string)
	for i := range 65 {
		many[fmt.Sprintf("x-%d", i)] = ""
	}
	for _, tc := range []struct {
		headers map[string]string
		code    abi.Code
		why     string
	}{
		{map[string]string{"Host": "evil.test"}, abi.CodeUsage, "another host"},
		{map[string]string{"connection": "keep-alive"}, abi.CodeUsage, "the connection"},
		{map[string]string{"Transfer-Encoding": "chunked"}, abi.CodeUsage, "smuggling by chunks"},
		{map[string]string{"Content-Length": "5"}, abi.CodeUsage, "smuggling by length"},
		{map[string]string{"Proxy-Authorization": "x"}, abi.CodeUsage, "a key for the proxy"},
		{map[string]string{"Upgrade": "websocket"}, abi.CodeUsage, "another protocol"},
		{map[string]string{"X-Forwarded-For": "10.0.0.1"}, abi.CodeUsage, "posing as somebody"},
		{map[string]string{"Accept-Encoding": "gzip"}, abi.CodeUsage, "asking for a bomb"},
		{map[string]string{"x": "a\r\nHost: evil.test"}, abi.CodeUsage, "a line break"},
		{map[string]string{"x y": ""}, abi.CodeUsage, "a space in the name"},
		{map[string]string{"": ""}, abi.CodeUsage, "no name"},
		{map[string]string{"x-a": "1", "X-A": "2"}, abi.CodeUsage, "twice"},
		{map[string]string{"x": strings.Repeat("x", 20_000)}, abi.CodeQuota, "too long"},
		{many, abi.CodeQuota, "too many"},
		{map[string]string{"x": "{{secret:other}}"}, abi.CodeDenied, "a secret there is none of"},
		{map[string]string{"x": "{{secret:key"}, abi.CodeUsage, "half a secret"},
		{map[string]string{"x": "{{secret:torn}}"}, abi.CodeUsage, "a secret that breaks the line"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			_, err := do(t, c, egress.Request{URL: "http://" + here, Headers: tc.headers})
			if abi.CodeOf(err) != tc.code {
				t.Errorf("%s: %v", tc.why, err)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error tells the secret: %v", err)
			}
		})
	}
	for _, method := range []string{"CONNECT", "TRACE", "OPTIONS", "GET /x HTTP/1.1\r\n", "get "} {
		t.Run(fmt.Sprintf("%q", method), func(t *testing.T) {
			if _, err := do(t, c, egress.Request{Method: method, URL: "http://" + here}); abi.CodeOf(err) != abi.CodeUsage {
				t.Errorf("method %q: %v", method, err)
			}
		})
	}
}

// A header of many secrets is refused before it is put together.
func TestSecretsTooLong(t *testing.T) {
	const secretBytes, times = 16 << 10, 5_000 // 80 MB
	c := client(t, egress.Options{Grants: []string{"127.0.0.1:9"},
		Secrets: map[string]string{"key": strings.Repeat("x", secretBytes)}})
	headers := map[string]string{"x": strings.Repeat("{{secret:key}}", times)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := do(t, c, egress.Request{URL: "http://127.0.0.1:9", Headers: headers})
	runtime.ReadMemStats(&after)
	if abi.CodeOf(err) != abi.CodeQuota {
		t.Error(err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 4<<20 {
		t.Errorf("it took %d bytes", took)
	}
}
