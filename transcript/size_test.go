package transcript_test

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/transcript"
)

// large is a session of about the given size in a format.
func large(tb testing.TB, format transcript.Format, size int) []byte {
	tb.Helper()
	var b bytes.Buffer
	text := strings.Repeat(`package main // a line of \"source\" text\n\t`, 60)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `{"id":"u%d","role":"user","content":"do it %d"}`+"\n", i, i)
		fmt.Fprintf(&b,
			`{"id":"a%d","role":"assistant","content":"","tool_calls":[{"id":"c%d","name":"read",`+
				`"arguments":"{\"path\":\"f%d.go\"}"}]}`+"\n", i, i, i)
		fmt.Fprintf(&b, `{"id":"t%d","role":"tool","tool_call_id":"c%d","content":"%s"}`+"\n", i, i, text)
	}
	s := read(tb, b.Bytes(), transcript.Neutral)
	return encode(tb, s, s.Messages, format)
}

// A session of 2 MB is held in memory once as bytes and once as messages.
func TestMemoryIsLinear(t *testing.T) {
	for _, f := range transcript.Formats() {
		t.Run(string(f), func(t *testing.T) {
			data := large(t, f, soak.Count(1<<20, 2<<20, 2<<20))
			heap := func() uint64 {
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				return m.HeapAlloc
			}
			before := heap()
			s := read(t, data, f)
			held := float64(heap()-before) / float64(len(data))
			out := encode(t, s, s.Messages, transcript.Same)
			if held > 2 {
				t.Errorf("%s: %.1f times the size of the file, beside it", f, held)
			}
			if cap(out) > len(out)+1024 {
				t.Errorf("%s: %d bytes for an output of %d", f, cap(out), len(out))
			}
			runtime.KeepAlive(s)
		})
	}
}

// A log whose answers never end and whose chain is one long line of entries
// that go is still written in linear time.
func TestHostileChain(t *testing.T) {
	n := soak.Count(10_000, 30_000, 30_000)
	var b bytes.Buffer
	b.WriteString(`{"type":"user","uuid":"0","parentUuid":null,"message":{"content":"go"}}` + "\n")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b,
			`{"type":"assistant","uuid":"%d","parentUuid":"%d","message":{"id":"m","content":[{"type":"text",`+
				`"text":"x"}]}}`+"\n", i, i-1)
	}
	for i := range n {
		fmt.Fprintf(&b,
			`{"type":"user","uuid":"r%d","parentUuid":"%d","message":{"content":[{"type":"tool_result",`+
				`"tool_use_id":"x"}]}}`+"\n", i, n-1)
	}
	s := read(t, b.Bytes(), transcript.Auto)
	list := append([]abi.Message{s.Messages[0]}, s.Messages[2:]...)
	for i := range 1000 {
		list = append(list, abi.Message{ID: fmt.Sprint("new", i), Role: abi.RoleUser, Kind: abi.KindInjected,
			Content: abi.Text("x")})
	}
	again := read(t, encode(t, s, list, transcript.Same), claudeCode)
	if len(again.Messages) != len(list) {
		t.Errorf("%d messages, want %d", len(again.Messages), len(list))
	}
}

// Logs that compact, roll back and branch at every turn are read and written
// in linear time.
func TestHostileCompactions(t *testing.T) {
	n := soak.Count(3_000, 10_000, 10_000)
	for f, log := range map[transcript.Format]func(b *bytes.Buffer){
		codex: func(b *bytes.Buffer) {
			b.WriteString(`{"type":"session_meta","payload":{"id":"s","base_instructions":{"text":"x"}}}` + "\n")
			for i := range n {
				fmt.Fprintf(b, `{"type":"response_item","payload":{"type":"message","role":"developer","content":"d%d"}}`+"\n", i)
				b.WriteString(`{"type":"compacted","payload":{"message":""}}` + "\n")
				b.WriteString(`{"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":99999999999999}}` + "\n")
			}
		},
		pi: func(b *bytes.Buffer) {
			b.WriteString(`{"type":"session","version":3,"id":"s"}` + "\n")
			for i := range n {
				fmt.Fprintf(b, `{"type":"message","id":"%d","parentId":"%d","message":{"role":"user","content":"x"}}`+"\n", i, i-1)
				fmt.Fprintf(b, `{"type":"message","id":"b%d","parentId":"%d","message":{"role":"user","content":"x"}}`+"\n", i, i)
				fmt.Fprintf(b, `{"type":"compaction","id":"c%d","parentId":"%d","firstKeptEntryId":"0","summary":"x"}`+"\n", i, i)
			}
			fmt.Fprintf(b, `{"type":"label","id":"l","parentId":"%d"}`+"\n", n-1)
		},
		openHands: func(b *bytes.Buffer) {
			b.WriteString(`[{"id":0,"source":"user","action":"message","args":{"content":"x"}}`)
			for i := range n {
				fmt.Fprintf(b, `,{"id":%d,"source":"user","action":"message","args":{"content":"x"}}`, 2*i+1)
				fmt.Fprintf(b,
					`,{"id":%d,"source":"agent","action":"condensation","args":{"forgotten_events_start_id":%d,`+
						`"forgotten_events_end_id":%d,"summary":"s"}}`, 2*i+2, i, n)
			}
			b.WriteString("]")
		},
	} {
		t.Run(string(f), func(t *testing.T) {
			var b bytes.Buffer
			log(&b)
			s := read(t, b.Bytes(), transcript.Auto)
			list := s.Messages[: len(s.Messages)/2 : len(s.Messages)/2]
			for i := range 1000 {
				list = append(list, abi.Message{ID: fmt.Sprint("new", i), Role: abi.RoleUser, Kind: abi.KindSummary,
					Content: abi.Text("x")})
			}
			if again := read(t, encode(t, s, list, transcript.Same), f); len(again.Messages) != len(list) {
				t.Errorf("%s: %d messages, want %d", f, len(again.Messages), len(list))
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	for _, f := range transcript.Formats() {
		data := large(b, f, 10<<20)
		b.Run(string(f), func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				read(b, data, transcript.Auto)
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, f := range transcript.Formats() {
		s := read(b, large(b, f, 10<<20), f)
		list := s.Messages[len(s.Messages)/2:]
		b.Run(string(f), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				encode(b, s, list, transcript.Same)
			}
		})
	}
}
