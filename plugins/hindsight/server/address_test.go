package server

import (
	"net/url"
	"testing"
)

func TestSegmentIsThatOfURLs(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for _, text := range []string{"", "main::s1", "a/b?c#d;e,f", "später 日本", string(all)} {
		if got, want := segment(text), url.PathEscape(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestOriginIsWhatIsGranted(t *testing.T) {
	for address, want := range map[string]string{
		"http://localhost:8888":            "localhost:8888",
		"http://localhost":                 "localhost",
		"https://memory.example.com/base/": "memory.example.com",
		"https://memory.example.com?x=1":   "memory.example.com",
		"http://10.0.0.2:8888/v1":          "http://10.0.0.2:8888",
		"HTTP://me:pw@memory:80#x":         "http://memory:80",
		"http://[::1]:8888/":               "http://[::1]:8888",
		"memory.example.com":               "memory.example.com",
		"http://":                          "http://",
	} {
		if got := origin(address); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}

func TestAtLeastReadsVersions(t *testing.T) {
	for version, want := range map[string]bool{
		"0.9": true, "0.9.1": true, "0.10.0-rc1": true, "1.0": true, "0.9rc2": true, "0.8.4": false, "": false,
		"1": false, "v1.0": false, "1.x": false, "-1.9": false,
	} {
		if atLeast(version, 0, 9) != want {
			t.Errorf("%q: want %v", version, want)
		}
	}
}
