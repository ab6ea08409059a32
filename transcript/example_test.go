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
  {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]},
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
	//   {"role": "assistant", "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]},
	//   {"role": "tool", "tool_call_id": "c1", "content": "[Pruned]"} ]
}
