package egress_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/egress"
)

func TestRedirects(t *testing.T) {
	type seen struct {
		method, auth, key, accept, agent, kind, body string
	}
	var last seen
	look := func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		last = seen{r.Method, r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"), r.Header.Get("Accept"),
			r.Header.Get("User-Agent"), r.Header.Get("Content-Type"), string(b)}
		hello(w, r)
	}
	other := serve(t, look)
	strange := serve(t, look)
	here := serve(t, func(w http.ResponseWriter, r *http.Request) {
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
		"Authorization": "Bearer {{secret:key}}", "X-Api-Key": "{{secret:key}}", "Accept": "text/x",
		"Content-Type": "text/y", "User-Agent": "mine {{secret:key}}",
	}
	for _, tc := range []struct {
		url  string
		code abi.Code
		want seen
		why  string
	}{
		{to(302, "/x"), "", seen{"GET", "Bearer hunter2", "hunter2", "text/x", "mine hunter2", "", ""},
			"the same origin: all but the body"},
		{to(307, "/x"), "", seen{"POST", "Bearer hunter2", "hunter2", "text/x", "mine hunter2", "text/y", "data"},
			"and the body too"},
		{to(307, "http://"+other+"/x"), "", seen{"POST", "", "", "text/x", "kagewasm", "text/y", "data"},
			"another origin gets no credentials"},
		{to(303, "http://"+other+"/x"), "", seen{"GET", "", "", "text/x", "kagewasm", "", ""}, "nor by 303"},
		{to(302, "http://"+strange+"/x"), abi.CodeDenied, seen{}, "an origin that is not granted"},
		{to(302, "https://"+other+"/x"), abi.CodeNetwork, seen{}, "another scheme, granted for loopback: no TLS there"},
		{to(302, "http://user:pw@"+other+"/x"), abi.CodeUsage, seen{}, "a user in a redirect"},
		{to(302, "file:///etc/passwd"), abi.CodeUsage, seen{}, "a file"},
		{to(302, "http://169.254.169.254/latest/meta-data/"), abi.CodeDenied, seen{}, "metadata"},
		{"http://" + here + "/loop", abi.CodeQuota, seen{}, "in a circle"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			last = seen{}
			_, err := do(t, c, egress.Request{Method: "post", URL: tc.url, Headers: headers, Body: []byte("data")})
			if abi.CodeOf(err) != tc.code || last != tc.want {
				t.Errorf("%v, the server saw %+v", err, last)
			}
		})
	}
	// Back where it came from, the credentials stay away.
	last = seen{}
	back := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://"+here+"/x", http.StatusFound)
	})
	c = client(t, egress.Options{Grants: []string{here, back}})
	if _, err := do(t, c, egress.Request{URL: to(302, "http://"+back),
		Headers: map[string]string{"Authorization": "x"}}); err != nil || last.auth != "" || last.method != "GET" {
		t.Errorf("there and back: %v, %+v", err, last)
	}
}
