package transcript_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript"
)

// listShows are the lines that a message list should be shown as: a summary
// that is pi's compaction comes first.
func listShows(f transcript.Format, list []abi.Message) (lines []string) {
	list = slices.Clone(list)
	if f == pi {
		for i := len(list) - 1; i >= 0; i-- {
			if list[i].Kind == abi.KindSummary {
				m := list[i]
				list = slices.Insert(slices.Delete(list, i, i+1), 0, m)
				break
			}
		}
	}
	for i := range list {
		m := &list[i]
		text := m.Text()
		if m.Role == abi.RoleTool {
			lines = append(lines, "result "+m.ToolCallID+" "+text)
			continue
		}
		if p := m.Content.Parts(); len(p) == 1 && p[0].Type != "text" && m.Kind == abi.KindSummary {
			text = "encrypted"
		}
		if f == pi && (m.Kind == abi.KindBash || m.Kind == abi.KindDisplayOnly) {
			text, _, _ = strings.Cut(text, "\n")
		}
		if f == openHands && m.Kind == abi.KindInstructions {
			text, _, _ = strings.Cut(text, "\n\n") // the knowledge after it
		}
		if text != "" || m.Role != abi.RoleAssistant {
			lines = append(lines, string(m.Role)+" "+text)
		}
		for _, c := range m.ToolCalls {
			lines = append(lines, "call "+c.ID)
		}
	}
	return lines
}

// live are the messages that the program shows the model.
func live(s *transcript.Session) []abi.Message {
	return slices.DeleteFunc(slices.Clone(s.Messages), func(m abi.Message) bool {
		return slices.Contains(s.Superseded,
			m.ID)
	})
}

func sameShown(tb rapid.TB, f transcript.Format, list []abi.Message, log []byte, offset bool) {
	tb.Helper()
	want, got := listShows(f, list), shown[f](tb, log)
	if f == openHands && offset { // a summary stands where its event says
		slices.Sort(want)
		slices.Sort(got)
	}
	if !slices.Equal(want, got) {
		tb.Fatalf("the program shows\n%s\nwant\n%s\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), clip(log))
	}
}

// Without what its own compactions superseded, a session is what the program
// would show the model next.
func TestSupersededIsNotShown(t *testing.T) {
	for _, s := range samples(t) {
		if shown[s.format] == nil {
			continue
		}
		t.Run(string(s.format)+"/"+s.name, func(t *testing.T) {
			sameShown(t, s.format, live(read(t, s.data, s.format)), s.data, true)
		})
	}
}

// What a compaction leaves is just what the program shows the model when it
// reads the file again, whatever its own compactions did in it.
func TestProgramsReadWhatIsWritten(t *testing.T) {
	for _, s := range samples(t) {
		if shown[s.format] == nil || len(s.data) > 60_000 {
			continue
		}
		t.Run(string(s.format)+"/"+s.name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				got, err := transcript.Read(s.name, s.data, s.format)
				if err != nil {
					rt.Fatal(err)
				}
				all := got.Messages
				if rapid.Bool().Draw(rt, "live") {
					got.Messages = live(got)
				}
				list, _ := compacted(rt, got, 0, nil)
				whole := len(list) == len(all) && !slices.ContainsFunc(list,
					func(m abi.Message) bool { return strings.HasPrefix(m.ID, "new-") })
				if len(list) == 0 || whole {
					return // nothing left, or the log's own compactions stand
				}
				out, err := got.Encode(list, transcript.Same)
				if err != nil {
					rt.Fatal(err)
				}
				sameShown(rt, s.format, list, out, false)
			})
		})
	}
}
