package models

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/openai/openai-go/v3"

	"github.com/kagewasm/kagewasm/abi"
)

// TooLong reports whether err is a provider's word that a request does not fit,
// and by how much: the one failure that compacting and trying again can fix.
// err may come from this package, from the SDKs of OpenAI and Anthropic, or be
// any other error that has the provider's words in its text.
//
// A request with too many bytes (status 413) counts: it is refused again until
// the session is smaller. Limits on tokens per minute and on the length of the
// answer alone do not, even where they come with status 413.
func TooLong(err error) (abi.Exceeded, bool) {
	if err == nil {
		return abi.Exceeded{}, false
	}
	status, words := evidence(err)
	x, ok := exceeds(status, words)
	var e *abi.Error
	if errors.As(err, &e) {
		switch e.Code {
		case abi.CodeContextLength:
			return x, true
		case abi.CodeModel, abi.CodeInternal: // says nothing about it
		default:
			return abi.Exceeded{}, false
		}
	}
	return x, ok
}

// evidence collects what err and its causes know of a response.
func evidence(err error) (status int, words string) {
	words = err.Error()
	var o *openai.Error
	if errors.As(err, &o) {
		return o.StatusCode, words + "\n" + cmp.Or(o.RawJSON(), body(o.Response))
	}
	var a *anthropic.Error
	if errors.As(err, &a) {
		return a.StatusCode, words + "\n" + a.RawJSON()
	}
	return 0, words
}

// body reads what the SDK left of a response for others to read, and leaves it
// there.
func body(r *http.Response) string {
	if r == nil || r.Body == nil {
		return ""
	}
	b, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(b))
	if err != nil {
		return ""
	}
	return string(b)
}

// maxWords is how much of an error is searched. What it is about stands in
// front; behind it come stack traces and whole pages.
const maxWords = 16 << 10

// exceeds looks for the words that providers have for a request that does not
// fit. status is 0 where it is not known.
func exceeds(status int, words string) (abi.Exceeded, bool) {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		return abi.Exceeded{}, false
	}
	words = words[:min(len(words), maxWords)]
	words = strings.ToLower(strings.Join(strings.Fields(words), " "))
	if rateLimited.MatchString(words) {
		return abi.Exceeded{}, false
	}
	for _, p := range phrases {
		if m := p.words.FindStringSubmatch(words); m != nil {
			n := func(group string) int {
				if i := p.words.SubexpIndex(group); i >= 0 {
					return number(m[i])
				}
				return 0
			}
			return abi.Exceeded{Tokens: n("tokens") + n("answer"), Limit: n("limit"), Bytes: p.bytes}, true
		}
	}
	tooLarge := status == http.StatusRequestEntityTooLarge
	return abi.Exceeded{Bytes: tooLarge}, tooLarge
}

// number reads what providers write, with commas or without. What is not an
// int is 0.
func number(s string) int {
	n, err := strconv.ParseInt(strings.ReplaceAll(s, ",", ""), 10, 32)
	if err != nil {
		return 0
	}
	return int(n)
}
