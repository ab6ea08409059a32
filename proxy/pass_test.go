package proxy_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/kagewasm/kagewasm/internal/features"
)

// TestPass: a request that fits goes on byte for byte, whatever it is.
func TestPass(t *testing.T) {
	features.Proves(t, "N4")
	u := newUpstream(t)
	s := start(t, u, 200_000)
	for _, d := range dialects {
		body := d.body(d.conversation(3))
		for name, c := range map[string]struct {
			body []byte
			says string
		}{
			"a conversation": {body, "none; reason=below_threshold"},
			"spaces and line breaks": {append([]byte(" \n"), bytes.ReplaceAll(body, []byte(`],"`), []byte("] , \r\n\t\""))...),
				"none; reason=below_threshold"},
			"no JSON": {[]byte(`{"` + d.list + `":[`), "none; reason=not_understood"},
			"a key twice": {[]byte(strings.Replace(string(body), `{"`, `{"`+d.list+`":[],"`, 1)),
				"none; reason=not_understood"},
			"no messages": {[]byte(`{"` + d.list + `":[]}`), "none; reason=not_understood"},
			"nothing":     {nil, "none; reason=not_understood"},
		} {
			_, status, says := s.post(t, d.path, c.body, "Authorization", "Bearer sk-secret", "X-Api-Key", "sk-secret",
				"Anthropic-Beta", "a-1,b-2", "X-Unknown", "x")
			got := u.last(t)
			if !bytes.Equal(got.body, c.body) || status != 200 || got.path != d.path {
				t.Errorf("%s: %s: status %d, sent %q", d.name, name, status, got.body)
			}
			if says != c.says {
				t.Errorf("%s: %s: %q, want %q", d.name, name, says, c.says)
			}
			for header, want := range map[string]string{"Authorization": "Bearer sk-secret", "X-Api-Key": "sk-secret",
				"Anthropic-Beta": "a-1,b-2", "X-Unknown": "x", "X-Forwarded-For": ""} {
				if got.header.Get(header) != want {
					t.Errorf("%s: %s: %s: %q", d.name, name, header, got.header.Get(header))
				}
			}
		}
	}
	if strings.Contains(s.logs.String(), "sk-secret") {
		t.Error("the key is logged")
	}
}

// TestPassOthers: what is no conversation is not looked at, and WebSockets are refused where
// conversations are.
func TestPassOthers(t *testing.T) {
	u := newUpstream(t)
	s := start(t, u, 200_000)
	for _, path := range []string{"/v1/messages/count_tokens", "/v1/embeddings", "/v1/models", "/api/hello",
		"/v1beta/models/gemini-2.5-pro:countTokens"} {
		_, status, says := s.post(t, path+"?beta=true", []byte(`{"messages":[{}]}`))
		if status != 200 || says != "" || u.last(t).path != path {
			t.Errorf("%s: %d %q", path, status, says)
		}
	}
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, s.http.URL+"/v1/responses", nil)
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	resp, err := http.DefaultClient.Do(r)
	if err != nil || resp.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("%v, %v", resp, err)
	}
	resp.Body.Close()
}

// TestEncodings: bodies that are compressed are read, and go on as they came where nothing
// changes.
func TestEncodings(t *testing.T) {
	u := newUpstream(t)
	s := start(t, u, 8_000)
	d := dialects[2]
	z, _ := zstd.NewWriter(nil)
	for encoding, encode := range map[string]func([]byte) []byte{
		"gzip": func(b []byte) []byte {
			var buf bytes.Buffer
			w := gzip.NewWriter(&buf)
			_, _ = w.Write(b)
			w.Close()
			return buf.Bytes()
		},
		"zstd": func(b []byte) []byte { return z.EncodeAll(b, nil) },
		"br":   func(b []byte) []byte { return b }, // not known: passed on
	} {
		small, large := encode(d.body(d.conversation(2))), encode(d.body(d.conversation(60)))
		_, _, says := s.post(t, d.path, small, "Content-Encoding", encoding, "Session-Id", encoding)
		got := u.last(t)
		if !bytes.Equal(got.body, small) || got.header.Get("Content-Encoding") != encoding {
			t.Errorf("%s: changed though it fits: %s", encoding, says)
		}
		_, _, says = s.post(t, d.path, large, "Content-Encoding", encoding, "Session-Id", encoding)
		got = u.last(t)
		if compacted := strings.HasPrefix(says, "compacted"); compacted != (encoding != "br") {
			t.Errorf("%s: %s", encoding, says)
		}
		if encoding != "br" && (got.header.Get("Content-Encoding") != "" || got.body[0] != '{') {
			t.Errorf("%s: sent as %q", encoding, got.header.Get("Content-Encoding"))
		}
	}
}
