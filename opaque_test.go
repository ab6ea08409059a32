package kagewasm_test

import (
	"fmt"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/transcript"
)

// opaqueSession is how a format writes a session with what only its provider can
// read.
type opaqueSession struct {
	before, after string
	between       string // between steps
	// step is a call of a tool with encrypted reasoning %[1]d and call %[1]d, and its
	// result with the text %[2]s.
	step string
	// compactions are those of the provider, with the encrypted content COMPACTED-0,
	// COMPACTED-1 and so on. They stand within the steps.
	compactions []string
}

var opaqueSessions = map[transcript.Format]opaqueSession{
	"openai-responses": {
		before: `{"model":"gpt-5","input":[{"role":"user","content":"Make the tests pass."},`, between: ",",
		step: `{"type":"reasoning","id":"rs_%[1]d","summary":[],"encrypted_content":"REASON-%[1]d."},` +
			`{"type":"function_call","call_id":"call_%[1]d","name":"run","arguments":"{}"},` +
			`{"type":"function_call_output","call_id":"call_%[1]d","output":"%[2]s"}`,
		compactions: []string{`{"type":"compaction","id":"cmp_0","encrypted_content":"COMPACTED-0"}`,
			`{"type":"compaction_summary","encrypted_content":"COMPACTED-1"}`,
			`{"type":"context_compaction","encrypted_content":"COMPACTED-2"}`},
		after: `,{"role":"user","content":"Go on."}]}`,
	},
	"codex": {
		before: `{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"s"}}` + "\n" +
			`{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"message","role":"user",` +
			`"content":[{"type":"input_text","text":"Make the tests pass."}]}}` + "\n",
		between: "\n",
		step: `{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"reasoning","summary":[],` +
			`"encrypted_content":"REASON-%[1]d."}}` + "\n" +
			`{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"function_call",` +
			`"call_id":"call_%[1]d","name":"run","arguments":"{}"}}` + "\n" +
			`{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"function_call_output",` +
			`"call_id":"call_%[1]d","output":"%[2]s"}}`,
		compactions: []string{`{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"compaction",` +
			`"encrypted_content":"COMPACTED-0"}}`},
		after: "\n" + `{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"message",` +
			`"role":"user","content":[{"type":"input_text","text":"Go on."}]}}` + "\n",
	},
	"anthropic": {
		before: `{"model":"claude","messages":[{"role":"user","content":"Make the tests pass."},`, between: ",",
		step: `{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"REASON-%[1]d."},` +
			`{"type":"redacted_thinking","data":"REASON-%[1]d."},` +
			`{"type":"tool_use","id":"call_%[1]d","name":"run","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_%[1]d","content":"%[2]s"}]}`,
		compactions: []string{`{"role":"assistant","content":[{"type":"compaction","content":"The tests were run.",` +
			`"encrypted_content":"COMPACTED-0"}]}`,
			`{"role":"assistant","content":[{"type":"compaction","content":null,"encrypted_content":"COMPACTED-1"}]}`},
		after: `,{"role":"user","content":"Go on."}]}`,
	},
	"gemini": {
		before: `{"contents":[{"role":"user","parts":[{"text":"Make the tests pass."}]},`, between: ",",
		step: `{"role":"model","parts":[{"functionCall":{"id":"call_%[1]d","name":"run","args":{}},` +
			`"thoughtSignature":"REASON-%[1]d."}]},` +
			`{"role":"user","parts":[{"functionResponse":{"id":"call_%[1]d","name":"run","response":{"output":"%[2]s"}}}]}`,
		after: `,{"role":"user","parts":[{"text":"Go on."}]}]}`,
	},
}

const opaqueSteps = 40

func (o opaqueSession) String() string {
	items := make([]string, opaqueSteps)
	for i := range items {
		items[i] = fmt.Sprintf(o.step, i, strings.Repeat("ok and so on ", 40))
		if i < len(o.compactions) {
			items[i] += o.between + o.compactions[i]
		}
	}
	return o.before + strings.Join(items, o.between) + o.after
}

// TestOpaqueItems: what only a provider can read of its own compactions never goes,
// however little is to be left, and the note stands behind it. Encrypted reasoning
// stays and goes with its answer, whole: providers refuse one without the other.
func TestOpaqueItems(t *testing.T) {
	features.Proves(t, "K10", "complaint 2")
	for format, o := range opaqueSessions {
		for name, target := range map[string]*int{"down to the lower threshold": nil, "to nothing": new(0)} {
			t.Run(string(format)+" "+name, func(t *testing.T) {
				session, err := transcript.Read("session", []byte(o.String()), format)
				if err != nil {
					t.Fatal(err)
				}
				req := request(3000, session.Messages)
				req.Target, req.Force = target, true
				r := compact(t, newCompactor(t, kagewasm.Options{}), req)
				doc, err := session.Encode(r.Messages, transcript.Same)
				if err != nil || !r.Report.Compacted {
					t.Fatal(r.Report.Reason, err)
				}
				out := string(doc)
				for i := range o.compactions {
					item := fmt.Sprintf("COMPACTED-%d", i)
					if at := strings.Index(out, item); at < 0 || strings.Index(out, "<"+string(abi.KindSummary)+"-") < at {
						t.Errorf("%s is gone, or stands behind the note", item)
					}
				}
				kept := 0
				for i := range opaqueSteps {
					reasoning := strings.Count(out, fmt.Sprintf("REASON-%d.", i))
					call := strings.Contains(out, fmt.Sprintf("call_%d\"", i))
					if was := strings.Count(o.String(), fmt.Sprintf("REASON-%d.", i)); call && reasoning != was ||
						!call && reasoning > 0 {
						t.Errorf("step %d: its call is there: %v, %d of %d pieces of its reasoning", i, call, reasoning, was)
					}
					if call {
						kept++
					}
				}
				if target == nil && kept == 0 || kept == opaqueSteps {
					t.Errorf("%d of %d steps are kept: nothing was shown", kept, opaqueSteps)
				}
			})
		}
	}
}
