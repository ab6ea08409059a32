package wire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/wire"
)

// BenchmarkUnmarshal reads natively; what counts is BenchmarkGuestDecode of
// package runtime.
func BenchmarkUnmarshal(b *testing.B) {
	data, err := os.ReadFile(filepath.Join(shared.Root(b), "testdata", "demo.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	doc := append([]byte(`{"messages":[`), bytes.Join(lines[1:], []byte(","))...)
	doc = append(doc, "]}"...)
	for name, unmarshal := range map[string]func([]byte, any) error{"wire": wire.Unmarshal, "json": json.Unmarshal} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				if err := unmarshal(doc, new(abi.Input)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMarshal writes what a compactor answers: mostly references.
func BenchmarkMarshal(b *testing.B) {
	out := &abi.Output{Summary: strings.Repeat("- edited a file\n", 50)}
	for i := range 1000 {
		id := fmt.Sprintf("m%05d", i)
		out.Messages = append(out.Messages, abi.OutputMessage{Ref: id})
		out.Superseded = append(out.Superseded, id)
	}
	for name, marshal := range map[string]func(any) ([]byte, error){"wire": wire.Marshal, "json": json.Marshal} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := marshal(out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
