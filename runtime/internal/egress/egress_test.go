package egress_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/egress"
)

// limits of the tests, as a call has them.
var limits = egress.Limits{Requests: 16, BodyBytes: 1 << 20}

// serve starts a server on loopback and returns it as host:port.
func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return strings.TrimPrefix(s.URL, "http://")
}

func client(t *testing.T, o egress.Options) *egress.Client {
	t.Helper()
	if o.Lookup == nil {
		o.Lookup = func(_ context.Context, host string) ([]netip.Addr, error) {
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		}
	}
	c, err := egress.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func do(t *testing.T, c *egress.Client, r egress.Request) (*egress.Response, error) {
	t.Helper()
	s := c.Session(limits)
	defer s.Close()
	return s.Do(t.Context(), r)
}

// at is a lookup that leads every name to the same addresses.
func at(addresses ...string) func(context.Context, string) ([]netip.Addr, error) {
	return func(context.Context, string) ([]netip.Addr, error) {
		var out []netip.Addr
		for _, a := range addresses {
			out = append(out, netip.MustParseAddr(a))
		}
		return out, nil
	}
}

func hello(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }

func TestNothingIsReachableUnlessGranted(t *testing.T) {
	here := serve(t, hello)
	port := here[strings.LastIndexByte(here, ':')+1:]
	for _, tc := range []struct {
		grant, url string
		code       abi.Code
		why        string
	}{
		{"", "http://" + here, abi.CodeDenied, "nothing by default"},
		{here, "http://" + here, "", "a loopback address that is granted"},
		{"http://" + here, "http://" + here + "/x?y=z", "", "with its scheme"},
		{"localhost:" + port, "http://localhost:" + port, "", "this machine by its name"},
		{"localhost:" + port, "http://LOCALHOST.:" + port, "", "in another spelling"},
		{"localhost:" + port, "http://127.0.0.1:" + port, abi.CodeDenied, "a name is not its address"},
		{here, "http://localhost:" + port, abi.CodeDenied, "nor an address its name"},
		{here, "http://[::ffff:127.0.0.1]:" + port, "", "the same address in another form"},
		{here, "http://127.0.0.1.:" + port, "", "with a dot at its end"},
		{"https://" + here, "http://" + here, abi.CodeDenied, "another scheme"},
		{"127.0.0.1", "http://" + here, abi.CodeDenied, "another port"},
		{"127.0.0.1:1", "http://127.0.0.1:1", abi.CodeNetwork, "granted, and nobody there"},
		{"http://example.com", "https://example.com", abi.CodeDenied, "http is not https"},
		{"example.com", "http://example.com", abi.CodeDenied, "https is not http"},
		{"example.com", "https://example.com:8443", abi.CodeDenied, "another port"},
		{"example.com", "https://api.example.com", abi.CodeDenied, "no wildcards"},
		{"example.com", "https://example.com.evil.test", abi.CodeDenied, "another name"},
		{"example.com", "https://EXAMPLE.com./", abi.CodeNetwork, "the same name: granted, and nobody there"},
		{here, "http://2130706433:" + port, abi.CodeUsage, "a decimal address"},
		{here, "http://0177.0.0.1:" + port, abi.CodeUsage, "an octal one"},
		{here, "http://0x7f000001:" + port, abi.CodeUsage, "a hexadecimal one"},
		{here, "http://0x7f.1:" + port, abi.CodeUsage, "a mixed one"},
		{here, "http://127.1:" + port, abi.CodeUsage, "a short one"},
		{here, "http://127.0.0.1.0x7f:" + port, abi.CodeUsage, "a name that ends like one"},
		{here, "http://evil.test@" + here, abi.CodeUsage, "a user"},
		{here, "http://" + here + "@evil.test", abi.CodeUsage, "an address as the user"},
		{here, "http://[fe80::1%25eth0]:" + port, abi.CodeUsage, "a zone"},
		{here, "http://①②⑦.0.0.1:" + port, abi.CodeUsage, "digits that are not ASCII"},
		{"example.com", "https://еxample.com", abi.CodeUsage, "a Cyrillic e"},
		{"example.com", "https://example。com", abi.CodeUsage, "a full stop of another script"},
		{"example.com", "https://exa%6dple.com", abi.CodeUsage, "an escaped letter"},
		{here, "http://127.0.0.1:0" + port, "", "a port with a zero before it"},
		{here, "http://127.0.0.1:99999", abi.CodeUsage, "no port"},
		{here, "ftp://" + here, abi.CodeUsage, "another protocol"},
		{here, "file:///etc/passwd", abi.CodeUsage, "a file"},
		{here, "//" + here, abi.CodeUsage, "no scheme"},
		{here, "http:" + here, abi.CodeUsage, "no host"},
		{here, "http://" + here + "/" + strings.Repeat("x", 9000), abi.CodeQuota, "a long url"},
		{"private+" + here, "http://" + here, "", "the mark changes nothing for an address"},
	} {
		var grants []string
		if tc.grant != "" {
			grants = []string{tc.grant}
		}
		resp, err := do(t, client(t, egress.Options{Grants: grants}), egress.Request{URL: tc.url})
		if abi.CodeOf(err) != tc.code {
			t.Errorf("%s under %q: %v, want code %q: %s", tc.url, tc.grant, err, tc.code, tc.why)
		}
		if err == nil && string(resp.Body) != "hello" {
			t.Errorf("%s: %q", tc.url, resp.Body)
		}
	}
}

func TestBadGrants(t *testing.T) {
	for grant, why := range map[string]string{
		"": "nothing", "*.example.com": "a wildcard", "https://a.test/path": "a path", "a.test?x": "a query", "ftp://a.test": "another protocol",
		"u@a.test": "a user", "a.test:0": "no port", "0.0.0.0:80": "an address that is nobody's", "[::]:80": "the same", "224.0.0.1": "many's",
		"127.1": "a short address", "[fe80::1%eth0]": "a zone", "a b": "a space", "bücher.example": "not ASCII",
	} {
		if _, err := egress.New(egress.Options{Grants: []string{grant}}); abi.CodeOf(err) != abi.CodeUsage {
			t.Errorf("grant %q, %s: %v", grant, why, err)
		}
	}
}

// TestAddresses: whatever a name that is granted leads to, the address decides.
func TestAddresses(t *testing.T) {
	for _, tc := range []struct{ address, why string }{
		{"127.0.0.1", "loopback"}, {"127.8.8.8", "all of it"}, {"::1", "loopback"}, {"10.1.2.3", "private"}, {"172.16.0.1", "private"},
		{"172.31.255.255", "private"}, {"192.168.1.1", "private"}, {"fc00::1", "private"}, {"fd12:3456::1", "private"}, {"100.64.0.1", "carrier-grade NAT"},
		{"100.100.100.200", "metadata"}, {"169.254.169.254", "metadata"}, {"fd00:ec2::254", "metadata"}, {"169.254.1.1", "link-local"}, {"fe80::1", "link-local"},
		{"0.0.0.0", "unspecified"}, {"::", "unspecified"}, {"0.1.2.3", "this network"}, {"224.0.0.1", "multicast"}, {"ff02::1", "multicast"},
		{"255.255.255.255", "broadcast"}, {"240.0.0.1", "reserved"}, {"192.0.2.1", "documentation"}, {"198.51.100.1", "documentation"},
		{"203.0.113.1", "documentation"}, {"2001:db8::1", "documentation"}, {"198.18.0.1", "benchmarks"}, {"192.0.0.8", "assignments"},
		{"::ffff:127.0.0.1", "IPv4-mapped"}, {"::ffff:10.0.0.1", "IPv4-mapped"}, {"::127.0.0.1", "IPv4-compatible"}, {"2002:7f00:1::1", "6to4"},
		{"64:ff9b::7f00:1", "NAT64"}, {"64:ff9b:1::1", "NAT64"}, {"2001::1", "Teredo"}, {"fec0::1", "site-local"}, {"5f00::1", "segment routing"}, {"3fff::1", "documentation"},
	} {
		for _, grant := range []string{"http://rebound.test", "rebound.test"} {
			u := grant
			if !strings.HasPrefix(u, "http") {
				u = "https://" + u
			}
			_, err := do(t, client(t, egress.Options{Grants: []string{grant}, Lookup: at(tc.address)}), egress.Request{URL: u})
			if abi.CodeOf(err) != abi.CodeDenied {
				t.Errorf("%s (%s): %v", tc.address, tc.why, err)
			}
			if err != nil && strings.Contains(err.Error(), tc.address) {
				t.Errorf("the guest is told the address: %v", err)
			}
		}
	}
}

// TestReach: which addresses a grant leads to, asked of the check that sits on
// the socket.
func TestReach(t *testing.T) {
	for _, tc := range []struct {
		grant, url, address string
		reached             bool
		why                 string
	}{
		{"a.test", "https://a.test", "8.8.8.8:443", true, "the internet"},
		{"a.test", "https://a.test", "[2606:4700::1111]:443", true, "the internet"},
		{"a.test", "https://a.test", "[::ffff:8.8.8.8]:443", true, "an IPv4 address of the internet"},
		{"a.test", "https://a.test", "8.8.8.8:80", false, "another port"},
		{"a.test", "https://b.test", "8.8.8.8:443", false, "another name"},
		{"a.test", "https://a.test", "10.0.0.1:443", false, "a private network, without the mark"},
		{"private+http://a.test", "http://a.test", "8.8.8.8:80", true, "the mark adds to the internet"},
		{"private+http://a.test", "http://a.test", "10.255.255.1:80", true, ""},
		{"private+http://a.test", "http://a.test", "172.31.0.1:80", true, ""},
		{"private+http://a.test", "http://a.test", "192.168.255.254:80", true, ""},
		{"private+http://a.test", "http://a.test", "100.64.0.1:80", true, ""},
		{"private+http://a.test", "http://a.test", "[fd12:3456::1]:80", true, ""},
		{"private+http://a.test", "http://a.test", "[fe80::1%eth0]:80", false, "link-local"},
		{"private+http://a.test", "http://a.test", "127.0.0.1:80", false, "loopback is no network"},
		{"private+http://a.test", "http://a.test", "169.254.169.254:80", false, "metadata"},
		{"private+http://a.test", "http://a.test", "[fd00:ec2::254]:80", false, "metadata"},
		{"private+http://a.test", "http://a.test", "100.100.100.200:80", false, "metadata"},
		{"private+http://a.test", "https://a.test", "10.0.0.1:443", false, "for http alone"},
		{"localhost:80", "http://localhost", "127.0.0.1:80", true, "loopback"},
		{"localhost:80", "http://localhost", "[::1]:80", true, "loopback"},
		{"localhost:80", "http://localhost", "8.8.8.8:80", false, "and nothing else"},
		{"http://10.0.0.7", "http://10.0.0.7", "10.0.0.7:80", true, "an address leads to itself"},
		{"http://10.0.0.7", "http://10.0.0.7", "10.0.0.8:80", false, "and nothing else"},
		{"http://169.254.169.254", "http://169.254.169.254", "169.254.169.254:80", true, "by its address anything can be granted"},
		{"http://[fd00::7]", "http://[FD00:0::7]", "[fd00::7]:80", true, "in whatever form"},
		{"fd00::7", "https://[fd00::7]", "[fd00::7]:443", true, "without brackets"},
		{"::1", "http://[::1]", "[::1]:80", true, "loopback of IPv6"},
		{"10.0.0.7", "http://10.0.0.7", "10.0.0.7:80", false, "bare is https, but on this machine"},
	} {
		ok, err := client(t, egress.Options{Grants: []string{tc.grant}}).Reaches(tc.url, tc.address)
		if err != nil || ok != tc.reached {
			t.Errorf("%s for %s under %q: %v, %v: %s", tc.address, tc.url, tc.grant, ok, err, tc.why)
		}
	}
}

// TestRebinding: a name leads elsewhere from one look to the next. There is
// one look, and what it returned is what is checked and connected to.
func TestRebinding(t *testing.T) {
	here := serve(t, hello)
	_, port, _ := net.SplitHostPort(here)
	lookups := 0
	lookup := func(context.Context, string) ([]netip.Addr, error) {
		if lookups++; lookups == 1 {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("10.0.0.1")}, nil
		}
		t.Error("a second look: an address of the internet, to pass a check")
		return nil, errors.New("no more")
	}
	c := client(t, egress.Options{Grants: []string{"http://rebound.test:" + port}, Lookup: lookup})
	if _, err := do(t, c, egress.Request{URL: "http://rebound.test:" + port}); abi.CodeOf(err) != abi.CodeDenied || lookups != 1 {
		t.Errorf("after %d lookups: %v", lookups, err)
	}
}

// FuzzHost: a host has one spelling, and one that reads as an address is that
// address.
func FuzzHost(f *testing.F) {
	for _, s := range []string{"example.com", "EXAMPLE.com.", "127.0.0.1", "127.1", "0x7f.1", "::1", "::ffff:1.2.3.4", "a..b", "xn--bcher-kva.example", "1.2.3.4."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := egress.NormalHost(s)
		if err != nil {
			return
		}
		if again, err := egress.NormalHost(h); err != nil || again != h {
			t.Errorf("%q is %q, which is %q, %v", s, h, again, err)
		}
		if a, err := netip.ParseAddr(h); err == nil {
			if a.Is4In6() || a.Zone() != "" {
				t.Errorf("%q is %v", s, a)
			}
		} else if last := h[strings.LastIndexByte(h, '.')+1:]; strings.Trim(last, "0123456789") == "" {
			t.Errorf("%q is %q: a name that resolvers take for an address", s, h)
		}
	})
}

// FuzzURL: whatever a URL looks like, what is sent goes to the origin that is
// granted, by any parser's reading.
func FuzzURL(f *testing.F) {
	for _, s := range []string{"https://api.test/x?y=z#f", "https://api.test//evil.test", `https://api.test\@evil.test`, "https://api.test:443@evil.test", "https://api.test?a b", "https://API.test.:0443/%2f..", "https://api.test/\tx", "https:api.test"} {
		f.Add(s)
	}
	c, err := egress.New(egress.Options{Grants: []string{"api.test"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		sent, err := c.Aim(s)
		if err != nil {
			return
		}
		rest, ok := strings.CutPrefix(sent, "https://api.test")
		if !ok || rest != "" && rest[0] != '/' && rest[0] != '?' || strings.ContainsAny(sent, " \t\r\n\\#") {
			t.Errorf("%q is sent to %q", s, sent)
		}
	})
}

func TestRedirects(t *testing.T) {
	type seen struct {
		method, auth, key, accept, agent, kind, body string
	}
	var last seen
	look := func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		last = seen{r.Method, r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"), r.Header.Get("Accept"), r.Header.Get("User-Agent"), r.Header.Get("Content-Type"), string(b)}
		hello(w, r)
	}
	other := serve(t, look)
	strange := serve(t, look)
	var here string
	here = serve(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if to := q.Get("to"); to != "" {
			code := http.StatusFound
			fmt.Sscan(q.Get("code"), &code)
			w.Header().Set("Location", to)
			w.WriteHeader(code)
			return
		}
		if r.URL.Path == "/loop" {
			http.Redirect(w, r, "/loop", http.StatusFound)
			return
		}
		look(w, r)
	})
	c := client(t, egress.Options{Grants: []string{here, other}, Secrets: map[string]string{"key": "hunter2"}})
	to := func(code int, to string) string {
		return fmt.Sprintf("http://%s/?code=%d&to=%s", here, code, url.QueryEscape(to))
	}
	headers := map[string]string{
		"Authorization": "Bearer {{secret:key}}", "X-Api-Key": "{{secret:key}}", "Accept": "text/x", "Content-Type": "text/y", "User-Agent": "mine {{secret:key}}",
	}
	for _, tc := range []struct {
		url  string
		code abi.Code
		want seen
		why  string
	}{
		{to(302, "/x"), "", seen{"GET", "Bearer hunter2", "hunter2", "text/x", "mine hunter2", "", ""}, "the same origin: all but the body"},
		{to(307, "/x"), "", seen{"POST", "Bearer hunter2", "hunter2", "text/x", "mine hunter2", "text/y", "data"}, "and the body too"},
		{to(307, "http://"+other+"/x"), "", seen{"POST", "", "", "text/x", "kagewasm", "text/y", "data"}, "another origin gets no credentials"},
		{to(303, "http://"+other+"/x"), "", seen{"GET", "", "", "text/x", "kagewasm", "", ""}, "nor by 303"},
		{to(302, "http://"+strange+"/x"), abi.CodeDenied, seen{}, "an origin that is not granted"},
		{to(302, "https://"+other+"/x"), "", seen{}, "another scheme, granted for loopback: no TLS there"},
		{to(302, "http://user:pw@"+other+"/x"), abi.CodeUsage, seen{}, "a user in a redirect"},
		{to(302, "file:///etc/passwd"), abi.CodeUsage, seen{}, "a file"},
		{to(302, "http://169.254.169.254/latest/meta-data/"), abi.CodeDenied, seen{}, "metadata"},
		{"http://" + here + "/loop", abi.CodeQuota, seen{}, "in a circle"},
	} {
		last = seen{}
		if strings.HasPrefix(tc.why, "another scheme") {
			tc.code = abi.CodeNetwork
		}
		_, err := do(t, c, egress.Request{Method: "post", URL: tc.url, Headers: headers, Body: []byte("data")})
		if abi.CodeOf(err) != tc.code || last != tc.want {
			t.Errorf("%s: %v, the server saw %+v", tc.why, err, last)
		}
	}
	// Back where it came from, the credentials stay away.
	last = seen{}
	back := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+here+"/x", http.StatusFound)
	})
	c = client(t, egress.Options{Grants: []string{here, back}})
	if _, err := do(t, c, egress.Request{URL: to(302, "http://"+back), Headers: map[string]string{"Authorization": "x"}}); err != nil || last.auth != "" || last.method != "GET" {
		t.Errorf("there and back: %v, %+v", err, last)
	}
}

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
		s := c.Session(egress.Limits{Requests: 1, BodyBytes: 1000})
		resp, err := s.Do(t.Context(), egress.Request{Method: "PUT", URL: "http://" + here + tc.path, Body: make([]byte, tc.body)})
		if abi.CodeOf(err) != tc.code {
			t.Errorf("%s: %v", tc.why, err)
		}
		if err == nil && len(resp.Headers) > 64 {
			t.Errorf("%s: %d headers", tc.why, len(resp.Headers))
		}
		s.Close()
	}
	s := c.Session(egress.Limits{Requests: 3, BodyBytes: 1000})
	defer s.Close()
	for i, tc := range []struct {
		path string
		code abi.Code
	}{{"/hop", ""}, {"/hop", abi.CodeQuota}, {"/exact", abi.CodeQuota}} {
		if _, err := s.Do(t.Context(), egress.Request{URL: "http://" + here + tc.path}); abi.CodeOf(err) != tc.code {
			t.Errorf("request %d: %v", i, err)
		}
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
	}
}

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
		resp, err := s.Do(t.Context(), egress.Request{URL: "http://" + here, Headers: map[string]string{"x-own": "1", "Cookie": "mine"}})
		if err != nil {
			t.Fatal(err)
		}
		if resp.Headers["x-two"] != "a, b" || resp.Headers["content-encoding"] != "gzip" || resp.Headers["set-cookie"] != "" || resp.Headers["alt-svc"] != "" {
			t.Errorf("the guest sees %v", resp.Headers)
		}
		if string(resp.Body) != "\x1f\x8b not a bomb" {
			t.Errorf("the body was touched: %q", resp.Body)
		}
		if got.Get("X-Own") != "1" || got.Get("Accept-Encoding") != "identity" || got.Get("User-Agent") != "kagewasm" || got.Get("Cookie") != "mine" || host != here {
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
		{map[string]string{"connection": "keep-alive"}, abi.CodeUsage, ""},
		{map[string]string{"Transfer-Encoding": "chunked"}, abi.CodeUsage, "smuggling"},
		{map[string]string{"Content-Length": "5"}, abi.CodeUsage, "smuggling"},
		{map[string]string{"Proxy-Authorization": "x"}, abi.CodeUsage, ""},
		{map[string]string{"Upgrade": "websocket"}, abi.CodeUsage, ""},
		{map[string]string{"X-Forwarded-For": "10.0.0.1"}, abi.CodeUsage, "posing as somebody"},
		{map[string]string{"Accept-Encoding": "gzip"}, abi.CodeUsage, "asking for a bomb"},
		{map[string]string{"x": "a\r\nHost: evil.test"}, abi.CodeUsage, "a line break"},
		{map[string]string{"x y": ""}, abi.CodeUsage, "no name"},
		{map[string]string{"": ""}, abi.CodeUsage, "no name"},
		{map[string]string{"x-a": "1", "X-A": "2"}, abi.CodeUsage, "twice"},
		{map[string]string{"x": strings.Repeat("x", 20_000)}, abi.CodeQuota, "too long"},
		{many, abi.CodeQuota, "too many"},
		{map[string]string{"x": "{{secret:other}}"}, abi.CodeDenied, "a secret there is none of"},
		{map[string]string{"x": "{{secret:key"}, abi.CodeUsage, "half a secret"},
		{map[string]string{"x": "{{secret:torn}}"}, abi.CodeUsage, "a secret that breaks the line"},
	} {
		_, err := do(t, c, egress.Request{URL: "http://" + here, Headers: tc.headers})
		if abi.CodeOf(err) != tc.code {
			t.Errorf("%s: %v", tc.why, err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error tells the secret: %v", err)
		}
	}
	for _, method := range []string{"CONNECT", "TRACE", "OPTIONS", "GET /x HTTP/1.1\r\n", "get "} {
		if _, err := do(t, c, egress.Request{Method: method, URL: "http://" + here}); abi.CodeOf(err) != abi.CodeUsage {
			t.Errorf("method %q: %v", method, err)
		}
	}
}

// TestConnectionsBelongToSessions: one session uses a connection again, and no
// other gets it.
func TestConnectionsBelongToSessions(t *testing.T) {
	var from []string
	closed := make(chan struct{}, 2)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { from = append(from, r.RemoteAddr) }))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	c := client(t, egress.Options{Grants: []string{s.URL}})
	for range 2 {
		session := c.Session(limits)
		for range 2 {
			if _, err := session.Do(t.Context(), egress.Request{URL: s.URL}); err != nil {
				t.Fatal(err)
			}
		}
		session.Close()
		<-closed
	}
	if from[0] != from[1] || from[2] != from[3] || from[1] == from[2] {
		t.Errorf("requests came from %v", from)
	}
}

// TestTLS: servers are verified, and what a client says about itself is
// HTTP/2 where the server has it.
func TestTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.ProtoMajor) }))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	here := strings.TrimPrefix(s.URL, "https://")
	resp, err := do(t, client(t, egress.Options{Grants: []string{here}, RootCAs: roots}), egress.Request{URL: s.URL})
	if err != nil || string(resp.Body) != "2" {
		t.Errorf("%+v, %v", resp, err)
	}
	_, err = do(t, client(t, egress.Options{Grants: []string{here}}), egress.Request{URL: s.URL})
	if abi.CodeOf(err) != abi.CodeNetwork || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate nobody knows: %v", err)
	}
}

// TestNoEnvironment: proxies of the environment are not used.
func TestNoEnvironment(t *testing.T) {
	used := false
	proxy := serve(t, func(http.ResponseWriter, *http.Request) { used = true })
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, "http://"+proxy)
	}
	_, err := do(t, client(t, egress.Options{Grants: []string{"http://api.test"}, Lookup: at("10.0.0.1")}), egress.Request{URL: "http://api.test"})
	if abi.CodeOf(err) != abi.CodeDenied || used {
		t.Errorf("%v, the proxy was asked: %v", err, used)
	}
}

func TestNetworkErrorsTellTheHostAlone(t *testing.T) {
	fail := errors.New("lookup api.test on 10.1.2.3:53: server misbehaving")
	lookup := func(context.Context, string) ([]netip.Addr, error) { return nil, fail }
	_, err := do(t, client(t, egress.Options{Grants: []string{"api.test"}, Lookup: lookup}), egress.Request{URL: "https://api.test"})
	if abi.CodeOf(err) != abi.CodeNetwork || strings.Contains(err.Error(), "10.1.2.3") || !errors.Is(err, fail) {
		t.Errorf("%v", err)
	}
}
