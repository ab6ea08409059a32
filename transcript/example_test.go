package transcript_test

import (
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript"
)

// A session is read, a tool result is shortened, and the file is written
// again: the other bytes are the same.
func Example() {
	file := []byte(`[ {"role": "user", "content": "list the files"},
  {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "ls", "arguments": "{}"}}]},
  {"role": "tool", "tool_call_id": "c1", "content": "a.go\nb.go\nc.go"} ]`)
	s, err := transcript.Read("session.json", file, transcript.Auto)
	if err != nil {
		fmt.Println(err)
		return
	}
	s.Messages[2].Content = abi.Text("[Pruned]")
	out, err := s.Encode(s.Messages, transcript.Same)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Format)
	fmt.Printf("%s\n", out)
	// Output:
	// openai
	// [ {"role": "user", "content": "list the files"},
	//   {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "ls", "arguments": "{}"}}]},
	//   {"role": "tool", "tool_call_id": "c1", "content": "[Pruned]"} ]
}

// A log that its program compacted holds everything; Superseded says what the
// model no longer sees.
func ExampleSession_superseded() {
	file := []byte(`{"type":"session","version":3,"id":"s1"}
{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"fix the build"}}
{"type":"message","id":"a2","parentId":"a1","message":{"role":"assistant","content":"It is fixed."}}
{"type":"message","id":"a3","parentId":"a2","message":{"role":"user","content":"and the tests"}}
{"type":"compaction","id":"a4","parentId":"a3","summary":"The build was fixed.","firstKeptEntryId":"a3"}
`)
	s, err := transcript.Read("session.jsonl", file, transcript.Auto)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range s.Messages {
		fmt.Printf("%s %s %q\n", m.ID, m.Kind, m.Text())
	}
	fmt.Println(s.Format, s.Superseded)
	// Output:
	// a1  "fix the build"
	// a2  "It is fixed."
	// a3  "and the tests"
	// a4 compaction_summary "The build was fixed."
	// pi [a1 a2]
}
