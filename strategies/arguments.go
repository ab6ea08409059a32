package strategies

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/plainjson"
)

const (
	// shortValue is the most bytes of a value in tool-call arguments that is kept as it is: a path, a
	// command, a number.
	shortValue = 256
	// shortContainer is the most bytes of a list or an object inside arguments that is kept, without
	// the long texts in it.
	shortContainer = 1024
	// openContainers is how deep lists and objects are looked into.
	openContainers = 4
)

// arguments are a tool call's arguments taken apart: what is kept, and the long
// texts between, which can be replaced without touching a key.
type arguments struct {
	segments []segment
	// bare is set where the arguments are not JSON: the one text then stands without quotes.
	bare bool
	// key is the first key of an object, as JSON, or "" where there is none.
	key string
}

// segment is a piece of JSON as it is written, or a long text.
type segment struct {
	json   string
	text   string
	long   bool
	tokens int // of a long text
}

// takeApart parses arguments. Arguments that are no object become one text.
func takeApart(doc string, count func(string) int) arguments {
	a := arguments{bare: !json.Valid([]byte(doc))}
	raw := strings.TrimSpace(doc)
	if a.bare || raw[0] != '{' || !a.container([]byte(raw), 0) {
		a.segments = []segment{{text: doc, long: true}}
	}
	for i := range a.segments {
		if s := &a.segments[i]; s.long {
			s.tokens = count(s.text)
		}
	}
	return a
}

// container takes an object or a list apart. It returns false for JSON that
// cannot be read after all.
func (a *arguments) container(raw []byte, depth int) bool {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return false
	}
	a.keep(string(raw[:1]))
	for n := 0; dec.More(); n++ {
		if n > 0 {
			a.keep(",")
		}
		if raw[0] == '{' {
			name, err := dec.Token()
			if err != nil {
				return false
			}
			key := quote(name.(string))
			a.key = cmp.Or(a.key, key)
			a.keep(key + ":")
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil || !a.value(value, depth) {
			return false
		}
	}
	a.keep(string(raw[len(raw)-1:]))
	return true
}

func (a *arguments) value(raw json.RawMessage, depth int) bool {
	text := string(raw)
	switch {
	case len(raw) <= shortValue:
		a.keep(text)
		return true
	case raw[0] == '"':
		if json.Unmarshal(raw, &text) != nil {
			return false
		}
	case (raw[0] == '{' || raw[0] == '[') && depth < openContainers:
		inner := arguments{key: a.key}
		if !inner.container(raw, depth+1) {
			return false
		}
		if inner.kept() <= shortContainer {
			for _, s := range inner.segments {
				a.add(s)
			}
			return true
		}
	}
	a.add(segment{text: text, long: true})
	return true
}

func (a *arguments) keep(json string) { a.add(segment{json: json}) }

func (a *arguments) add(s segment) { a.segments = append(a.segments, s) }

// kept returns how many bytes stay even when all long texts are removed.
func (a *arguments) kept() (n int) {
	for _, s := range a.segments {
		n += len(s.json)
	}
	return n
}

// write puts the arguments together again, each long text as f has it.
func (a *arguments) write(f func(text string, tokens int) string) string {
	var b strings.Builder
	for _, s := range a.segments {
		switch {
		case !s.long:
			b.WriteString(s.json)
		case a.bare:
			b.WriteString(f(s.text, s.tokens))
		default:
			b.WriteString(quote(f(s.text, s.tokens)))
		}
	}
	return abi.Defuse(b.String())
}

// notices puts a notice in the place of each long text.
func (a *arguments) notices() string {
	return a.write(func(_ string, tokens int) string { return pruneNotice(tokens) })
}

// clipped returns the arguments within limit tokens: each long text keeps as much of its beginning and
// end as fits, or becomes a notice. Arguments that are long without any long text become one notice
// under their first key: an agent that sees keys of ours learns to write them.
func (a *arguments) clipped(tokens, limit int, count func(string) int) string {
	share := limit
	for range 6 {
		if share < shortValue/16 {
			break
		}
		doc := a.write(func(text string, n int) string {
			if n <= share {
				return text
			}
			return ends(text, n, share, share, count)
		})
		n := count(doc)
		if n <= limit {
			return doc
		}
		share = min(share*limit/n, share*3/4)
	}
	doc := a.notices()
	switch start := "{" + a.key + `:"`; {
	case a.key == "" || count(doc) <= limit || isNotice(trim(doc, start, `"}`)):
		return doc
	case len(a.key) > shortValue:
		return "{}"
	default:
		return abi.Defuse(start + pruneNotice(tokens) + `"}`)
	}
}

// trim returns s without start and end, or "" where s does not have both.
func trim(s, start, end string) string {
	s, begins := strings.CutPrefix(s, start)
	s, ends := strings.CutSuffix(s, end)
	if !begins || !ends {
		return ""
	}
	return s
}

// quote writes s as JSON, for a model to read and not for a page.
func quote(s string) string {
	text, _ := plainjson.Marshal(s) // a text always has a form
	return string(text)
}
