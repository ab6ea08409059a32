package strategies

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
)

// plain is what a content says as one text: text as it is, media by reference,
// any other part as the JSON it is.
func plain(c abi.Content) string {
	if !c.IsParts() {
		return c.Text()
	}
	texts := lists.Filter(lists.Map(c.Parts(), plainPart), func(s string) bool { return s != "" })
	return strings.Join(texts, "\n")
}

func plainPart(p abi.Part) string {
	raw, err := p.MarshalJSON()
	switch {
	case strings.HasSuffix(p.Type, "text"), err != nil:
		return p.Text
	case len(raw) >= minData || mediaName(p.Type) != "":
		if m := mediaOf(raw); m.data > 0 || mediaName(p.Type) != "" {
			return m.reference(p.Type)
		}
	}
	return string(raw)
}

// mediaNames are the words for media in the types of parts.
var mediaNames = []string{"image", "audio", "video", "document", "file"}

// mediaName is the word for a part of that type, or "" where it is no media.
func mediaName(typ string) string {
	for _, name := range mediaNames {
		if strings.Contains(typ, name) {
			return name
		}
	}
	return ""
}

// minData is the length from which a string of base64 is data, in bytes.
const minData = 1024

// media is what is known of a part without looking into its data.
type media struct {
	format  string // "image/png"
	address string // where it can be had
	data    int    // bytes
}

// reference is "[image image/png, 1.2 MB]".
func (m media) reference(typ string) string {
	name := mediaName(typ)
	name = cmp.Or(name, "data")
	about := strings.Join(strings.Fields(abi.Defuse(m.format+" "+m.address)), " ")
	if about != "" {
		name += " " + first(about, maxReference)
	}
	if m.data > 0 {
		name += ", " + byteSize(m.data)
	}
	return "[" + name + "]"
}

func byteSize(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n >= 1000:
		return fmt.Sprintf("%d KB", (n+500)/1000)
	}
	return fmt.Sprintf("%d bytes", n)
}

// mediaOf looks for the data in a part: base64 in any of its strings, bare or in
// a data URL. All providers have their own keys for it.
func mediaOf(raw []byte) (m media) {
	var v any
	if json.Unmarshal(raw, &v) == nil {
		m.look("", v)
	}
	return m
}

func (m *media) look(key string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			m.look(k, v[k])
		}
	case []any:
		for _, e := range v {
			m.look(key, e)
		}
	case string:
		m.text(strings.ToLower(key), v)
	}
}

func (m *media) text(key, s string) {
	head, data, ok := strings.Cut(s, ";base64,")
	switch {
	case ok && strings.HasPrefix(head, "data:"):
		m.format = strings.TrimPrefix(head, "data:")
		m.data += decoded(data)
	case len(s) >= minData && isBase64(s):
		m.data += decoded(s)
	case slices.Contains(formatKeys, key):
		m.format = s
	case m.address == "" && slices.Contains(addressKeys, key):
		m.address = s
	}
}

var (
	formatKeys  = []string{"media_type", "mediatype", "mime_type", "mimetype"}
	addressKeys = []string{"url", "image_url", "uri", "file_id", "filename", "path", "source", "title"}
)

func decoded(base64 string) int { return len(base64) * 3 / 4 }

func isBase64(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') &&
			!strings.ContainsRune("+/-_=\r\n", rune(c)) {
			return false
		}
	}
	return true
}
