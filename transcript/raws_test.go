package transcript_test

import (
	"encoding/json"
	"strings"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript"
)

// body is a request body, and what its response adds to the list.
type body struct {
	System, SystemInstruction, Instructions json.RawMessage
	System_instruction                      json.RawMessage //nolint:revive // the key as it is
	Messages, Contents, Output              []json.RawMessage
	Traj                                    []json.RawMessage
	Input                                   json.RawMessage
	Request                                 json.RawMessage
	Response                                json.RawMessage
	Content                                 json.RawMessage
	Choices                                 []struct{ Message json.RawMessage }
	Candidates                              []struct{ Content json.RawMessage }
}

// bodyOf takes a body out of a recording; answers are what its response adds,
// as a plain decoder sees them.
func bodyOf(tb rapid.TB, data []byte) (b body, answers [][]byte) {
	type exchange struct{ Request, Response json.RawMessage }
	var exchanges []exchange
	if data[0] == '[' {
		exchanges = unmarshal[[]exchange](tb, data)
	} else {
		exchanges = []exchange{unmarshal[exchange](tb, data)}
	}
	for i := len(exchanges) - 1; i >= 0; i-- {
		e := exchanges[i]
		if len(e.Request) == 0 || e.Request[0] != '{' {
			continue
		}
		if len(e.Response) > 0 && e.Response[0] == '{' {
			r := unmarshal[body](tb, e.Response)
			answers = bytesOf(r.Output)
			for _, one := range []json.RawMessage{r.Content} {
				if len(one) > 0 {
					answers = append(answers, one)
				}
			}
			if len(r.Choices) > 0 {
				answers = append(answers, r.Choices[0].Message)
			}
			if len(r.Candidates) > 0 {
				answers = append(answers, r.Candidates[0].Content)
			}
		}
		return unmarshal[body](tb, e.Request), answers
	}
	if data[0] == '[' {
		list := unmarshal[[]json.RawMessage](tb, data)
		return body{Messages: list, Contents: list, Input: data}, nil
	}
	return unmarshal[body](tb, data), nil
}

// blockRaws are the records of formats that hold messages in blocks: those of
// records that hold one message alone.
func blockRaws(tb rapid.TB, f transcript.Format, s *transcript.Session, data []byte) map[string][]byte {
	b, answers := bodyOf(tb, data)
	raws := make(map[string][]byte)
	recs := bytesOf(b.Messages)
	if f == gemini {
		recs = bytesOf(b.Contents)
	}
	next := 0
	for next < len(s.Messages) && s.Messages[next].Role == abi.RoleSystem {
		next++
	}
	for _, rec := range append(recs, answers...) {
		n := holds(tb, f, rec)
		if n == 1 {
			raws[s.Messages[next].ID] = rec
		}
		next += n
	}
	if next != len(s.Messages) {
		tb.Fatalf("counted %d messages, read %d", next, len(s.Messages))
	}
	return raws
}

// holds is how many messages a record holds.
func holds(tb rapid.TB, f transcript.Format, rec []byte) (n int) {
	type block struct {
		Type                                string
		FunctionResponse, Function_response json.RawMessage //nolint:revive // the key as it is
	}
	m := struct {
		Role           string
		Content, Parts json.RawMessage
	}{Role: "assistant", Content: rec}
	if rec[0] == '{' {
		m = unmarshal[struct {
			Role           string
			Content, Parts json.RawMessage
		}](tb, rec)
	}
	list := m.Content
	if f == gemini {
		list = m.Parts
	}
	if len(list) == 0 || list[0] != '[' {
		return 1
	}
	run := false
	for _, b := range unmarshal[[]block](tb, list) {
		alone := b.Type == "tool_result" || b.Type == "compaction" || b.FunctionResponse != nil || b.Function_response != nil
		if alone || !run {
			n++
		}
		run = !alone
	}
	return max(n, 1)
}

// itemRaws are the items that are a message each: those that are not the
// model's.
func itemRaws(tb rapid.TB, s *transcript.Session, data []byte) map[string][]byte {
	b, answers := bodyOf(tb, data)
	items := bytesOf(b.Output)
	if len(b.Input) > 0 && b.Input[0] == '[' {
		items = bytesOf(unmarshal[[]json.RawMessage](tb, b.Input))
	}
	raws := make(map[string][]byte)
	next := 0
	if len(b.Instructions) > 0 && b.Instructions[0] == '"' {
		next++
	}
	for _, it := range append(items, answers...) {
		head := unmarshal[struct{ Type, Role string }](tb, it)
		if head.Role == "assistant" ||
			head.Role == "" && head.Type != "compaction" && !strings.HasSuffix(head.Type, "_output") {
			continue
		}
		for s.Messages[next].Role == abi.RoleAssistant {
			next++
		}
		raws[s.Messages[next].ID] = it
		next++
	}
	return raws
}

// entryRaws are the entries of a saved chat that hold one message alone.
func entryRaws(tb rapid.TB, data []byte) map[string][]byte {
	raws := make(map[string][]byte)
	for _, m := range unmarshal[struct{ Messages []json.RawMessage }](tb, data).Messages {
		head := unmarshal[struct {
			ID, Type  string
			ToolCalls []json.RawMessage
		}](tb, m)
		if head.Type != "info" && head.ToolCalls == nil {
			raws[head.ID] = m
		}
	}
	return raws
}
