package plug

import (
	"encoding/base64"
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
	return v, err
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
		b.WriteString(doc[last:at[0]] + text + quotedMark + base64.StdEncoding.EncodeToString([]byte(token)) + "*/")
		last = at[1]
	}
	return b.String() + doc[last:]
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
