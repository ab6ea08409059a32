package kagewasm_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	json "github.com/goccy/go-json"
	"pgregory.net/rapid"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/invariants"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/strategies"
	"github.com/kagewasm/kagewasm/tokens"
	"github.com/kagewasm/kagewasm/transcript"
)

// corpus are the sessions invariants are checked on: the project's own, and
// some of the shared ones where they are there, in CI all.
func corpus(t *testing.T) []string {
	own, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(own) == 0 {
		t.Fatal("no sessions in testdata", err)
	}
	others := shared.With(t, nil)
	return append(own, soak.Sample(others, 2, len(others))...)
}

var windows = []int{8_000, 32_000, 128_000}

// realCounter is one for all tests: each session is counted once.
var realCounter = sync.OnceValue(func() *tokens.Counter {
	c, err := tokens.New(tokens.O200k, tokens.Options{})
	if err != nil {
		panic(err)
	}
	return c
})

// step compacts a session file in a window, holds the result to the
// invariants, and returns it as a file.
func step(t rapid.TB, c *kagewasm.Compactor, in []byte, window int) ([]byte, *kagewasm.Result) {
	t.Helper()
	s, err := transcript.Read("in", in, transcript.Neutral)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Compact(context.Background(), kagewasm.Request{Session: abi.Session{ContextWindow: &window},
		Messages: s.Messages})
	if err != nil && abi.CodeOf(err) != abi.CodeExceedsWindow {
		t.Fatal(err)
	}
	out, err := s.Encode(r.Messages, transcript.Same)
	if err != nil {
		t.Fatal(err)
	}
	report, err := json.Marshal(r.Report)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range invariants.Check(in, out, report) {
		t.Errorf("window %d: %s", window, problem)
	}
	return out, r
}

// TestInvariants: on every session, in every window, the
// result holds the invariants, and a second look at it changes nothing.
func TestInvariants(t *testing.T) {
	features.Proves(t, "K9", "K10", "K22", "N2")
	counter := realCounter()
	summary := compactor(func(in *abi.Input) (*abi.Output, error) {
		return &abi.Output{Summary: fmt.Sprintf("%d messages in %d tokens went before.", len(in.Messages),
			in.Trigger.Tokens)}, nil
	})
	for name, opts := range map[string]kagewasm.Options{
		"drop":    {Counter: counter},
		"summary": {Counter: counter, Plugins: plugins(summary)},
		"injected": {Counter: counter, Plugins: plugins(
			&fakePlugin{Name: "obs", Pre: answers(&abi.Output{Inject: "Recalled: the port is 8080."})})},
	} {
		c := newCompactor(t, opts)
		for _, path := range corpus(t) {
			in, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range windows {
				t.Run(fmt.Sprintf("%s/%s/%d", name, filepath.Base(path), w), func(t *testing.T) {
					out, _ := step(t, c, in, w)
					if again, r := step(t, c, out, w); !bytes.Equal(again, out) {
						t.Errorf("a second look changed it: %s", r.Report.Reason)
					}
				})
			}
		}
	}
}

// TestChains: sessions that grow and are compacted again and again keep the
// invariants at each step, and no id is ever used twice.
func TestChains(t *testing.T) {
	c := newCompactor(t, kagewasm.Options{Counter: realCounter()})
	for _, path := range corpus(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			in, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			lines := bytes.SplitAfter(in, []byte("\n"))
			const rounds = 6
			var session []byte
			for k := range rounds {
				session = append(session, bytes.Join(lines[len(lines)*k/rounds:len(lines)*(k+1)/rounds], nil)...)
				if len(bytes.TrimSpace(session)) == 0 || bytes.HasPrefix(session, []byte(`{"tools"`)) && bytes.Count(
					session, []byte("\n")) < 2 {
					continue
				}
				session, _ = step(t, c, session, 16_000)
			}
		})
	}
}

// sizeCounter counts a third of the characters. The invariants compare tokens
// with characters, which a real count of very short texts does not bear.
type sizeCounter struct{}

func (sizeCounter) Text(s string) int { return len([]rune(s)) / 3 }

func (c sizeCounter) Message(m *abi.Message) int {
	content, err := json.MarshalWithOption(m.Content, json.DisableHTMLEscape())
	if err != nil {
		panic(err)
	}
	n := 1 + c.Text(string(content))
	for _, call := range m.ToolCalls {
		n += c.Text(call.Name + call.Arguments)
	}
	return n
}

// TestInvariantsOfAnySession: the same for sessions nobody has seen.
func TestInvariantsOfAnySession(t *testing.T) {
	soak.Checks(t, soak.Count(40, 100, 100))
	c := newCompactor(t, kagewasm.Options{Counter: sizeCounter{}})
	rapid.Check(t, func(t *rapid.T) {
		var session []byte
		seen := 0
		for range rapid.IntRange(1, 3).Draw(t, "rounds") {
			msgs := sessiongen.Messages(60).Draw(t, "messages")
			words := rapid.IntRange(10, 60).Draw(t, "words")
			for i := range msgs {
				msgs[i].ID = fmt.Sprintf("r%04d", seen)
				if !msgs[i].Content.IsParts() {
					msgs[i].Content = abi.Text(msgs[i].Text() + strings.Repeat(" much was said", words))
				}
				seen++
			}
			session = append(session, sessiongen.JSONL(msgs)...)
			if len(session) == 0 {
				continue
			}
			// Under about 4,300 tokens the frame of a note alone is more than the
			// twentieth of the window that the invariants let stay unused.
			session, _ = step(t, c, session, rapid.IntRange(5_000, 16_000).Draw(t, "window"))
		}
	})
}

// TestNothingIsLostInAChain: what the first ledger ranked
// first is still there after the session was compacted five more times.
func TestNothingIsLostInAChain(t *testing.T) {
	features.Proves(t, "complaint 8", "N8")
	c := newCompactor(t, kagewasm.Options{Counter: realCounter(),
		Policy: kagewasm.Policy{Note: strategies.NoteConfig{Tokens: 1200}}})
	session := sessiongen.JSONL(append(chat(2), abi.Message{ID: "find", Role: abi.RoleAssistant,
		Content: abi.Text("The bug is in internal/store/lease_table.go: ReserveNextParcel holds tokenBucketLock. " +
			"ReserveNextParcel in internal/store/lease_table.go it is.")}))
	for k := range 6 {
		session = append(session, sessiongen.JSONL(renamed(chat(60)[2:], fmt.Sprintf("k%d", k)))...)
		var r *kagewasm.Result
		session, r = step(t, c, session, 3_400)
		if !r.Report.Compacted {
			t.Fatalf("round %d: %s", k, r.Report.Reason)
		}
		for _, name := range []string{"internal/store/lease_table.go", "ReserveNextParcel"} {
			t.Run(name, func(t *testing.T) {
				if !bytes.Contains(session, []byte(name)) {
					t.Fatalf("round %d: %s is lost", k, name)
				}
			})
		}
	}
}
