// Package media says what is known of images, audio and documents in a message without
// looking into them, so that they can be told by reference.
package media

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
)

// Media is what is known of a part of a message without looking into its data.
type Media struct {
	Name    string // "image", "audio", "video", "document" or "file"; empty where the part's type does not say
	Format  string // "image/png"
	Address string // where it can be had
	Bytes   int    // of the data that is in the part
}

// Of is what is known of a part, and whether it is of media: by its type, or because it
// holds data.
func Of(p abi.Part) (m Media, ok bool) {
	raw, err := p.MarshalJSON()
	m.Name = name(p.Type)
	switch {
	case err != nil, strings.HasSuffix(p.Type, "text"), m.Name == "" && len(raw) < minData:
		return m, false
	}
	var v any
	if json.Unmarshal(raw, &v) == nil {
		m.look("", v)
	}
	return m, m.Name != "" || m.Bytes > 0
}

// names are the words for media in the types of parts.
var names = []string{"image", "audio", "video", "document", "file"}

// name is the word for a part of that type, or "" where it is no media.
func name(typ string) string {
	typ = strings.ToLower(typ)
	for _, name := range names {
		if strings.Contains(typ, name) {
			return name
		}
	}
	return ""
}

// minData is the length from which a string of base64 is data, in bytes.
const minData = 1024

// maxAbout is how long format and address are told, in bytes.
const maxAbout = 256

// String is "image image/png, 1.2 MB".
func (m Media) String() string {
	text := cmp.Or(m.Name, "data")
	if about := strings.Join(strings.Fields(abi.Defuse(m.Format+" "+m.Address)), " "); about != "" {
		text += " " + clip.Head(about, maxAbout)
	}
	if m.Bytes > 0 {
		text += ", " + byteSize(m.Bytes)
	}
	return text
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

// look looks for the data in a part: base64 in any of its strings, bare or in a data
// URL. All providers have their own keys for it.
func (m *Media) look(key string, v any) {
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

func (m *Media) text(key, s string) {
	head, data, ok := strings.Cut(s, ";base64,")
	switch {
	case ok && strings.HasPrefix(head, "data:"):
		m.Format = strings.TrimPrefix(head, "data:")
		m.Bytes += decoded(data)
	case len(s) >= minData && isBase64(s):
		m.Bytes += decoded(s)
	case slices.Contains(formatKeys, key):
		m.Format = s
	case m.Address == "" && slices.Contains(addressKeys, key):
		m.Address = s
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
