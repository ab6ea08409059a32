package models

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
)

// Key is a provider's key. However it is printed, logged or marshaled, it does
// not show: string(key) is the key.
type Key string

const redacted = "[redacted]"

// Format prints what stands for the key, with any verb.
func (k Key) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, k.mask()) }

// LogValue logs what stands for the key.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.mask()) }

// MarshalText writes what stands for the key.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.mask()), nil }

func (k Key) mask() string {
	if k == "" {
		return ""
	}
	return redacted
}

// redactor returns what takes the key and the values of headers out of a text,
// also as JSON and URLs write them. Values of less than 8 bytes stay: local
// servers have keys such as "ollama".
func redactor(c Config) func(string) string {
	var pairs []string
	add := func(secret string) {
		secret = strings.TrimPrefix(secret, "Bearer ")
		if len(secret) < 8 {
			return
		}
		pairs = append(pairs, secret, redacted, url.QueryEscape(secret), redacted)
		if quoted, err := json.Marshal(secret); err == nil {
			pairs = append(pairs, string(quoted[1:len(quoted)-1]), redacted)
		}
	}
	add(string(c.Key))
	for _, value := range c.Headers {
		add(value)
	}
	return strings.NewReplacer(pairs...).Replace
}
