package demo_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/strictjson"
	"github.com/kagewasm/kagewasm/tokens"
)

// file reads a file of testdata.
func file(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(shared.Root(t), "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// session is a file of messages as encoding/json reads it.
type session struct {
	size  int
	tools []tool
	msgs  []abi.Message
}

type tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage
}

func load(t *testing.T, name string) (s session) {
	t.Helper()
	known := strictjson.Keys(abi.Message{})
	data := file(t, name)
	s.size = len(data)
	for i, line := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
		if err := strictjson.Check(line, known); err != nil {
			t.Fatalf("%s:%d: %v", name, i+1, err)
		}
		if bytes.HasPrefix(line, []byte(`{"tools":`)) {
			var head struct{ Tools []tool }
			if err := json.Unmarshal(line, &head); err != nil || i > 0 {
				t.Fatalf("%s:%d: tools: %v", name, i+1, err)
			}
			s.tools = head.Tools
			continue
		}
		var m abi.Message
		if err := json.Unmarshal(line, &m); err != nil || !m.Role.Valid() {
			t.Fatalf("%s:%d: role %q, %v", name, i+1, m.Role, err)
		}
		s.msgs = append(s.msgs, m)
	}
	return s
}

// count is what the messages cost in the default encoding.
func (s session) count(t *testing.T) (sum int) {
	t.Helper()
	c, err := tokens.New("", tokens.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.msgs {
		sum += c.Message(&s.msgs[i])
	}
	return sum
}

func TestSizes(t *testing.T) {
	for name, want := range map[string]struct{ messages, bytes, tokens [2]int }{
		"demo.jsonl":  {[2]int{150, 250}, [2]int{180_000, 250_000}, [2]int{45_000, 60_000}},
		"small.jsonl": {[2]int{10, 14}, [2]int{2_000, 3_500}, [2]int{400, 900}},
		"chat.jsonl":  {[2]int{40, 40}, [2]int{12_000, 20_000}, [2]int{3_300, 4_500}},
	} {
		t.Run(name, func(t *testing.T) {
			s := load(t, name)
			for what, n := range map[string]struct {
				got  int
				want [2]int
			}{
				"messages": {len(s.msgs), want.messages},
				"bytes":    {s.size, want.bytes},
				"tokens":   {s.count(t), want.tokens},
			} {
				t.Run(what, func(t *testing.T) {
					if n.got < n.want[0] || n.got > n.want[1] {
						t.Errorf("%d %s, want %d to %d", n.got, what, n.want[0], n.want[1])
					}
				})
			}
		})
	}
}

func TestHookInput(t *testing.T) {
	var in abi.Input
	if err := strictjson.Decode(file(t, "hook-input.json"), &in); err != nil {
		t.Fatal(err)
	}
	if in.ABI != abi.Version || in.Hook != abi.HookPreCompact || in.Session.ContextWindow == nil {
		t.Errorf("abi %d, hook %s, window %v", in.ABI, in.Hook, in.Session.ContextWindow)
	}
	msgs := make([]abi.Message, len(in.Messages))
	for i := range in.Messages {
		msgs[i] = in.Messages[i].Message
	}
	pinned := abi.Pinned(msgs)
	units, of := abi.Units(msgs)
	sum, paired := 0, false
	for i, m := range in.Messages {
		if m.Pinned != pinned[i] || m.Unit != of[i] {
			t.Errorf("%s: pinned %v, unit %d, want %v, %d", m.ID, m.Pinned, m.Unit, pinned[i], of[i])
		}
		if m.Tokens <= 0 {
			t.Errorf("%s: %d tokens", m.ID, m.Tokens)
		}
		sum += m.Tokens
		paired = paired || len(units[of[i]]) > 1
	}
	if !paired {
		t.Error("no call with its result among the messages")
	}
	if in.Trigger.Tokens != sum || in.Trigger.Fraction != float64(sum)/float64(*in.Session.ContextWindow) {
		t.Errorf("trigger says %d tokens, %v of the window; the messages sum up to %d", in.Trigger.Tokens,
			in.Trigger.Fraction, sum)
	}
	if in.Budget.TargetTokens >= sum {
		t.Errorf("a budget of %d leaves nothing to do in %d tokens", in.Budget.TargetTokens, sum)
	}
}
