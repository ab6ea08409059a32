package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

// Provider is a protocol that providers of models speak.
type Provider string

const (
	// OpenAI is Chat Completions, there or at any provider that speaks it.
	OpenAI Provider = "openai"
	// Anthropic is Anthropic's Messages.
	Anthropic Provider = "anthropic"
	// Ollama is Ollama's own chat. Its OpenAI endpoint drops num_ctx without
	// a word, and cuts what does not fit its window off the same way.
	Ollama Provider = "ollama"
)

// Config says what a model is and how to reach it. The zero value of each
// field but the first two is its default.
type Config struct {
	Provider Provider
	// Model is the provider's name for it.
	Model string
	// BaseURL is where the provider is: "https://openrouter.ai/api/v1",
	// "http://localhost:11434". Default: the provider's own, with Ollama this
	// machine. It has no user and no query; a key goes into Key.
	BaseURL string
	// Key is sent as the provider wants it, and never shown. Local servers
	// need none.
	Key Key
	// Headers are sent along with each request.
	Headers map[string]string
	// MaxOutput is how many tokens an answer has where the request does not
	// say, and the most where it does. 0 leaves both to the provider, but for
	// Anthropic, which must be told: there the default is 8,192.
	MaxOutput int
	// NumCtx is the context window, in tokens, that Ollama is to load the model
	// with. 0 leaves it to the server. Only Ollama has it.
	NumCtx int
	// Timeout bounds a call with all its retries. Default: 5 minutes.
	Timeout time.Duration
	// Retries is how often a request is sent again. 0 stands for 2, less for
	// none.
	Retries int
	// MaxWait bounds the time waited between tries, all together; a provider
	// that asks for more is not waited for. Default: a minute.
	MaxWait time.Duration
	// Concurrency is how many requests run at a time, others wait for their
	// turn. 0 is no limit; 1 is for providers that allow no more.
	Concurrency int
	// Price says what a call costs in US dollars, and whether that is known.
	// Nil: it is not.
	Price func(Usage) (usd float64, known bool)
	// HTTPClient sends the requests; redirects are not followed whatever it
	// says. Default: a client of its own that takes no proxy from the
	// environment.
	HTTPClient *http.Client
	// Sleep waits between tries and Now is the time it is; for tests.
	// Defaults: a timer, time.Now.
	Sleep func(context.Context, time.Duration) error
	Now   func() time.Time
}

const (
	defaultTimeout = 5 * time.Minute
	defaultRetries = 2
	defaultMaxWait = time.Minute
)

// New returns a model. What is wrong with c is an [abi.Error] of CodeUsage.
func New(c Config) (abi.Model, error) {
	newWire, ok := wires[c.Provider]
	if !ok {
		return nil, configError("provider", fmt.Errorf("%.80q: use openai, anthropic or ollama", string(c.Provider)))
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	c = c.withDefaults()
	m := &model{config: c, wire: newWire(c), redact: redactor(c), header: make(http.Header)}
	common := map[string]string{
		"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "kagewasm",
	}
	for _, part := range []map[string]string{common, m.wire.header, c.Headers} {
		for name, value := range part {
			m.header.Set(name, value)
		}
	}
	if c.Concurrency > 0 {
		m.slots = make(chan struct{}, c.Concurrency)
	}
	return m, nil
}

func (c Config) check() error {
	switch {
	case c.Model == "":
		return configError("model", errors.New("missing: give the provider's name for it"))
	case c.NumCtx != 0 && c.Provider != Ollama:
		return configError("num_ctx", fmt.Errorf("%s has no such thing: use provider ollama", c.Provider))
	}
	for _, f := range []struct {
		name string
		n    int64
	}{
		{"max_output", int64(c.MaxOutput)}, {"num_ctx", int64(c.NumCtx)}, {"concurrency", int64(c.Concurrency)},
		{"timeout", int64(c.Timeout)}, {"max_wait", int64(c.MaxWait)},
	} {
		if f.n < 0 {
			return configError(f.name, errors.New("less than nothing"))
		}
	}
	return c.checkURL()
}

func (c Config) checkURL() error {
	if c.BaseURL == "" {
		return nil
	}
	u, err := url.Parse(c.BaseURL)
	switch {
	case err != nil: // its text would show what else stands in the URL
		return configError("base_url", errors.New("not a URL"))
	case u.Scheme != "http" && u.Scheme != "https", u.Host == "":
		return configError("base_url", errors.New("not an http or https URL with a host"))
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return configError("base_url",
			errors.New("has a user, a query or a fragment: put the key into the key, or into a header"))
	}
	return nil
}

func configError(field string, err error) error {
	return &abi.Error{Code: abi.CodeUsage, Op: "model configuration", Message: field + ": " + err.Error(), Err: err}
}

func (c Config) withDefaults() Config {
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	c.MaxWait = cmp.Or(c.MaxWait, defaultMaxWait)
	c.Retries = max(0, cmp.Or(c.Retries, defaultRetries))
	if c.Sleep == nil {
		c.Sleep = sleep
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	c.HTTPClient = withoutRedirects(c.HTTPClient)
	return c
}

// base is the base URL or what stands in for it, without a slash at its end or
// the part that the provider's own paths begin with.
func (c Config) base(fallback, own string) string {
	u := strings.TrimRight(cmp.Or(c.BaseURL, fallback), "/")
	return strings.TrimSuffix(u, own)
}
