package transcript_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/transcript"
)

// What a compaction does to a list - messages gone, tool output and arguments
// shortened, new messages in between - is what the written file says when it is
// read again, twice over, and what it left alone has its old bytes.
func TestRewriteProperty(t *testing.T) {
	soak.Checks(t, soak.Count(6, 100, 100))
	for _, s := range samples(t) {
		if len(s.data) > 40_000 || strings.Contains(s.name, "#") {
			continue // the same programs wrote the smaller ones; a recording's request is tested with it
		}
		t.Run(string(s.format)+"/"+s.name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				data := s.data
				for round := range 2 {
					got, err := transcript.Read(s.name, data, s.format)
					if err != nil {
						rt.Fatalf("round %d: %v\n%s", round, err, clip(data))
					}
					list, same := compacted(rt, got, round, rawMessages(rt, s.format, got, data))
					if len(list) == 0 {
						return
					}
					out, err := got.Encode(list, transcript.Same)
					if err != nil {
						rt.Fatal(err)
					}
					again, err := transcript.Read(s.name, out, s.format)
					if err != nil {
						rt.Fatalf("round %d: %v\n%s", round, err, clip(out))
					}
					sameMessages(rt, foldAnswers(s.format, list), foldAnswers(s.format, again.Messages))
					keptBytes(rt, s.format, got, data, out, same)
					if s.format == claudeCode {
						checkChain(rt, out)
					}
					data = out
				}
			})
		})
	}
}

// compacted draws a compaction of a session; same are the ids of the messages
// that stay untouched.
func compacted(rt *rapid.T, s *transcript.Session, round int, raws map[string][]byte) (list []abi.Message,
	same []string) {
	// A system prompt that stands apart comes first, and a compaction that the
	// provider made hides what is before it.
	early := slices.Contains([]transcript.Format{anthropic, gemini, responses}, s.Format)
	dropped := ""
	for i, m := range s.Messages {
		early = early && m.Role == abi.RoleSystem || s.Format == anthropic && hides(s.Messages[i:])
		if rapid.IntRange(0, 4).Draw(rt, "insert") == 0 && nextGap(s.Messages, i) == i &&
			!strings.Contains(m.ID, "#") && !early {
			list = append(list, insertion(rt, fmt.Sprintf("new-%d-%d", round, i)))
		}
		if entry, _, later := strings.Cut(m.ID, "#"); s.Format == geminiCLI && (later || hasResults(s, i)) {
			// An entry of the CLI's goes as a whole.
			if later && entry == dropped {
				continue
			} else if !later && rapid.Bool().Draw(rt, "entry") {
				dropped = entry
				continue
			}
			list, same = append(list, m), append(same, m.ID)
			continue
		}
		switch rapid.IntRange(0, 5).Draw(rt, "fate") {
		case 0, 1: // gone
			continue
		case 2:
			if raw := bytes.ReplaceAll(raws[m.ID], []byte(otherSigner), nil); !bytes.Contains(raw, []byte(`ignature"`)) {
				edit(rt, &m)
			}
		default:
			same = append(same, m.ID)
		}
		list = append(list, m)
	}
	return list, same
}

// otherSigner is what stands where Gemini's own signature would.
const otherSigner = `"thoughtSignature":"Y29udGV4dF9lbmdpbmVlcmluZ19pc190aGVfd2F5X3RvX2dv"`

func hides(rest []abi.Message) bool {
	for _, m := range rest {
		if m.Kind == abi.KindSummary && !strings.HasPrefix(m.Text(), "<") {
			return true
		}
	}
	return false
}

func hasResults(s *transcript.Session, i int) bool {
	return i+1 < len(s.Messages) && strings.HasPrefix(s.Messages[i+1].ID, s.Messages[i].ID+"#")
}

func insertion(rt *rapid.T, id string) abi.Message {
	kind := rapid.SampledFrom([]abi.Kind{abi.KindSummary, abi.KindInjected}).Draw(rt, "kind")
	text := rapid.SampledFrom([]string{"plain", "\"quoted\" \\ <&>\nline", "é😀\u2028", "]}],"}).Draw(rt, "text")
	return abi.Message{ID: id, Role: abi.RoleUser, Kind: kind, Content: abi.Text(abi.Fence(kind, "test", "", text))}
}

func edit(rt *rapid.T, m *abi.Message) {
	if p := m.Content.Parts(); len(p) > 0 && p[0].Type == "computer_screenshot" {
		return // no text can stand there
	}
	if m.Role == abi.RoleTool {
		m.Content = abi.Text(rapid.SampledFrom([]string{"", "[Pruned]", "two\nlines \"q\""}).Draw(rt, "output"))
	}
	m.ToolCalls = slices.Clone(m.ToolCalls)
	for i := range m.ToolCalls {
		if rapid.Bool().Draw(rt, "shorten") && m.ToolCalls[i].Name != "computer_call" {
			m.ToolCalls[i].Arguments = `{"pruned":"\u00e9 9 tokens"}`
		}
	}
}

// sameMessages compares what every format can hold.
func sameMessages(tb rapid.TB, want, got []abi.Message) {
	tb.Helper()
	if len(want) != len(got) {
		tb.Fatalf("%d messages, want %d", len(got), len(want))
	}
	for i := range want {
		w, g := &want[i], &got[i]
		if w.Role != g.Role || w.Kind != g.Kind || !w.Content.Equal(g.Content) ||
			madeUp(w.ToolCallID) != madeUp(g.ToolCallID) ||
			w.IsError != g.IsError || !slices.EqualFunc(w.ToolCalls, g.ToolCalls, sameCall) {
			tb.Fatalf("message %d:\n got %+v\nwant %+v", i, *g, *w)
		}
	}
}

func sameCall(a, b abi.ToolCall) bool {
	a.ID, b.ID = madeUp(a.ID), madeUp(b.ID)
	return a == b
}

// madeUp takes the number off an id that is a function's name, which counts
// what stands before in the record.
func madeUp(id string) string {
	if strings.HasPrefix(id, "function:") {
		id, _, _ = strings.Cut(id, "#")
	}
	return id
}

// keptBytes finds the bytes of the untouched messages, as a plain decoder sees
// them, in the output, in order.
func keptBytes(tb rapid.TB, f transcript.Format, s *transcript.Session, data, out []byte, same []string) {
	tb.Helper()
	raws := rawMessages(tb, f, s, data)
	pos := 0
	for _, id := range same {
		raw, ok := raws[id]
		if !ok {
			continue
		}
		at := bytes.Index(out[pos:], raw)
		if at < 0 {
			tb.Fatalf("message %s: its bytes are gone: %s", id, clip(raw))
		}
		pos += at + len(raw)
	}
}

func rawMessages(tb rapid.TB, f transcript.Format, s *transcript.Session, data []byte) map[string][]byte {
	data = bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff")))
	var recs [][]byte
	switch {
	case f == anthropic, f == gemini:
		return blockRaws(tb, f, s, data)
	case f == responses:
		return itemRaws(tb, s, data)
	case f == geminiCLI:
		return entryRaws(tb, data)
	case f == openAI && bytes.Contains(data, []byte(`"request"`)):
		b, answers := bodyOf(tb, data)
		recs = append(bytesOf(b.Messages), answers...)
	case (f == openAI || f == openHands) && data[0] == '[':
		recs = bytesOf(unmarshal[[]json.RawMessage](tb, data))
	case f == openHands || f == sweAgent:
		recs = bytesOf(unmarshal[struct{ History []json.RawMessage }](tb, data).History)
	case f == openAI && !bytes.HasPrefix(data, []byte(`{"role"`)) && !bytes.HasPrefix(data, []byte(`{"content"`)):
		doc := unmarshal[struct{ Messages, Traj []json.RawMessage }](tb, data)
		recs = bytesOf(append(doc.Messages, doc.Traj...))
	default:
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				recs = append(recs, line)
			}
		}
	}
	raws := make(map[string][]byte)
	switch f {
	case codex, pi, openHands:
		return rawResults(tb, f, s, recs)
	}
	if f != claudeCode {
		recs = recs[len(recs)-len(s.Messages):] // without a line of tools
		for i, m := range s.Messages {
			if f != sweAgent || m.Kind != abi.KindConsoleOutput { // its kind may have to be written
				raws[m.ID] = recs[i]
			}
		}
		return raws
	}
	twice := make(map[string]bool) // ids of lines that hold several messages
	for _, m := range s.Messages {
		if id, _, several := strings.Cut(m.ID, "#"); several {
			twice[id] = true
		}
	}
	for _, rec := range recs {
		line := unmarshal[struct {
			UUID    string
			Message json.RawMessage
		}](tb, rec)
		if _, dup := raws[line.UUID]; !twice[line.UUID] && !dup {
			raws[line.UUID] = line.Message
		}
	}
	return raws
}

// rawResults are the bytes of the tool results alone, in formats whose other
// messages are not one record each.
func rawResults(tb rapid.TB, f transcript.Format, s *transcript.Session, recs [][]byte) map[string][]byte {
	var results [][]byte
	for _, rec := range recs {
		switch f {
		case codex:
			line := unmarshal[struct{ Payload json.RawMessage }](tb, rec)
			if bytes.Contains(line.Payload, []byte(`_output","call_id"`)) {
				results = append(results, line.Payload)
			}
		case pi:
			line := unmarshal[struct{ Message json.RawMessage }](tb, rec)
			if bytes.HasPrefix(line.Message, []byte(`{"role":"toolResult"`)) {
				results = append(results, line.Message)
			}
		case openHands:
			event := unmarshal[struct {
				Observation string
				Meta        json.RawMessage `json:"tool_call_metadata"`
			}](tb, rec)
			if event.Observation != "" && event.Meta != nil {
				results = append(results, rec)
			}
		}
	}
	raws := make(map[string][]byte)
	for _, m := range s.Messages {
		if m.Role == abi.RoleTool && len(results) > 0 && !strings.HasPrefix(m.ToolCallID, "event:") {
			raws[m.ID], results = results[0], results[1:]
		}
	}
	return raws
}

func unmarshal[T any](tb rapid.TB, data []byte) (v T) {
	tb.Helper()
	if err := json.Unmarshal(data, &v); err != nil {
		tb.Fatalf("%v: %s", err, clip(data))
	}
	return v
}

func bytesOf(raws []json.RawMessage) (out [][]byte) {
	for _, r := range raws {
		out = append(out, r)
	}
	return out
}
