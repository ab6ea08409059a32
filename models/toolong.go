package models

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/refusal"
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
	if e, ok := errors.AsType[*abi.Error](err); ok {
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
	var r *reply
	if errors.As(err, &r) {
		return r.status, words + "\n" + string(r.body)
	}
	var d dumper
	if errors.As(err, &d) {
		if resp := dumped(d); resp != nil {
			body, _ := io.ReadAll(io.LimitReader(resp.Body, refusal.MaxWords))
			return resp.StatusCode, words + "\n" + string(body)
		}
	}
	return 0, words
}

// dumper is what the errors of the SDKs of OpenAI and Anthropic have in common.
// OpenAI's have no word of the provider in their text.
type dumper interface{ DumpResponse(body bool) []byte }

// dumped is the response that an SDK's error is about, nil where it has none:
// DumpResponse panics there.
func dumped(d dumper) (resp *http.Response) {
	defer func() { _ = recover() }()
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(d.DumpResponse(true))), nil)
	if err != nil {
		return nil
	}
	return resp
}

// exceeds looks for the words that providers have for a request that does not
// fit. status is 0 where it is not known.
func exceeds(status int, words string) (abi.Exceeded, bool) {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests:
		return abi.Exceeded{}, false
	}
	words = refusal.Words(words)
	if refusal.RateLimited(words) { // such errors speak of tokens and limits too
		return abi.Exceeded{}, false
	}
	for _, p := range phrases() {
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
