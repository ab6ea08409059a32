package agenttest

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/atomicfile"
)

// Turn is a turn of a recorded session: what a person said, and what the model answers, call by call.
type Turn struct {
	Prompt  string
	Answers []Answer
}

// Replay makes a script of a recorded session. Each call becomes one of the client's own tool that shows what the
// recorded one returned; dir is where that is kept. shows makes the call that shows a file.
func Replay(tb testing.TB, msgs []abi.Message, dir string, shows func(file string) Call) (turns []Turn) {
	tb.Helper()
	results := make(map[string]string)
	for i := range msgs {
		if m := &msgs[i]; m.Role == abi.RoleTool {
			results[m.ToolCallID] = m.Text()
		}
	}
	n := 0
	for i := range msgs {
		switch m := &msgs[i]; {
		case m.Role == abi.RoleUser && m.Kind == "" && m.Text() != "":
			turns = append(turns, Turn{Prompt: m.Text()})
		case m.Role == abi.RoleAssistant && len(turns) > 0:
			a := Answer{Text: m.Text()}
			for _, c := range m.ToolCalls {
				file := filepath.Join(dir, fmt.Sprintf("%04d.txt", n))
				n++
				if err := atomicfile.WriteFile(file, []byte(results[c.ID]), 0o644); err != nil {
					tb.Fatal(err)
				}
				a.Calls = append(a.Calls, shows(file))
			}
			if t := &turns[len(turns)-1]; a.Text != "" || len(a.Calls) > 0 {
				t.Answers = append(t.Answers, a)
			}
		}
	}
	return turns
}
