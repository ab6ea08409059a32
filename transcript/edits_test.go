package transcript_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript"
)

// TestContextEdits: what pi's context_edit entries put in place of an entry's content is what the model sees, as pi's
// session format has it: the latest one on the branch counts, null leaves the entry out, and the entry stays as it is.
func TestContextEdits(t *testing.T) {
	entry := func(id, parent, fields string) string {
		return fmt.Sprintf(`{"type":%s,"id":%q,"parentId":%q,"timestamp":"2026-11-01T00:00:00Z"}`, fields, id, parent) + "\n"
	}
	edit := func(id, parent, of, replacement string) string {
		return entry(id, parent, fmt.Sprintf(`"context_edit","targetId":%q,"replacement":%s`, of, replacement))
	}
	message := func(id, parent, message string) string { return entry(id, parent, `"message","message":`+message) }
	log := `{"type":"session","version":3,"id":"s","timestamp":"2026-11-01T00:00:00Z","cwd":"/"}` + "\n" +
		message("u", "", `{"role":"user","content":"Look."}`) +
		message("a", "u", `{"role":"assistant","content":[{"type":"text","text":"I look."},`+
			`{"type":"toolCall","id":"c","name":"bash","arguments":{}}]}`) +
		message("r", "a", `{"role":"toolResult","toolCallId":"c","toolName":"bash","isError":false,`+
			`"content":[{"type":"text","text":"all of it"}]}`) +
		message("v", "r", `{"role":"user","content":"Never mind."}`) +
		message("b", "v", `{"role":"assistant","content":[{"type":"text","text":"At length."}]}`) +
		edit("e1", "b", "r", `{"content":"first"}`) +
		edit("e2", "e1", "r", `{"content":[{"type":"text","text":"a part of it"}]}`) +
		edit("e3", "e2", "v", `null`) +
		edit("e4", "e3", "b", `{"content":[{"type":"text","text":"In short."}]}`) +
		edit("x", "b", "u", `{"content":"on another branch"}`) +
		edit("e5", "e4", "missing", `{"content":"of no entry"}`) +
		message("w", "e5", `{"role":"user","content":"Go on."}`)
	s := read(t, []byte(log), pi)
	want := []string{"user Look.", "assistant I look.", "call c", "result c a part of it", "assistant In short.",
		"user Go on."}
	if got := listShows(pi, s.Live()); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := string(encode(t, s, s.Messages, transcript.Same)); got != log {
		t.Errorf("changed to %s", got)
	}
	short := slices.Clone(s.Live())
	at := slices.IndexFunc(short, func(m abi.Message) bool { return m.Role == abi.RoleTool })
	short[at].Content = abi.Text("cut")
	out := string(encode(t, s, short, transcript.Same))
	if got, _, _ := strings.Cut(out[strings.Index(out, `"id":"e2"`)-80:], "\n"); !strings.Contains(out, "all of it") ||
		strings.Contains(out, "a part of it") || !strings.Contains(out, "cut") {
		t.Errorf("a result that was edited is shortened to %s", got)
	}
	if got, want := listShows(pi, read(t, []byte(out), pi).Live()), listShows(pi, short); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	alone := string(encode(t, s, short[:1], transcript.Same))
	for _, gone := range []string{"r", "v", "b"} {
		if strings.Contains(alone, `"targetId":"`+gone+`"`) {
			t.Errorf("the edit of %s, which went, stays: %s", gone, alone)
		}
	}
}

// TestSystemMessagesOfPi: what system messages say by sections is the prompt, and it stays: pi carries it over a
// compaction by itself.
func TestSystemMessagesOfPi(t *testing.T) {
	const log = `{"type":"session","version":3,"id":"s","timestamp":"2026-11-01T00:00:00Z","cwd":"/"}
{"type":"message","id":"p","parentId":null,"timestamp":"2026-11-01T00:00:00Z","message":{"role":"system","content":"","sections":{"preamble":"You code.","cwd":"/kw"},"toolsAdded":[{"name":"read"}]}}
{"type":"message","id":"u","parentId":"p","timestamp":"2026-11-01T00:00:00Z","message":{"role":"user","content":"Look."}}
{"type":"message","id":"q","parentId":"u","timestamp":"2026-11-01T00:00:00Z","message":{"role":"system","content":"Be brief.","sections":{"cwd":null,"skills":"None."}}}
{"type":"message","id":"v","parentId":"q","timestamp":"2026-11-01T00:00:00Z","message":{"role":"user","content":"Go on."}}
{"type":"compaction","id":"c","parentId":"v","timestamp":"2026-11-01T00:00:00Z","summary":"They looked.","firstKeptEntryId":"v","tokensBefore":9,"systemMessage":{"role":"system","content":"You code."}}
`
	s := read(t, []byte(log), pi)
	want := []string{"user They looked.", "system You code.\n\n/kw", "system Be brief.\n\nNone.", "user Go on."}
	if got := listShows(pi, s.Live()); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if got := string(encode(t, s, s.Messages, transcript.Same)); got != log {
		t.Errorf("changed to %s", got)
	}
	if pins := abi.Pinned(s.Messages); !pins[0] || !pins[2] {
		t.Errorf("pinned %v", pins)
	}
}
