package refusal_test

import (
	"testing"

	"github.com/kagewasm/kagewasm/internal/refusal"
)

// TestOther: words that speak of something else than length are told by what they are about; all others may be about
// a request that is too long.
func TestOther(t *testing.T) {
	for words, want := range map[string]string{
		"rate limit exceeded: 30000 tokens per min": "a rate limit",
		"429 slow down": "a rate limit",
		`{"error":{"type":"insufficient_quota"}}`:               "a rate limit",
		"You exceeded your current quota":                       "the account's plan or credit",
		"Incorrect API key provided: sk-abc":                    "the key or what it may be used for",
		`{"error":{"type":"overloaded_error"}}`:                 "a provider that is down or busy",
		"context deadline exceeded":                             "the network, or the time that a call may take",
		"max_tokens is too large: 100000":                       "the length of the answer alone",
		"Azure OpenAI's content management policy":              "a filter of content",
		"model_not_found":                                       "a model that is not there",
		"das Kontextfenster ist voll":                           "",
		"the request has 429 tokens more than the window holds": "",
		"again": "",
		"Request too large for m on tokens per min (TPM): Limit 30000, Requested 50000": "",
		"The sum of prompt tokens and max_tokens must not exceed 8192":                  "",
		"error code: 429 - context window exceeded":                                     "",
		"Your input is longer than what this API key's plan allows: 32000 tokens":       "",
	} {
		if got := refusal.Other(words); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}
