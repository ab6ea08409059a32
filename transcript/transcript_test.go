package transcript_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/transcript"
)

// The formats other than the project's own, by name.
const (
	openAI     transcript.Format = "openai"
	responses  transcript.Format = "openai-responses"
	anthropic  transcript.Format = "anthropic"
	gemini     transcript.Format = "gemini"
	geminiCLI  transcript.Format = "gemini-cli"
	claudeCode transcript.Format = "claude-code"
	codex      transcript.Format = "codex"
	pi         transcript.Format = "pi"
	sweAgent   transcript.Format = "swe-agent"
	openHands  transcript.Format = "openhands"
)

// sample is one session file.
type sample struct {
	name   string
	data   []byte
	format transcript.Format
}

// samples are the project's own fixtures and, where it is there, the shared
// data.
func samples(tb testing.TB) []sample {
	tb.Helper()
	var all []sample
	add := func(format transcript.Format, paths []string) {
		for _, p := range paths {
			data, err := os.ReadFile(p)
			if err != nil {
				tb.Fatal(err)
			}
			all = append(all, sample{filepath.Base(p), data, format})
		}
	}
	for _, f := range transcript.Formats() {
		own, err := filepath.Glob(filepath.Join("testdata", string(f), "*"))
		if err != nil || len(own) == 0 {
			tb.Fatalf("no fixtures for %s (%v)", f, err)
		}
		add(f, own)
	}
	add(transcript.Neutral, shared.With(tb, nil))
	all = append(all, sharedFormats(tb)...)
	return append(all, recordedRequests(tb)...)
}

func read(tb testing.TB, data []byte, format transcript.Format) *transcript.Session {
	tb.Helper()
	s, err := transcript.Read("test", data, format)
	if err != nil {
		tb.Fatalf("%v\n%s", err, clip(data))
	}
	return s
}

func encode(tb testing.TB, s *transcript.Session, msgs []abi.Message, to transcript.Format) []byte {
	tb.Helper()
	out, err := s.Encode(msgs, to)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func clip(b []byte) []byte { return b[:min(len(b), 2000)] }

// An untouched list is written with the bytes it was read from, and the format
// is found without the file's name.
func TestUntouchedIsByteExact(t *testing.T) {
	for _, s := range samples(t) {
		t.Run(string(s.format)+"/"+s.name, func(t *testing.T) { byteExact(t, s) })
	}
}

func byteExact(t *testing.T, s sample) {
	t.Helper()
	got := read(t, s.data, transcript.Auto)
	if got.Format != s.format {
		t.Fatalf("detected as %s, is %s", got.Format, s.format)
	}
	if out := encode(t, got, got.Messages, transcript.Same); !bytes.Equal(out, s.data) {
		t.Fatalf("differs from the source\n--- got\n%s\n--- source\n%s", clip(out), clip(s.data))
	}
	ids := make(map[string]bool)
	for _, m := range got.Messages {
		if m.ID == "" || ids[m.ID] {
			t.Fatalf("id %q is empty or used twice", m.ID)
		}
		if ids[m.ID] = true; !m.Role.Valid() {
			t.Fatalf("message %s has role %q", m.ID, m.Role)
		}
	}
}
