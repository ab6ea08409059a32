package survey_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/survey"
	"github.com/kagewasm/kagewasm/runtime"
	"github.com/kagewasm/kagewasm/tokens"
)

// load loads a version of the plugin in kit/testdata, with kv granted.
func load(t *testing.T, name string) *runtime.Plugin {
	t.Helper()
	r := plugintest.New(t, runtime.Options{KV: survey.KV(nil), CacheDir: plugintest.CacheDir(t)})
	return plugintest.MustLoad(t, r, plugintest.Guest(t, "kit/testdata/"+name),
		runtime.PluginOptions{Grants: runtime.Grants{KV: true}})
}

// options count with one counter for all tests.
var options = sync.OnceValue(func() survey.Options {
	counter, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		panic(err)
	}
	return survey.Options{Counter: counter}
})

func run(t *testing.T, name string, sessions []*survey.Session) *survey.Survey {
	t.Helper()
	s, err := survey.Run(t.Context(), load(t, name), sessions, options())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// work is a session of n steps, with the result that a tool has in each.
func work(name string, n int, result string) *survey.Session {
	s := &survey.Session{Name: name}
	add := func(m abi.Message) {
		m.ID = fmt.Sprintf("m%d", len(s.Messages))
		s.Messages = append(s.Messages, m)
	}
	add(abi.Message{Role: abi.RoleUser, Content: abi.Text("make the tests of " + name + " pass")})
	for i := range n {
		call := fmt.Sprint("c", i)
		add(abi.Message{Role: abi.RoleAssistant, Content: abi.Text("step"),
			ToolCalls: []abi.ToolCall{{ID: call, Name: "run", Arguments: "{}"}}})
		add(abi.Message{Role: abi.RoleTool, ToolCallID: call, Content: abi.Text(strings.Repeat(result+"\n", 40))})
		add(abi.Message{Role: abi.RoleUser, Content: abi.Text(fmt.Sprintf("and step %d?", i))})
	}
	return s
}

// neutral is a session as a file.
func neutral(t *testing.T, s *survey.Session) []byte {
	t.Helper()
	var b strings.Builder
	for i := range s.Messages {
		line, err := json.Marshal(&s.Messages[i])
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return []byte(b.String())
}
