package transcript_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/transcript"
)

// odd are values that stand in the place of others: what reads a file takes or
// refuses them, and what is written of them has to be read again.
var odd = []string{
	"-0.0", "-0", "0", "1e400", "-1E-400", "1E+2", "1.50", "12345678901234567890123", "9007199254740993", "1e308",
	"5e-324",
	"null", "true", "false", `""`, `" "`, `"\u0000"`, `"\ud800"`, `"\udc00\ud800"`, `"\u2028"`, `"x"`, `"{"`, `"[]"`,
	`"-0.0"`,
	"{}", "[]", "[null]", "[-0.0]", "[[]]", "[{}]", `{"":-0.0}`, `{"a":1e400}`, `{"name":-0.0}`, `[{"name":null}]`,
	`{"type":{}}`,
	`{"a":[{"b":-0.0}]}`, strings.Repeat("[", 40) + strings.Repeat("]", 40),
}

// values are where the values of a file stand, those within others included.
func values(data []byte) (spans [][2]int) {
	inText := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case !inText && (c == ':' || c == '[' || c == ','):
			var raw json.RawMessage
			rest := data[i+1:]
			at := i + 1 + len(rest) - len(bytes.TrimLeft(rest, " \t\r\n"))
			if d := json.NewDecoder(bytes.NewReader(data[at:])); d.Decode(&raw) == nil {
				if c != ',' || !bytes.HasPrefix(bytes.TrimSpace(data[at+len(raw):]), []byte(":")) {
					spans = append(spans, [2]int{at, at + len(raw)})
				}
			}
		}
	}
	return spans
}

// TestOddValues: whatever a file says in any place, what is written after a
// compaction of it is read again, in its own format and in every other.
func TestOddValues(t *testing.T) {
	for _, s := range samples(t) {
		if len(s.data) > 6_000 {
			continue
		}
		t.Run(string(s.format)+"/"+s.name, func(t *testing.T) {
			type place struct {
				at  [2]int
				odd string
			}
			var places []place
			for _, at := range values(s.data) {
				for _, o := range odd {
					places = append(places, place{at, o})
				}
			}
			for _, p := range soak.Sample(places, 3, 300) {
				data := slices.Concat(s.data[:p.at[0]], []byte(p.odd), s.data[p.at[1]:])
				oddValue(t, fmt.Sprintf("%.60s for %.30q at byte %d", p.odd, s.data[p.at[0]:p.at[1]], p.at[0]), data, s.format)
			}
		})
	}
}

func oddValue(t *testing.T, what string, data []byte, format transcript.Format) {
	t.Helper()
	s, err := transcript.Read("odd", data, format)
	if err != nil || len(s.Messages) < 2 {
		return
	}
	some := append(slices.Clone(s.Messages[len(s.Messages)/2:]),
		abi.Message{ID: "new", Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text("so far")})
	for _, to := range append(transcript.Formats(), transcript.Same) {
		out, err := s.Encode(some, to)
		if err != nil {
			t.Errorf("%s: as %s: %v", what, to, err)
			continue
		}
		if to == transcript.Same {
			to = s.Format
		}
		if _, err := transcript.Read("again", out, to); err != nil && !tooDeep(data) {
			t.Errorf("%s: read again as %s: %v: %.150s", what, to, err, out)
		}
	}
}
