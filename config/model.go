package config

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/tokens"
)

// Model is a model under an alias. Zero values are the provider's or the
// catalog's.
type Model struct {
	Alias string
	// Provider is how to talk to it: "openai" (and whatever speaks like it: vLLM,
	// OpenRouter, LiteLLM), "anthropic" or "ollama".
	Provider string
	// Name is what the provider calls it.
	Name    string
	BaseURL string
	// KeyEnv is the name of the environment variable that holds the key. The
	// key itself never stands in a configuration.
	KeyEnv string
	// Window is the context window in tokens. It wins over what catalog and
	// provider say.
	Window    int
	MaxOutput int
	// Timeout bounds one call with all its retries.
	Timeout time.Duration
	// Retries of a request that failed; negative is none.
	Retries int
	// Serial says that the provider allows one request at a time.
	Serial  bool
	Headers map[string]string

	catalog tokens.Override // its prices and encoding
}

const ollama = "ollama"

// NumCtx returns the context window, in tokens, that the server is asked for where it can be asked:
// Ollama's num_ctx. 0 asks for nothing.
func (m Model) NumCtx() int {
	if m.Provider != ollama {
		return 0
	}
	return m.Window
}

// CatalogName returns the name of the model for [tokens.Catalog.Resolve]: a provider at an address of
// its own may offer anybody's models.
func (m Model) CatalogName() string {
	if p := m.catalogProvider(); p != "" {
		return p + "/" + m.Name
	}
	return m.Name
}

func (m Model) catalogProvider() string {
	if m.BaseURL != "" && m.Provider != ollama {
		return ""
	}
	return m.Provider
}

// Override returns what the configuration says of the model, for the catalog. Where it says nothing
// only the name is set.
func (m Model) Override() tokens.Override {
	return m.override(m.catalogProvider())
}

func (m Model) override(provider string) tokens.Override {
	o := m.catalog
	o.Provider, o.Model = provider, m.Name
	if m.Window > 0 {
		o.ContextWindow = &m.Window
	}
	if m.MaxOutput > 0 {
		o.MaxOutput = &m.MaxOutput
	}
	return o
}

// unpriced is Override without the prices.
func (m Model) unpriced() tokens.Override {
	o := m.Override()
	o.Input, o.Output, o.CacheRead, o.CacheWrite = nil, nil, nil, nil
	return o
}

// targets are where what is said of a model goes.
func (m *Model) targets() targets {
	return targets{
		"provider": &m.Provider, "model": &m.Name, "base_url": &m.BaseURL, "key_env": &m.KeyEnv,
		"context_window": &m.Window, "max_output": &m.MaxOutput, "encoding": &m.catalog.Encoding,
		"token_scale":  &m.catalog.TokenScale,
		"prices.input": &m.catalog.Input, "prices.output": &m.catalog.Output,
		"prices.cache_read": &m.catalog.CacheRead, "prices.cache_write": &m.catalog.CacheWrite,
		"timeout": &m.Timeout, "retries": &m.Retries, "serial": &m.Serial, "headers": &m.Headers,
	}
}

// envRE is the name of an environment variable.
var envRE = lazy.Regexp(`^[A-Z_][A-Z0-9_]{0,127}$`)

const noKey = "a key does not stand in a file that is shared and shown: put it into the environment, " +
	"and the variable's name under key_env"

func checkOverride(n *node) string {
	if n.kid("provider") == nil && n.kid("model") == nil {
		return "an override names a provider, a model or both"
	}
	return ""
}

func checkURL(n *node) string {
	u, err := url.Parse(n.value.(string))
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "base_url: write a whole address, such as http://localhost:8000/v1"
	case u.User != nil, u.RawQuery != "":
		return "base_url: " + noKey
	}
	return ""
}

func checkKeyEnv(n *node) string {
	switch s := n.value.(string); {
	case secretRE().MatchString(s):
		return "key_env: this looks like a key: " + noKey
	case !envRE().MatchString(s):
		return "key_env: the name of an environment variable belongs here, in capitals, such as OPENAI_API_KEY; " +
			"the key itself is never written into this file"
	}
	return ""
}

// secretHeaders are those that carry keys.
var secretHeaders = []string{"Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key", "Api-Key", "X-Goog-Api-Key"}

func checkHeaders(n *node) string {
	for _, k := range n.kids {
		name := http.CanonicalHeaderKey(k.name)
		secret := slices.Contains(secretHeaders, name) || strings.HasSuffix(name, "-Token")
		if secret || secretRE().MatchString(k.value.(string)) {
			return "header " + k.name + ": " + noKey
		}
	}
	return ""
}
