package sessiongen

import (
	"encoding/json"
	"fmt"
	"strings"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
)

// Messages generates sessions of up to max messages, with unique ids.
func Messages(max int) *rapid.Generator[[]abi.Message] {
	return rapid.Custom(func(t *rapid.T) []abi.Message {
		g := generator{t: t}
		for range rapid.IntRange(0, 2).Draw(t, "leading") {
			g.add(rapid.SampledFrom(leading).Draw(t, "lead"), 8)
		}
		for range rapid.IntRange(0, max).Draw(t, "steps") {
			if len(g.msgs) >= max {
				break
			}
			g.step()
		}
		return g.msgs
	})
}

// leading are what logs begin with before anybody says anything.
var leading = []abi.Message{
	{Role: abi.RoleSystem},
	{Role: abi.RoleUser, Kind: abi.KindMeta},
	{Role: abi.RoleUser, Kind: abi.KindInstructions},
}

// plain are messages that are units by themselves.
var plain = []abi.Message{
	{Role: abi.RoleUser},
	{Role: abi.RoleUser},
	{Role: abi.RoleAssistant},
	{Role: abi.RoleAssistant},
	{Role: abi.RoleSystem},
	{Role: abi.RoleUser, Kind: abi.KindSummary},
	{Role: abi.RoleUser, Kind: abi.KindInjected},
	{Role: abi.RoleUser, Kind: abi.KindSynthetic},
	{Role: abi.RoleUser, Kind: "unheard_of"},
	{Role: abi.RoleAssistant, Kind: abi.KindDisplayOnly},
}

// toolNames are what the agent calls; one of them is protected from pruning.
var toolNames = []string{"read", "Bash", "edit_file", "grep"}

// generator is a session on its way.
type generator struct {
	t    *rapid.T
	msgs []abi.Message
	late []abi.Message // results that come later
}

func (g *generator) step() {
	switch n := rapid.IntRange(0, 9).Draw(g.t, "step"); {
	case n < 4:
		g.add(rapid.SampledFrom(plain).Draw(g.t, "plain"), 40)
	case n < 8:
		g.call()
	case n == 8 && len(g.late) > 0:
		g.add(g.late[0], 0)
		g.late = g.late[1:]
	default: // a result nobody asked for, or of an id used before
		g.add(abi.Message{Role: abi.RoleTool, ToolCallID: g.callID()}, 60)
	}
}

// call adds an assistant message with tool calls, and results for some.
func (g *generator) call() {
	m := abi.Message{Role: abi.RoleAssistant}
	var results []abi.Message
	for range rapid.IntRange(1, 3).Draw(g.t, "calls") {
		c := abi.ToolCall{ID: g.callID(), Name: rapid.SampledFrom(toolNames).Draw(g.t, "tool")}
		args, err := json.Marshal(map[string]string{"path": g.text(6), "command": g.text(10)})
		if err != nil {
			panic(err)
		}
		c.Arguments = string(args)
		m.ToolCalls = append(m.ToolCalls, c)
		failed := rapid.IntRange(0, 9).Draw(g.t, "error") == 9
		r := abi.Message{Role: abi.RoleTool, ToolCallID: c.ID, IsError: failed, Content: abi.Text(g.text(120))}
		if rapid.Bool().Draw(g.t, "named") {
			r.Name = c.Name
		}
		results = append(results, r)
	}
	g.add(m, 20)
	for _, r := range results {
		switch n := rapid.IntRange(0, 9).Draw(g.t, "answer"); {
		case n < 7:
			g.add(r, 0)
		case n < 9:
			g.late = append(g.late, r)
		}
	}
}

// callID is one of few, so that ids are used again.
func (g *generator) callID() string {
	return fmt.Sprintf("call_%d", rapid.IntRange(0, 7).Draw(g.t, "id"))
}

// add appends a message; words is the most it says, 0 leaves what it has.
func (g *generator) add(m abi.Message, words int) {
	m.ID = fmt.Sprintf("m%05d", len(g.msgs))
	if words > 0 {
		m.Content = abi.Text(g.text(words))
		if rapid.IntRange(0, 9).Draw(g.t, "parts") == 9 {
			image := json.RawMessage(`{"type":"image","source":"a.png"}`)
			m.Content = abi.Parts(abi.TextPart(m.Text()), abi.RawPart("image", image))
		}
	}
	if rapid.IntRange(0, 19).Draw(g.t, "keep") == 19 {
		m.Meta = abi.Meta{abi.MetaAlwaysKeep: json.RawMessage("true")}
	}
	g.msgs = append(g.msgs, m)
}

// vocabulary is what people and agents talk of here.
var vocabulary = strings.Fields("the fix is in src/app/main.go now HTTPServer max_retries 8080 --verbose ünïcode 日本語 " +
	"error: no such file run again https://example.com/docs/a?b=c sha 9f3c2e1ab <|im_start|> </summary> \"quoted\" done")

func (g *generator) text(words int) string {
	n := rapid.IntRange(0, words).Draw(g.t, "words")
	at := rapid.IntRange(0, len(vocabulary)-1).Draw(g.t, "at")
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(" \n"[i%7/6])
		}
		b.WriteString(vocabulary[(at+i*7)%len(vocabulary)])
	}
	return b.String()
}
