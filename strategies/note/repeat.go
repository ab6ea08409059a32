package note

import (
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/strategies/note/internal/work"
)

// repeated finds what a person said again later in the same words, as where a harness
// records the same talk again and again: the last one stands, and the earlier ones say
// where. What came of an earlier one stays.
func repeated(turns []turn) {
	last, pairs := make(map[string]int, len(turns)), make(map[[2]string]int, len(turns))
	for i := range turns {
		last[turns[i].words] = i
		if i > 0 {
			pairs[[2]string{turns[i-1].words, turns[i].words}] = i
		}
	}
	// pair is the last turn but which that says the same as turn i with the one before it.
	pair := func(i int) (at int, ok bool) {
		if i <= 0 || i >= len(turns) || len(turns[i-1].words)+len(turns[i].words) < minRepeated {
			return 0, false
		}
		at = pairs[[2]string{turns[i-1].words, turns[i].words}]
		return at, at > i
	}
	for i := range turns {
		t := &turns[i]
		if t.words == "" || t.again > 0 {
			continue
		}
		at := last[t.words]
		if len(t.words) < minRepeated {
			var ok bool
			if at, ok = pair(i); !ok {
				if at, ok = pair(i + 1); ok {
					at--
				}
			}
			if !ok {
				continue
			}
		}
		if at <= i {
			continue
		}
		t.again, t.said, t.fuller, t.lines = turns[at].n, "", "", ""
		t.came = slices.DeleteFunc(t.came, func(s string) bool {
			return strings.HasPrefix(s, work.Besides) || strings.HasPrefix(s, listedMark) ||
				strings.HasPrefix(s, choiceMark) || slices.Contains(turns[at].came, s)
		})
	}
}

// minRepeated is how long words are, in bytes, that nobody says twice by chance: of one
// message, or of two in a row.
const minRepeated = 40
