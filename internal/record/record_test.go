package record_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/hosttest"
	"github.com/kagewasm/kagewasm/internal/record"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/transcript"
)

// compacted compacts a file and keeps the run: what compact does.
func compacted(t *testing.T, s *store.Store, name string, data []byte, target int) (
	out []byte, kept record.Kept, r *kagewasm.Result,
) {
	t.Helper()
	file, err := transcript.Read(name, data, transcript.Auto)
	if err != nil {
		t.Fatal(err)
	}
	file.Messages = file.Live()
	run := &record.Run{Path: name, Data: data, File: file, Session: abi.Session{ID: record.ID(file)}}
	c := hosttest.New(t, kagewasm.Options{Audit: func(e kagewasm.Event) { run.Events = append(run.Events, e) }})
	run.Result, err = c.Compact(t.Context(), kagewasm.Request{Session: run.Session, Messages: file.Messages, Force: true,
		Target: &target})
	if err != nil && abi.CodeOf(err) != abi.CodeExceedsWindow {
		t.Fatal(err)
	}
	if out, err = file.Encode(run.Result.Messages, transcript.Same); err != nil {
		t.Fatal(err)
	}
	if kept, err = run.Keep(t.Context(), s, 1<<40); err != nil {
		t.Fatal(err)
	}
	return out, kept, run.Result
}

func newStore(t *testing.T) *store.Store {
	s, err := store.Open(t.Context(), store.InMemory, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestEarlierCompactions: what plugins can search beside the file is what compactions before
// took away, and nothing that the file has itself.
func TestEarlierCompactions(t *testing.T) {
	features.Proves(t, "N9")
	data, err := os.ReadFile("../../testdata/demo.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	s := newStore(t)
	earlier := func(data []byte) []session.StoredMessage {
		t.Helper()
		file, err := transcript.Read("demo", data, transcript.Auto)
		if err != nil {
			t.Fatal(err)
		}
		list, err := (&record.Run{File: file, Session: abi.Session{ID: record.ID(file)}}).Earlier(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if list := earlier(data); len(list) != 0 {
		t.Fatalf("%d messages went before the first compaction", len(list))
	}
	out, _, first := compacted(t, s, "demo", data, 20_000)
	list := earlier(out)
	if len(list) != len(first.Report.Superseded) {
		t.Errorf("%d messages can be searched, and %d went", len(list), len(first.Report.Superseded))
	}
	found := session.Recall(list, session.RecallQuery{Text: "rolling back to v0.3.0"})
	if len(found) == 0 {
		t.Error("nothing is found of what went")
	}
	if list := earlier(data); len(list) != 0 {
		t.Errorf("%d messages that the file has are searched as if they had gone", len(list))
	}
}

// TestEveryFormat: in every format an output goes on with the session of its input, what
// the store says the model sees is the output, and undoing everything gives the input
// back, byte for byte.
func TestEveryFormat(t *testing.T) {
	features.Proves(t, "K11")
	features.Proves(t, "N5")
	const name = "../../testdata/demo.jsonl"
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	demo, err := transcript.Read(name, data, transcript.Auto)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range soak.Sample(transcript.Formats(), 3, 11) {
		t.Run(string(format), func(t *testing.T) {
			data, err := demo.Encode(demo.Messages, format)
			if err != nil {
				t.Fatal(err)
			}
			s := newStore(t)
			one, kept, first := compacted(t, s, string(format), data, 20_000)
			two, again, second := compacted(t, s, string(format), one, 8_000)
			if kept.Key != again.Key || !first.Report.Compacted || !second.Report.Compacted {
				t.Fatalf("the output is session %s, and the input was %s; %s; %s", again.Key, kept.Key, first.Report.Reason,
					second.Report.Reason)
			}
			h, err := session.OpenHistory(t.Context(), s, kept.Key, nil)
			if err != nil {
				t.Fatal(err)
			}
			check(t, s, kept.Key, h, two, "what the model sees")
			for _, want := range [][]byte{one, data} {
				if _, err = h.Undo(t.Context()); err != nil {
					t.Fatal(err)
				}
				check(t, s, kept.Key, h, want, "undone")
			}
			third, last, _ := compacted(t, s, string(format), data, 20_000)
			if last.Key != kept.Key || !bytes.Equal(third, one) {
				t.Errorf("the same file again is session %s, and the result is another one", last.Key)
			}
		})
	}
}

func check(t *testing.T, s *store.Store, key string, h *session.History, want []byte, what string) {
	t.Helper()
	got, err := record.Write(t.Context(), s, key, h.Messages())
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is another file, %v:\n%.2000s\nwant\n%.2000s", what, err, got, want)
	}
}

// TestID: a session without an id is known by its first messages, which a compaction
// leaves; another task is another session.
func TestID(t *testing.T) {
	features.Proves(t, "K11")
	id := func(task, more string) string {
		text := fmt.Sprintf(`{"role":"system","content":"You are careful."}
{"role":"user","content":%q}
{"role":"assistant","content":%q}
`, task, more)
		s, err := transcript.Read("s", []byte(text), transcript.Auto)
		if err != nil {
			t.Fatal(err)
		}
		return record.ID(s)
	}
	if id("Go.", "a") != id("Go.", "b") || id("Go.", "a") == id("Stop.", "a") {
		t.Errorf("%s, %s and %s", id("Go.", "a"), id("Go.", "b"), id("Stop.", "a"))
	}
}

// BenchmarkKeep is what recording adds to a compaction of 250,000 tokens, in a store
// that has the session already.
func BenchmarkKeep(b *testing.B) {
	msgs := sessiongen.Long(700, 320)
	data := sessiongen.JSONL(msgs)
	file, err := transcript.Read("long", data, transcript.Neutral)
	if err != nil {
		b.Fatal(err)
	}
	half := len(msgs) / 2
	note := abi.Message{ID: "kw-note", Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text("what was said")}
	made := &kagewasm.Result{Messages: append([]abi.Message{file.Messages[0], note}, file.Messages[half:]...),
		Report: kagewasm.Report{Compacted: true, TokensAfter: 1}, Record: &abi.Record{ID: "cmp-1", Success: true}}
	for _, m := range file.Messages[1:half] {
		made.Record.Superseded = append(made.Record.Superseded, m.ID)
	}
	path := filepath.Join(b.TempDir(), "sessions.db")
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		s, err := store.Open(b.Context(), path, store.Options{})
		if err != nil {
			b.Fatal(err)
		}
		run := &record.Run{Path: "long", Data: data, File: file, Session: abi.Session{ID: record.ID(file)}, Result: made}
		if _, err := run.Keep(b.Context(), s, 1<<40); err != nil {
			b.Fatal(err)
		}
		s.Close()
	}
}
