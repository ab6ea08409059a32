package plug

import (
	"encoding/base64"
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/kagewasm/kagewasm/internal/lazy"
)

// quotedMark begins the comment behind a token that was put in double quotes; what it was stands in it.
const quotedMark = "/*\ue000"

// parse5 reads JSON with comments, with keys without quotes and with texts in single ones too, as JSON5 has them.
func parse5(doc []byte) (hujson.Value, error) {
	v, err := hujson.Parse(doc)
	if err == nil {
		return v, nil
	}
	if v, err := hujson.Parse([]byte(inQuotes(string(doc)))); err == nil {
		return v, nil
	}
	return v, noJSON(err)
}

// noJSON is the error of a file that is no JSON.
func noJSON(err error) error {
	return errors.New("it is no JSON: " + strings.TrimPrefix(err.Error(), "hujson: "))
}

// tokens5 are what has to be told apart: comments, texts, and words, of which those before a colon are keys.
var tokens5 = regexp.MustCompile(`(?s)//[^\n]*|/\*.*?\*/|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[\p{L}_$][\p{L}\p{N}_$]*`)

// beforeColon is what may stand between a key and its colon.
var beforeColon = lazy.Regexp(`(?s)^(?:\s|//[^\n]*\n|/\*.*?\*/)*:`)

// inQuotes puts keys and texts in double quotes, with what they were behind them.
func inQuotes(doc string) string {
	var b strings.Builder
	last := 0
	for _, at := range tokens5.FindAllStringIndex(doc, -1) {
		token := doc[at[0]:at[1]]
		text := ""
		switch {
		case token[0] == '\'':
			text = asText(token)
		case token[0] == '"', token[0] == '/', !beforeColon().MatchString(doc[at[1]:]):
			continue
		default:
			text = strconv.Quote(token)
		}
		b.WriteString(doc[last:at[0]] + text + marked(token))
		last = at[1]
	}
	return b.String() + doc[last:]
}

// marked is the comment that says what a token was.
func marked(token string) string {
	return quotedMark + base64.StdEncoding.EncodeToString([]byte(token)) + "*/"
}

// rawAt is what a text of a document that parse5 read was before it was put in double quotes; empty where it stood in
// them.
func rawAt(doc *hujson.Value, at string) string {
	v := doc.Find(at)
	if v == nil {
		return ""
	}
	text := doc.Pack()[v.StartOffset:]
	place := quotedToken().FindSubmatchIndex(text)
	if place == nil || place[0] > 0 {
		return ""
	}
	raw, _ := base64.StdEncoding.DecodeString(string(text[place[6]:place[7]])) // inQuotes wrote it
	return string(raw)
}

// markRaw has a text written as it was before; raw is empty for one in double quotes.
func markRaw(doc *hujson.Value, at, raw string) {
	if v := doc.Find(at); v != nil && raw != "" {
		v.Value = hujson.Literal(string(v.Value.(hujson.Literal)) + marked(raw))
	}
}

// asText is a text in single quotes, in double ones.
func asText(token string) string {
	return `"` + strings.NewReplacer(`\'`, `'`, `\\`, `\\`, `"`, `\"`).Replace(token[1:len(token)-1]) + `"`
}

var quotedToken = lazy.Regexp(`("(?:[^"\\]|\\.)*")(\s*)/\*\x{e000}([A-Za-z0-9+/=]*)\*/`)

// pack5 writes a document that parse5 read. What it has put in quotes is as it was, unless something else stands there.
func pack5(v *hujson.Value) []byte {
	return quotedToken().ReplaceAllFunc(v.Pack(), func(found []byte) []byte {
		part := quotedToken().FindSubmatch(found)
		was, err := base64.StdEncoding.DecodeString(string(part[3]))
		text := strconv.Quote(string(was))
		if err == nil && len(was) > 0 && was[0] == '\'' {
			text = asText(string(was))
		}
		if err != nil || text != string(part[1]) {
			return append(part[1], part[2]...)
		}
		return append(was, part[2]...)
	})
}
