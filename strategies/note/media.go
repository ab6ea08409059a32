package note

import (
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/media"
)

// mediaMark begins the line on the images, recordings and documents that went with a
// turn: nothing can be quoted of them, so what they are and where they stood is told.
const mediaMark = "Media: "

const (
	maxMedia = 8  // of a turn are named, the newest
	maxPlace = 64 // of an id is shown, in characters
)

// shows takes the media of a message that goes.
func (t *thread) shows(m *abi.Message) {
	for _, p := range m.Content.Parts() {
		if found, ok := media.Of(p); ok && !p.IsThinking() && (found.Name != "" || found.Format != "") {
			place := clip.Chars(clip.OneLine(abi.Defuse(m.ID)), maxPlace)
			t.media = append(t.media, fmt.Sprintf("%s in message %s", found, place))
		}
	}
}

// mediaLine is the line on the media of a turn, empty where there are none.
func mediaLine(list []string) string {
	if len(list) == 0 {
		return ""
	}
	line := mediaMark + strings.Join(list[max(0, len(list)-maxMedia):], "; ")
	if more := len(list) - maxMedia; more > 0 {
		line += fmt.Sprintf("; %d more before", more)
	}
	return line
}
