package models

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/clip"
)

// statusOverloaded is Anthropic's.
const statusOverloaded = 529

const (
	// maxQuote bounds what errors quote of a provider, maxMessage all they say.
	maxQuote   = 600
	maxMessage = 2 * maxQuote
)

// errorBody is the union of what providers send with an error: an object in
// error, or a text, or fields at the top.
type errorBody struct {
	Error   json.RawMessage `json:"error"`
	Message json.RawMessage `json:"message"`
	Detail  json.RawMessage `json:"detail"`

	Choices []json.RawMessage `json:"choices"`
	Content []json.RawMessage `json:"content"`
}

// errorObject is the usual form of error. Code is a text or a number.
type errorObject struct {
	Message string          `json:"message"`
	Type    string          `json:"type"`
	Code    json.RawMessage `json:"code"`
}

func parseError(body []byte) (errorBody, errorObject) {
	var b errorBody
	var e errorObject
	// What does not parse has no error to find.
	_ = json.Unmarshal(body, &b)
	_ = json.Unmarshal(b.Error, &e)
	return b, e
}

// errorInBody is the status that an error sent as success stands for, or 0.
// Gateways do that when an upstream fails them late.
func errorInBody(body []byte) int {
	b, e := parseError(body)
	if len(b.Choices) > 0 || len(b.Content) > 0 || text(b.Error) == "" && e.Message == "" {
		return 0
	}
	var code int
	if json.Unmarshal(e.Code, &code) == nil && code >= 400 && code < 600 {
		return code
	}
	switch e.Type {
	case "overloaded_error":
		return statusOverloaded
	case "rate_limit_error":
		return http.StatusTooManyRequests
	case "authentication_error":
		return http.StatusUnauthorized
	case "invalid_request_error":
		return http.StatusBadRequest
	}
	return http.StatusBadGateway
}

// outOfCredit says whether a 429 is about money, which time does not fix.
func outOfCredit(status int, body []byte) bool {
	_, e := parseError(body)
	return status == http.StatusTooManyRequests &&
		(e.Type == "insufficient_quota" || text(e.Code) == "insufficient_quota")
}

func text(raw json.RawMessage) string {
	var s string
	_ = json.Unmarshal(raw, &s)
	return s
}

var htmlTitle = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)

// messageOf is what an error body says, for a person.
func messageOf(body []byte) string {
	b, e := parseError(body)
	for _, s := range []string{e.Message, text(b.Error), text(b.Message), text(b.Detail)} {
		if s != "" {
			return clean(s, maxQuote)
		}
	}
	if m := htmlTitle.FindSubmatch(body); m != nil {
		return clean(string(m[1]), maxQuote)
	}
	return clean(string(body), maxQuote)
}

// clean makes one line of s with about limit bytes at most.
func clean(s string, limit int) string {
	s = s[:min(len(s), 4*limit)] // spaces go first, then length
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
	return clip.Cut(clip.OneLine(s), limit, " ...")
}
