package server_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/servetest"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/transcript"
)

// TestOnceInEveryForm: messages of every format come back in the form that they came in,
// read as that format again, below the threshold byte for byte.
func TestOnceInEveryForm(t *testing.T) {
	features.Proves(t, "K16")
	data, err := os.ReadFile("../testdata/demo.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	demo, err := transcript.Read("demo", data, transcript.Auto)
	if err != nil {
		t.Fatal(err)
	}
	s := start(t)
	for _, format := range transcript.Formats() {
		t.Run(string(format), func(t *testing.T) {
			data, err := demo.Encode(demo.Messages, format)
			if err != nil {
				t.Fatal(err)
			}
			forms := map[string]any{"text": string(data)}
			if json.Valid(data) {
				forms["JSON"] = json.RawMessage(data)
			}
			for name, messages := range forms {
				var same, made service.Made
				s.Must(200, "POST", "/compact", map[string]any{"messages": messages, "format": format,
					"context_window": 1_000_000}, &same)
				if got := textOf(t, same.Messages); same.Report.Compacted || !sameJSON(got, data) {
					t.Errorf("%s: %v, and what was not compacted is another one: %.300s", name, same.Report.Compacted, got)
				}
				s.Must(200, "POST", "/compact", map[string]any{"messages": messages, "format": format, "force": true,
					"context_window": 32_000}, &made)
				read, err := transcript.Read("made", textOf(t, made.Messages), format)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if !made.Report.Compacted || len(read.Live()) != made.Report.MessagesAfter {
					t.Errorf("%s: %d messages, and the report says %d: %s", name, len(read.Live()), made.Report.MessagesAfter,
						made.Report.Reason)
				}
			}
		})
	}
}

// textOf is the file that a value stands for.
func textOf(t *testing.T, v json.RawMessage) []byte {
	t.Helper()
	if v[0] != '"' {
		return v
	}
	var text string
	if err := json.Unmarshal(v, &text); err != nil {
		t.Fatal(err)
	}
	return []byte(text)
}

// sameJSON compares files; where they are one document its spaces may be others.
func sameJSON(a, b []byte) bool {
	var x, y bytes.Buffer
	if json.Compact(&x, a) == nil && json.Compact(&y, b) == nil {
		a, b = x.Bytes(), y.Bytes()
	}
	return bytes.Equal(a, b)
}

// TestOnceAsList: a list of neutral messages comes back as one, also in another format.
func TestOnceAsList(t *testing.T) {
	s := start(t)
	in := map[string]any{"messages": servetest.Chat(20), "format": "neutral", "force": true, "context_window": 2000}
	var made service.Made
	s.Must(200, "POST", "/compact", in, &made)
	var list []struct{ ID, Role, Kind string }
	if err := json.Unmarshal(made.Messages, &list); err != nil || len(list) != made.Report.MessagesAfter {
		t.Fatalf("%d messages, %v", len(list), err)
	}
	in["to"] = "openai"
	s.Must(200, "POST", "/compact", in, &made)
	read, err := transcript.Read("made", textOf(t, made.Messages), transcript.Format("openai"))
	if err != nil || len(read.Messages) != made.Report.MessagesAfter {
		t.Errorf("%v: %.300s", err, made.Messages)
	}
}

// TestOnceIsKept: with record the session is in the store: what went can be listed, and
// the compaction undone; without, nothing is.
func TestOnceIsKept(t *testing.T) {
	features.Proves(t, "K11")
	s := start(t)
	in := map[string]any{"messages": servetest.Chat(20), "format": "neutral", "force": true, "context_window": 2000}
	var made service.Made
	s.Must(200, "POST", "/compact", in, &made)
	list := struct{ Sessions []store.Session }{}
	s.Must(200, "GET", "/sessions", nil, &list)
	if made.Session != "" || len(list.Sessions) != 0 {
		t.Errorf("%q, %+v", made.Session, list)
	}
	in["record"], in["id"], in["name"] = true, "mine", "/tmp/log"
	s.Must(200, "POST", "/compact", in, &made)
	s.Must(200, "GET", "/sessions", nil, &list)
	if made.Session != "mine" || len(list.Sessions) != 1 || list.Sessions[0].Source != "/tmp/log" {
		t.Errorf("%q, %+v", made.Session, list)
	}
	var undone service.Restored
	s.Must(200, "POST", "/sessions/mine/undo", nil, &undone)
	if undone.Messages != 42 {
		t.Errorf("%+v", undone)
	}
}
