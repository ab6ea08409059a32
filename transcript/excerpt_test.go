package transcript_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/transcript"
)

// TestShortenedWords: words of a person and of the agent of which the firewall left beginning and end are
// written so in every format, as texts and as parts, and nothing else of the file
// changes.
func TestShortenedWords(t *testing.T) {
	features.Proves(t, "K10")
	giant := "Why? \"quoted\" <b>\n" + strings.Repeat("a line of a lög\n", 200) + "Leave the database alone."
	for form, content := range map[string]abi.Content{
		"a text": abi.Text(giant),
		"parts":  abi.Parts(abi.TextPart("See below."), abi.TextPart(giant)),
	} {
		session := sessiongen.JSONL([]abi.Message{
			{ID: "m0", Role: abi.RoleUser, Content: content},
			{ID: "m1", Role: abi.RoleAssistant, Content: abi.Text("I look.\n" + strings.Repeat("then there is this\n", 200) +
				"And so on.")},
			{ID: "m2", Role: abi.RoleUser, Content: abi.Text("Go on.")},
		})
		neutral := read(t, session, transcript.Neutral)
		for _, format := range transcript.Formats() {
			t.Run(string(format)+"/"+form, func(t *testing.T) {
				file := session
				if format != transcript.Neutral {
					file = encode(t, neutral, neutral.Messages, format)
				}
				s := read(t, file, format)
				var list []firewall.Excerpt
				for i, m := range s.Messages {
					for part := range max(1, len(m.Content.Parts())) {
						list = append(list, firewall.Excerpt{ID: s.Messages[i].ID, Part: part, Head: 40, Tail: 30})
					}
				}
				short, _, changed := firewall.Shorten(s.Messages, make([]int, len(s.Messages)), list, "ask me",
					sessiongen.Counter{})
				if len(changed) != 2 {
					t.Fatalf("shortened %v", changed)
				}
				out := encode(t, s, short, transcript.Same)
				if strings.Count(string(out), "left out here") < 2 || strings.Contains(string(out),
					"See below") != (form == "parts") ||
					len(out) > len(file)-5000 {
					t.Fatalf("%d bytes of %d: %s", len(out), len(file), out)
				}
				sameMessages(t, short, read(t, out, format).Messages)
			})
		}
	}
}

// TestShortenedOutputOfAPersonsCommand: what a command of a person put out stands in a pi
// session beside the command. It is shortened there, and the same text is read again.
func TestShortenedOutputOfAPersonsCommand(t *testing.T) {
	features.Proves(t, "K10")
	output := strings.Repeat(`a "file"`+"\n", 200) + "the end"
	ran, err := json.Marshal(map[string]any{"type": "message", "id": "e2", "parentId": "e1",
		"message": map[string]any{"role": "bashExecution", "command": "find .", "output": output, "exitCode": 1}})
	if err != nil {
		t.Fatal(err)
	}
	file := `{"type":"session","id":"s","cwd":"/w"}` + "\n" +
		`{"type":"message","id":"e1","parentId":null,"message":{"role":"user","content":"Go on."}}` + "\n" + string(ran) +
		"\n"
	s := read(t, []byte(file), pi)
	last := s.Messages[len(s.Messages)-1]
	short, _, changed := firewall.Shorten(s.Messages, make([]int, len(s.Messages)),
		[]firewall.Excerpt{{ID: last.ID, Head: 40, Tail: 60}}, "ask me", sessiongen.Counter{})
	if len(changed) != 1 {
		t.Fatalf("shortened %v", changed)
	}
	out := encode(t, s, short, transcript.Same)
	if !strings.Contains(string(out), `"command":"find ."`) || len(out) > len(file)-1000 {
		t.Fatalf("%d bytes of %d: %s", len(out), len(file), out)
	}
	sameMessages(t, short, read(t, out, pi).Messages)
}

// TestOtherWordsStay: a list in which what a person wrote is anything but an excerpt is
// refused.
func TestOtherWordsStay(t *testing.T) {
	s := read(t, []byte(`{"id":"m0","role":"user","content":"Do this and never that."}`), transcript.Neutral)
	for _, text := range []string{"Do that.", "Do this", "Do this and\n[... 5 characters left out here ...]\nalways that.",
		"[... 9 characters left out here ...]\nDo this and never that."} {
		t.Run(text, func(t *testing.T) {
			s.Messages[0].Content = abi.Text(text)
			if out, err := s.Encode(s.Messages, transcript.Same); abi.CodeOf(err) != abi.CodeUsage {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}
