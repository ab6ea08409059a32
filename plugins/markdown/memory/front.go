package memory

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
)

// readFront reads the front matter's fields that recall needs. What is no field
// is passed over: people write what they like.
func (f *fact) readFront(front string) {
	for l := range strings.Lines(front) {
		name, value, ok := strings.Cut(strings.TrimRight(l, "\r\n "), ":")
		if !ok {
			continue
		}
		value = strings.TrimSpace(value)
		if strings.HasPrefix(value, `"`) {
			_ = json.Unmarshal([]byte(value), &value) // else it stays as it is written
		} else if n := len(value); n > 1 && value[0] == '\'' && value[n-1] == '\'' {
			value = strings.ReplaceAll(value[1:n-1], "''", "'")
		}
		switch name {
		case "title":
			f.title = clip.Line(value, maxTitle)
		case "name":
			f.title = cmp.Or(f.title, clip.Line(value, maxTitle))
		case "description", "tags":
			f.about += " " + clip.Line(value, maxText)
		case "type", "  type": // Claude Code has had it below metadata
			if value != "" {
				f.kind = kind(clip.Line(value, 24))
			}
		case "created":
			f.created = value
		case "session":
			f.said = []mention{{session: clip.Line(value, maxTitle)}}
		}
	}
}
