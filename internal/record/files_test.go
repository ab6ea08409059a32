package record_test

import (
	"os"
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/filelist"
	"github.com/kagewasm/kagewasm/internal/record"
	"github.com/kagewasm/kagewasm/transcript"
)

// TestFilesOfTheStore: a file of a format that keeps the text of a summary alone goes on with the files that the store
// has of its last compaction.
func TestFilesOfTheStore(t *testing.T) {
	features.Proves(t, "T7")
	data, err := os.ReadFile("../../testdata/demo.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	demo, err := transcript.Read("demo", data, transcript.Auto)
	if err != nil {
		t.Fatal(err)
	}
	data, err = demo.Encode(demo.Messages, "openai")
	if err != nil {
		t.Fatal(err)
	}
	s := newStore(t)
	out, _, first := compacted(t, s, "demo", data, 0)
	file, err := transcript.Read("demo", out, transcript.Auto)
	if err != nil {
		t.Fatal(err)
	}
	if !record.LackFiles(file.Messages) {
		t.Fatal("the format has a place for more than the text")
	}
	run := &record.Run{File: file, Session: abi.Session{ID: record.ID(file)}}
	msgs, err := run.Files(t.Context(), s, file.Messages)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(msgs, func(m abi.Message) bool { return m.Kind == abi.KindSummary })
	if at < 0 || len(first.Report.Files.Modified) == 0 {
		t.Fatalf("a summary at %d, files %+v", at, first.Report.Files)
	}
	if got := filelist.Of(&msgs[at]); !slices.Equal(got.Modified, first.Report.Files.Modified) ||
		!slices.Equal(got.Read, first.Report.Files.Read) {
		t.Errorf("%+v, want %+v", got, first.Report.Files)
	}
	if !record.LackFiles(file.Messages) {
		t.Error("the messages that were given are changed")
	}
}
