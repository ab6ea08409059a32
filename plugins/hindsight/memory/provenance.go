package memory

import (
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/plugins/hindsight/bank"
)

// appendProvenance appends where a memory is from: date, author, session and message, and of
// a passage where in it.
func appendProvenance(line []byte, m *bank.Hit) []byte {
	from := len(line)
	field := func(s string) {
		if s != "" && len(line) > from {
			line = append(line, ", "...)
		}
		line = append(line, s...)
	}
	field(day(plain(m.Time)))
	field(plain(m.Author))
	session, id := plain(m.Session), plain(m.ID)
	if field(session); session == "" {
		field(id)
	} else if id != "" {
		line = append(append(line, ' '), id...)
	}
	if m.Length > 0 {
		field("bytes " + strconv.Itoa(m.Start) + " to " + strconv.Itoa(m.Start+len(m.Text)) + " of " + strconv.Itoa(m.Length))
	}
	return line
}

// day is the date of a time. Sources that do not write times as RFC 3339 write
// anything, and it stays.
func day(time string) string {
	const form = "2006-01-02"
	if len(time) > len(form) && time[4] == '-' && time[7] == '-' {
		return time[:len(form)]
	}
	return time
}

// maxName is how long a name in a provenance may be, in bytes.
const maxName = 120

var noBrackets = strings.NewReplacer("[", "(", "]", ")")

// plain is a name that cannot end the brackets it stands in.
func plain(name string) string {
	if isPlain(name) {
		return name
	}
	return clip.Bytes(clip.OneLine(noBrackets.Replace(abi.Defuse(name))), maxName)
}

// isPlain reports whether a name is of letters of ASCII and signs that need no second look, as most are.
func isPlain(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= ':', c == '-', c == '_', c == '.', c == '/':
		default:
			return false
		}
	}
	return len(name) <= maxName
}
