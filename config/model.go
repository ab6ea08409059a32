package config

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

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

// NumCtx is the context window that the server is asked for, where it lets
// itself be asked: Ollama's num_ctx. 0 asks for nothing.
func (m Model) NumCtx() int {
	if m.Provider != ollama {
		return 0
	}
	return m.Window
}

// CatalogName is what the model is called in [tokens.Catalog.Resolve]: behind
// an address of its own a provider may offer anybody's models.
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

// Override is what the configuration says of the model, for the catalog. It is
// empty but for its name where the configuration says nothing.
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

// newMetadataFields are what the catalog says of a model, to be corrected.
func newMetadataFields() []*field {
	price := func(at func(*tokens.Override) **float64) func(any, *node) {
		return to(func(m *Model) **float64 { return at(&m.catalog) })
	}
	return []*field{
		{name: "context_window", kind: integer, min: 1, doc: "Context window in tokens. It wins over catalog and provider; Ollama is asked for it as num_ctx.", example: "200000",
			set: to(func(m *Model) *int { return &m.Window })},
		{name: "context", same: "context_window", min: 1, doc: "Another spelling of context_window."},
		{name: "maxInputTokens", same: "context_window", min: 1, doc: "Another spelling of context_window."},
		{name: "max_output", kind: integer, min: 1, doc: "Longest answer in tokens.", example: "32000",
			set: to(func(m *Model) *int { return &m.MaxOutput })},
		{name: "prices", kind: block, doc: "Prices in USD per million tokens.", fields: []*field{
			{name: "input", kind: number, doc: "Input.", example: "3", set: price(func(o *tokens.Override) **float64 { return &o.Input })},
			{name: "output", kind: number, doc: "Output.", example: "15", set: price(func(o *tokens.Override) **float64 { return &o.Output })},
			{name: "cache_read", kind: number, doc: "Input that comes from the cache.", example: "0.3", set: price(func(o *tokens.Override) **float64 { return &o.CacheRead })},
			{name: "cache_write", kind: number, doc: "Input that goes into the cache.", example: "3.75", set: price(func(o *tokens.Override) **float64 { return &o.CacheWrite })},
		}},
		{name: "encoding", kind: text, choices: []string{string(tokens.O200k), string(tokens.CL100k)}, doc: "Encoding to count tokens with. Default the one of the model's family.", example: string(tokens.O200k),
			set: to(func(m *Model) *tokens.Encoding { return &m.catalog.Encoding })},
	}
}

// envRE is the name of an environment variable.
var envRE = regexp.MustCompile(`^[A-Z_][A-Z0-9_]{0,127}$`)

const noKey = "a key does not stand in a file that is shared and shown: put it into the environment, and the variable's name under key_env"

func newModelBlock() *field {
	return &field{name: "model", kind: block, fields: slices.Concat([]*field{
		{name: "provider", kind: text, required: true, need: "how to talk to the model: openai, anthropic or ollama", choices: []string{"openai", "anthropic", ollama}, example: "anthropic",
			doc: "How to talk to it: openai (and whatever speaks like it, with a base_url), anthropic or ollama.", set: to(func(m *Model) *string { return &m.Provider })},
		{name: "model", kind: text, required: true, need: "the name that the provider has for it", pattern: regexp.MustCompile(`^\S{1,256}$`), likeness: "a name without spaces belongs here", doc: "Name that the provider has for it.", example: "claude-sonnet-4-5",
			set: to(func(m *Model) *string { return &m.Name })},
		{name: "base_url", kind: text, check: checkURL, doc: "Address of the server, for another than the provider's own.", example: "http://localhost:8000/v1",
			set: to(func(m *Model) *string { return &m.BaseURL })},
		{name: "key_env", kind: text, check: checkKeyEnv, doc: "Name of the environment variable that holds the key. The key itself never stands here.", example: "ANTHROPIC_API_KEY",
			set: to(func(m *Model) *string { return &m.KeyEnv })},
		{name: "api_key_env", same: "key_env", doc: "Another spelling of key_env."},
		{name: "key", refuse: noKey}, {name: "api_key", refuse: noKey}, {name: "token", refuse: noKey},
	}, newMetadataFields(), []*field{
		{name: "timeout", kind: duration, over: true, max: 86_400, def: "5m", doc: "Time for one call, with all its retries.",
			set: to(func(m *Model) *time.Duration { return &m.Timeout })},
		{name: "retries", kind: integer, off: true, max: 20, def: 2, doc: "How often a request that failed is sent again; 0 or off: never.",
			set: to(func(m *Model) *int { return &m.Retries })},
		{name: "serial", kind: boolean, def: false, doc: "The provider allows one request at a time.",
			set: to(func(m *Model) *bool { return &m.Serial })},
		{name: "headers", kind: table, keys: regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$"), elem: &field{kind: text, pattern: regexp.MustCompile(`^[^\r\n]*$`), likeness: "a header is one line"}, check: checkHeaders,
			doc: "Headers of each request. None that carries a key.", example: "{X-Title: kagewasm}", set: to(func(m *Model) *map[string]string { return &m.Headers })},
	})}
}

// newOverrideBlock corrects the catalog, for a model of any name.
func newOverrideBlock() *field {
	return &field{name: "overrides", kind: block, check: checkOverride, fields: append([]*field{
		{name: "provider", kind: text, doc: "Provider, by any of its names. Default every one.", example: "openrouter", set: to(func(m *Model) *string { return &m.Provider })},
		{name: "model", kind: text, doc: "Name of the model. Default all of the provider.", example: "qwen/qwen3-coder", set: to(func(m *Model) *string { return &m.Name })},
	}, newMetadataFields()...)}
}

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
	case secretRE.MatchString(s):
		return "key_env: this looks like a key: " + noKey
	case !envRE.MatchString(s):
		return "key_env: the name of an environment variable belongs here, in capitals, such as OPENAI_API_KEY; the key itself is never written into this file"
	}
	return ""
}

// secretHeaders are those that carry keys.
var secretHeaders = []string{"Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key", "Api-Key", "X-Goog-Api-Key"}

func checkHeaders(n *node) string {
	for _, k := range n.kids {
		name := http.CanonicalHeaderKey(k.name)
		if slices.Contains(secretHeaders, name) || strings.HasSuffix(name, "-Token") || secretRE.MatchString(k.value.(string)) {
			return "header " + k.name + ": " + noKey
		}
	}
	return ""
}
