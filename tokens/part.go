package tokens

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

const (
	// minBase64 is the length, in characters, from which a JSON string in the
	// base64 alphabet is data and no text.
	minBase64 = 1024
	// base64PerToken is how many characters of such data are taken for one
	// token. A page of a PDF has some 50 KB, 67,000 characters, and costs
	// 1,500 to 3,000 tokens.
	base64PerToken = 24
)

// tally sums up counts until the context ends.
type tally struct {
	c   *Counter
	ctx context.Context
	n   Count
	err error
}

func (t *tally) result() (Count, error) {
	if t.err != nil {
		return Count{}, t.err
	}
	return t.n, nil
}

func (t *tally) text(s string) {
	if t.err != nil {
		return
	}
	n, err := t.c.TextContext(t.ctx, s)
	t.n.Tokens += n
	t.err = err
}

// estimate adds what is not counted.
func (t *tally) estimate(tokens int) {
	t.n.Tokens += tokens
	t.n.Exact = false
}

func (t *tally) part(p abi.Part) {
	switch {
	// text, input_text, output_text, reasoning_text
	case strings.HasSuffix(p.Type, "text"):
		t.text(p.Text)
	// image, image_url, input_image
	case strings.Contains(p.Type, "image"):
		t.estimate(imageTokens)
	default:
		raw, err := p.MarshalJSON()
		if err != nil {
			return // a part that cannot be written is never sent
		}
		t.raw(compact(raw))
	}
}

// raw counts JSON as text, without the long base64 strings in it.
func (t *tally) raw(doc string) {
	var rest strings.Builder
	kept := 0 // doc[:kept] is in rest
	for i := 0; i < len(doc); {
		if doc[i] != '"' {
			i++
			continue
		}
		end := stringEnd(doc, i+1)
		if tokens := dataTokens(doc[i+1 : end]); tokens > 0 {
			t.estimate(tokens)
			rest.WriteString(doc[kept : i+1])
			kept = end
		}
		i = end + 1
	}
	if kept == 0 {
		t.text(doc)
		return
	}
	rest.WriteString(doc[kept:])
	t.text(rest.String())
}

// stringEnd returns the index of the quote that ends the JSON string whose
// text begins at i, or the end of doc.
func stringEnd(doc string, i int) int {
	for ; i < len(doc); i++ {
		switch doc[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return len(doc)
}

// imageMagic are the beginnings, in base64, of PNG, JPEG, GIF and WebP.
var imageMagic = []string{"iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR"}

// dataTokens estimates a string of base64 data, with or without a data URL
// before it. It returns 0 for anything else.
func dataTokens(s string) int {
	if len(s) < minBase64 {
		return 0
	}
	data := s
	if head, body, ok := strings.Cut(s, ";base64,"); ok && strings.HasPrefix(head, "data:") {
		if strings.HasPrefix(head, "data:image/") {
			return imageTokens
		}
		data = body
	}
	for i := range len(data) {
		if !base64Alphabet[data[i]] {
			return 0
		}
	}
	for _, magic := range imageMagic {
		if strings.HasPrefix(data, magic) {
			return imageTokens
		}
	}
	return max(1, len(data)/base64PerToken)
}

// base64Alphabet holds both alphabets, and the backslash: JSON may escape the
// slash.
var base64Alphabet = func() (t [256]bool) {
	for _, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=\\") {
		t[c] = true
	}
	return t
}()

// compact is doc without white space between its tokens, or doc as it is where
// it is no JSON.
func compact(doc []byte) string {
	var buf bytes.Buffer
	if err := json.Compact(&buf, doc); err != nil {
		return string(doc)
	}
	return buf.String()
}
