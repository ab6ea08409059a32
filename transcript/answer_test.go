package transcript_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/transcript"
)

// TestShortenedAnswerOfSeveralRecords: Claude Code writes each block of an answer into a record of its own. A text is
// shortened in its record, and what the model thought before it stays.
func TestShortenedAnswerOfSeveralRecords(t *testing.T) {
	features.Proves(t, "K10")
	long := "I looked.\n" + strings.Repeat("then there is this\n", 200) + "That is all."
	line := func(id, parent, kind, message string) string {
		return `{"type":"` + kind + `","uuid":"` + id + `","parentUuid":` + parent + `,"sessionId":"s","message":` + message + "}\n"
	}
	answer := func(block string) string { return `{"id":"msg_1","role":"assistant","content":[` + block + `]}` }
	file := line("u1", "null", "user", `{"role":"user","content":"Look."}`) +
		line("a1", `"u1"`, "assistant", answer(`{"type":"thinking","thinking":"I should look.","signature":"c2ln"}`)) +
		line("a2", `"a1"`, "assistant", answer(`{"type":"text","text":`+string(jsonOf(long))+`}`)) +
		line("u2", `"a2"`, "user", `{"role":"user","content":"Go on."}`)
	s := read(t, []byte(file), claudeCode)
	var list []firewall.Excerpt
	for i, m := range s.Messages {
		for part := range max(1, len(m.Content.Parts())) {
			list = append(list, firewall.Excerpt{ID: s.Messages[i].ID, Part: part, Head: 40, Tail: 30})
		}
	}
	short, _, changed := firewall.Shorten(s.Messages, make([]int, len(s.Messages)), list, "", sessiongen.Counter{})
	if len(changed) != 1 {
		t.Fatalf("shortened %v", changed)
	}
	out := string(encode(t, s, short, transcript.Same))
	if strings.Count(out, "left out here") != 1 || !strings.Contains(out, `"signature":"c2ln"`) || len(out) > len(file)-3000 {
		t.Fatalf("%d bytes of %d: %s", len(out), len(file), out)
	}
	sameMessages(t, short, read(t, []byte(out), claudeCode).Messages)
}

func jsonOf(s string) []byte { b, _ := json.Marshal(s); return b }
