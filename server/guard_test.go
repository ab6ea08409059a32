package server_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/server"
)

// TestHosts: a name that nobody gave is refused, whatever the token: another site's name
// may be made to point here.
func TestHosts(t *testing.T) {
	s := start(t)
	for host, want := range map[string]int{"localhost": 200, "LOCALHOST:7433": 200, "127.0.0.1:80": 200, "[::1]:7433": 200,
		"192.168.1.7": 200, "evil.example": 421, "localhost.evil.example": 421, "127.0.0.1.nip.io": 421, "xlocalhost": 421} {
		if r := s.Do("GET", "/sessions", nil, "Host: "+host); r.Status != want {
			t.Errorf("%s: %d, want %d", host, r.Status, want)
		}
	}
}

// TestOrigins: pages of other origins change nothing, not even with the cookie.
func TestOrigins(t *testing.T) {
	s := start(t)
	own := "Origin: " + s.URL
	for _, tc := range []struct {
		header string
		want   int
	}{{own, 201}, {"Origin: http://evil.example", 403}, {"Origin: null", 403}, {"Sec-Fetch-Site: cross-site", 403},
		{"Sec-Fetch-Site: same-site", 403}, {"Sec-Fetch-Site: same-origin", 201}, {"X-Other: nothing", 201}} {
		if r := s.Do("POST", "/sessions", map[string]any{}, tc.header); r.Status != tc.want {
			t.Errorf("%s: %d, want %d", tc.header, r.Status, tc.want)
		}
	}
}

// TestBrowserWithoutTheCookie: a person whom the server does not know gets a page that says how
// to get in, and neither the token nor anything of a session; programs get a problem.
func TestBrowserWithoutTheCookie(t *testing.T) {
	s := start(t)
	stranger := *s
	stranger.Token = ""
	const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	for path, page := range map[string]bool{"/": true, "/sessions/x": true, "/open?token=wrong": true,
		"/api/v1/sessions": false} {
		for accept, human := range map[string]bool{browser: page, "*/*": false, "": false} {
			r := stranger.Send(t, "GET", path, "", "Accept: "+accept)
			status, typ, body := r.Status, r.Header.Get("Content-Type"), string(r.Body)
			says := "kagewasm serve"
			want := "application/problem+json"
			if human {
				want = "text/html; charset=utf-8"
				says = "open http://.../open?token=..."
			}
			if status != 401 || typ != want || !strings.Contains(body, says) || strings.Contains(body, s.Token) {
				t.Errorf("%s for %q: %d %s\n%s", path, accept, status, typ, body)
			}
		}
	}
}

// TestBrowser: the link makes a browser known by a cookie that scripts cannot read and
// other sites do not send; the cookie is not the token.
func TestBrowser(t *testing.T) {
	s := start(t)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	get := func(path string, cookies ...*http.Cookie) *http.Response {
		req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range cookies {
			req.AddCookie(c)
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp
	}
	resp := get(s.Handler.OpenPath())
	if resp.StatusCode != http.StatusSeeOther || resp.Header.Get("Location") != "/" || len(resp.Cookies()) != 1 {
		t.Fatalf("%s to %s", resp.Status, resp.Header.Get("Location"))
	}
	cookie := resp.Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || strings.Contains(cookie.Value, servetest.Token) {
		t.Errorf("%+v", cookie)
	}
	if resp := get("/api/v1/sessions", cookie); resp.StatusCode != 200 {
		t.Errorf("with the cookie: %s", resp.Status)
	}
	if resp := get("/api/v1/sessions", &http.Cookie{Name: cookie.Name, Value: servetest.Token}); resp.StatusCode != 401 {
		t.Errorf("with another cookie: %s", resp.Status)
	}
	if resp := get("/open?token=wrong"); resp.StatusCode != 401 || len(resp.Cookies()) != 0 {
		t.Errorf("with a wrong link: %s", resp.Status)
	}
	csp := resp.Header.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"} {
		if !strings.Contains(csp, part) || strings.Contains(csp, "unsafe") {
			t.Errorf("the policy is %q", csp)
		}
	}
}

// own is a server with options of its own.
func own(t *testing.T, opts server.Options) *servetest.Server {
	s := servetest.Start(t, &servetest.Host{}, service.Options{})
	opts.Service, opts.Token = s.Service, servetest.Token
	h := server.New(opts)
	started := httptest.NewUnstartedServer(nil)
	started.Config = h.HTTP()
	started.Start()
	t.Cleanup(started.Close)
	s.URL, s.Handler = started.URL, h
	return s
}

// TestLimits: too many requests, wrong tokens and too much in one are refused, and what is
// right goes on.
func TestLimits(t *testing.T) {
	s := own(t, server.Options{Rate: 3, MaxBody: 1000})
	s.Must(201, "POST", "/sessions", map[string]any{"id": "a"}, nil)
	long := fmt.Sprintf(`{"messages":[{"role":"user","content":%q}]}`, strings.Repeat("x", 2000))
	if r := s.Do("POST", "/sessions/a/messages", long); r.Status != 413 {
		t.Errorf("%d for a long body: %s", r.Status, r.Body)
	}
	ask := func(from, token string) (refused int) {
		for range 20 {
			r := httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost/api/v1/sessions", nil)
			r.RemoteAddr = from
			r.Header.Set("Authorization", "Bearer "+token)
			w := httptest.NewRecorder()
			s.Handler.ServeHTTP(w, r)
			if w.Code == 429 && w.Header().Get("Retry-After") != "" {
				refused++
			}
		}
		return refused
	}
	if n := ask("192.0.2.1:4000", servetest.Token); n < 10 {
		t.Errorf("of another machine's %d of 20 at once are refused", n)
	}
	for _, from := range []string{"127.0.0.1:4000", "[::1]:4000", "[::ffff:127.0.0.2]:4000"} {
		if n := ask(from, servetest.Token); n > 0 {
			t.Errorf("of %s's, which shows the token, %d of 20 are refused", from, n)
		}
	}
	if n := ask("127.0.0.3:4000", "wrong"); n < 10 {
		t.Errorf("of those with a wrong token %d of 20 at once are refused", n)
	}
	s = own(t, server.Options{Rate: -1})
	s.Token = "wrong"
	last := 0
	for range 30 {
		last = s.Do("GET", "/sessions", nil).Status
	}
	if last != 429 {
		t.Errorf("%d behind 30 wrong tokens", last)
	}
}

// TestSlowClients: a client that does not say what it wants is hung up on.
func TestSlowClients(t *testing.T) {
	h := own(t, server.Options{}).Handler.HTTP()
	if h.ReadHeaderTimeout <= 0 || h.ReadTimeout <= 0 || h.IdleTimeout <= 0 || h.MaxHeaderBytes <= 0 {
		t.Errorf("%+v", h)
	}
	h.ReadHeaderTimeout = 50 * time.Millisecond
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = h.Serve(l) }()
	defer h.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprint(c, "GET / HTTP/1.1\r\nHost:")
	if _, err := io.ReadAll(c); err != nil { // returns when it is closed
		t.Error(err)
	}
}

// TestNothingSecretInLogs: what is said, tokens and queries are in no line of the log.
func TestNothingSecretInLogs(t *testing.T) {
	var b bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s := servetest.Start(t, &servetest.Host{}, service.Options{Log: log})
	h := server.New(server.Options{Service: s.Service, Token: servetest.Token, Log: log, Rate: -1})
	ask := func(method, path, body string) {
		r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+path, strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+servetest.Token)
		r.Header.Set("Content-Type", "application/json")
		h.ServeHTTP(httptest.NewRecorder(), r)
	}
	ask("POST", "/api/v1/sessions", `{"id":"a"}`)
	ask("POST", "/api/v1/sessions/a/messages", `{"messages":[{"role":"user","content":"the word is xyzzy"}]}`)
	ask("GET", "/api/v1/sessions/a/search?q=xyzzy", "")
	ask("GET", h.OpenPath(), "")
	s.Store.Close() // an error of the server's own
	ask("GET", "/api/v1/sessions/a", "")
	text := b.String()
	if strings.Count(text, `"msg":"request"`) != 5 || strings.Contains(text, "xyzzy") || strings.Contains(text,
		servetest.Token) {
		t.Errorf("%s", text)
	}
}

// TestPanics: a page that panics is an error of one request.
func TestPanics(t *testing.T) {
	s := servetest.Start(t, &servetest.Host{}, service.Options{})
	h := server.New(server.Options{Service: s.Service, Token: "t", Rate: -1,
		Pages: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a fault") })})
	w := httptest.NewRecorder()
	r := httptest.NewRequestWithContext(server.Trusted(t.Context()), "GET", "http://localhost/page", nil)
	h.ServeHTTP(w, r)
	if w.Code != 500 || strings.Contains(w.Body.String(), "a fault") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// TestHealth: who watches over the server needs no token.
func TestHealth(t *testing.T) {
	s := start(t)
	s.Token = ""
	resp, err := http.Get(s.URL + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != 200 {
		t.Error(resp.Status)
	}
}

// TestMetrics: Prometheus is told of requests by route, and of compactions.
func TestMetrics(t *testing.T) {
	features.Proves(t, "K13")
	s := start(t)
	s.Must(201, "POST", "/sessions", map[string]any{"id": "a", "context_window": 300}, nil)
	s.Must(201, "POST", "/sessions/a/messages", map[string]any{"messages": servetest.Chat(20)}, nil)
	s.Must(200, "GET", "/sessions/a/context", nil, nil)
	r := s.Do("GET", "/../../metrics", nil)
	for _, want := range []string{`kagewasm_compactions_total{outcome="completed"} 1`, "kagewasm_sessions_open 1",
		`kagewasm_http_request_seconds_count{route="POST /api/v1/sessions/{session}/messages",status="201"} 1`} {
		if !strings.Contains(string(r.Body), want) {
			t.Errorf("no %s in %.2000s", want, r.Body)
		}
	}
	if got := r.Header.Get("Content-Type"); got != "text/plain; version=0.0.4; charset=utf-8" {
		t.Error(got)
	}
	// Every line is one of the text format: a family is named before its samples, and the
	// buckets of a histogram add up to its count.
	family, within := "", 0.0
	for line := range strings.Lines(string(r.Body)) {
		m := exposed.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			t.Fatalf("no line of the format: %q", line)
		}
		if m[1] != "" {
			family = m[1]
			continue
		}
		value, err := strconv.ParseFloat(m[4], 64)
		base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(m[2], "")
		if err != nil || base != family && m[2] != family {
			t.Errorf("%v, %q under %s", err, line, family)
		}
		switch {
		case strings.HasSuffix(m[2], "_bucket"):
			if value < within && !strings.Contains(line, `le="0.001"`) {
				t.Errorf("a bucket has less than the one before: %q", line)
			}
			within = value
		case strings.HasSuffix(m[2], "_count") && value != within:
			t.Errorf("%q, and the buckets have %v", line, within)
		}
	}
}

// exposed is a line of Prometheus' text format: a comment with the name of a family, or a
// sample with labels and a value.
var exposed = regexp.MustCompile(`^(?:# (?:HELP|TYPE) ([a-z_]+) .+|` +
	`([a-z_]+)(\{(?:[a-z]+="(?:[^"\\]|\\.)*",?)+\})? ([-+0-9.e]+|\+Inf))$`)
