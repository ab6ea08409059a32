package models

import (
	"encoding/json"
	"net/url"
	"strings"
)

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
