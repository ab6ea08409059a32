package proxy

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/tokens"
	"github.com/kagewasm/kagewasm/transcript"
)

// wire is a way in which clients speak to models.
type wire struct {
	format transcript.Format
	// list is the key under which a body has its messages.
	list string
	// marks says that clients mark in the messages what is to be cached.
	marks bool
	// model is the one that a request asks, where its path is one of the wire's.
	model func(path string) (name string, ok bool)
	// room are the keys under which a body says how long the answer may be.
	room []string
	// kept is how long the provider's cache has what it was sent.
	kept func(*document) time.Duration
	// lines says that a stream is lines of JSON, and not events.
	lines bool
	// provider stands before the name of a model, where a wire is one provider's whose models are others elsewhere.
	provider string
	// usage takes over what a part of a response says of its cost.
	usage func(part []byte, u *tokens.Usage) bool
	// elsewhere are keys of bodies whose conversation the provider keeps: what is sent is
	// not all there is.
	elsewhere []string
}

// wires are all there are.
var wires = []*wire{&anthropic, &chat, &responses, &gemini, &ollama}

// wireOf is the wire of a path, nil where a request is nothing to be looked at.
func wireOf(path string) (w *wire, model string) {
	for _, w := range wires {
		if model, ok := w.model(path); ok {
			return w, model
		}
	}
	return nil, ""
}

// named is a wire whose bodies name the model.
func named(suffixes ...string) func(string) (string, bool) {
	return func(path string) (string, bool) {
		return "", slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(path, s) })
	}
}

// streams reports whether a response is a stream.
func (w *wire) streams(resp *http.Response) bool {
	kind := "text/event-stream"
	if w.lines {
		kind = "application/x-ndjson"
	}
	return strings.HasPrefix(resp.Header.Get("Content-Type"), kind)
}

// data is what a line of a stream says, nil where it says nothing.
func (w *wire) data(line []byte) []byte {
	if w.lines {
		return bytes.TrimSpace(line)
	}
	if data, ok := bytes.CutPrefix(line, dataField); ok {
		return data
	}
	return nil
}

// event reads an event of a stream.
func (w *wire) event(from *bufio.Reader) ([]byte, error) {
	if w.lines {
		return from.ReadBytes('\n')
	}
	return readEvent(from)
}

var anthropic = wire{
	format: "anthropic", list: "messages", marks: true, model: named("/v1/messages"), room: []string{"max_tokens"},
	kept: func(d *document) time.Duration {
		if bytes.Contains(d.doc, []byte(`"ttl":"1h"`)) {
			return time.Hour
		}
		return 5 * time.Minute
	},
	usage: func(part []byte, u *tokens.Usage) bool {
		var said struct {
			Usage   *anthropicUsage `json:"usage"`
			Message struct {
				Usage *anthropicUsage `json:"usage"`
			} `json:"message"`
		}
		if json.Unmarshal(part, &said) != nil {
			return false
		}
		found := said.Message.Usage.to(u)
		return said.Usage.to(u) || found
	},
}

// anthropicUsage is what Messages say. The last of a stream's holds.
type anthropicUsage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
	Read   int `json:"cache_read_input_tokens"`
	Write  int `json:"cache_creation_input_tokens"`
}

func (a *anthropicUsage) to(u *tokens.Usage) bool {
	if a == nil {
		return false
	}
	u.Input, u.Output = max(u.Input, a.Input), max(u.Output, a.Output)
	u.CacheRead, u.CacheWrite = max(u.CacheRead, a.Read), max(u.CacheWrite, a.Write)
	return true
}

var chat = wire{
	format: "openai", list: "messages", model: named("/chat/completions"),
	room: []string{"max_tokens", "max_completion_tokens"}, kept: openaiKeeps,
	usage: func(part []byte, u *tokens.Usage) bool {
		var said struct {
			Usage *struct {
				Input   int `json:"prompt_tokens"`
				Output  int `json:"completion_tokens"`
				Details struct {
					Read  int `json:"cached_tokens"`
					Write int `json:"cache_write_tokens"`
				} `json:"prompt_tokens_details"`
			} `json:"usage"`
		}
		if json.Unmarshal(part, &said) != nil || said.Usage == nil {
			return false
		}
		d := said.Usage.Details
		*u = tokens.Usage{Input: said.Usage.Input - d.Read - d.Write, Output: said.Usage.Output, CacheRead: d.Read,
			CacheWrite: d.Write}
		return true
	},
}

// openaiKeeps: the cache holds some minutes for sure and an hour at most, or a day by choice.
func openaiKeeps(d *document) time.Duration {
	if d.text("prompt_cache_retention") == "24h" {
		return 24 * time.Hour
	}
	return time.Hour
}

var responses = wire{
	format: "openai-responses", list: "input", model: named("/responses", compactPath),
	room: []string{"max_output_tokens"},
	kept: openaiKeeps, elsewhere: []string{"previous_response_id", "conversation"},
	usage: func(part []byte, u *tokens.Usage) bool {
		type usage struct {
			Input   int `json:"input_tokens"`
			Output  int `json:"output_tokens"`
			Details struct {
				Read  int `json:"cached_tokens"`
				Write int `json:"cache_write_tokens"`
			} `json:"input_tokens_details"`
		}
		var said struct {
			Usage    *usage `json:"usage"`
			Response struct {
				Usage *usage `json:"usage"`
			} `json:"response"`
		}
		if json.Unmarshal(part, &said) != nil {
			return false
		}
		of := cmp.Or(said.Usage, said.Response.Usage)
		if of == nil {
			return false
		}
		*u = tokens.Usage{Input: of.Input - of.Details.Read - of.Details.Write, Output: of.Output,
			CacheRead: of.Details.Read, CacheWrite: of.Details.Write}
		return true
	},
}

var gemini = wire{
	format: "gemini", list: "contents",
	model: func(path string) (string, bool) {
		_, rest, found := cutLast(path, "/models/")
		name, method, called := strings.Cut(rest, ":")
		return name, found && called && (method == "generateContent" || method == "streamGenerateContent")
	},
	kept: func(*document) time.Duration { return time.Hour },
	usage: func(part []byte, u *tokens.Usage) bool {
		var said struct {
			Usage *struct {
				Input   int `json:"promptTokenCount"`
				Output  int `json:"candidatesTokenCount"`
				Thought int `json:"thoughtsTokenCount"`
				Read    int `json:"cachedContentTokenCount"`
			} `json:"usageMetadata"`
		}
		if json.Unmarshal(part, &said) != nil || said.Usage == nil {
			return false
		}
		s := said.Usage
		*u = tokens.Usage{Input: s.Input - s.Read, Output: s.Output + s.Thought, CacheRead: s.Read}
		return true
	},
	elsewhere: []string{"cachedContent", "cached_content"},
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
