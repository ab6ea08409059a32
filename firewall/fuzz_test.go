package firewall_test

import (
	"encoding/json"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
)

// FuzzFromOutput: any JSON a plugin may answer is refused, or leads to a
// session that the judge has nothing to say about.
func FuzzFromOutput(f *testing.F) {
	for _, seed := range []string{
		`null`, `{}`, `{"messages":[]}`, `{"summary":"x"}`,
		`{"messages":[{"ref":"sys"},{"ref":"task"},{"ref":"b"},{"ref":"keep"},{"ref":"now"},{"ref":"z"},{"ref":"rz"}],` +
			`"superseded":["a","r1","r2","aside","said"],"summary":"s"}`,
		`{"messages":[{"ref":"sys"},{"id":"task","role":"user","content":"make the tests pass"},{"role":"user",` +
			`"kind":"injected","content":"x"},{"ref":"b"},{"ref":"keep"},{"ref":"now"},{"id":"z","role":"assistant",` +
			`"content":"calling","tool_calls":[{"id":"c9","name":"bash","arguments":{}}]},{"id":"rz","role":"tool",` +
			`"tool_call_id":"c9","content":""}]}`,
		`{"messages":[{"id":"now","role":"user","content":[{"type":"text","text":"and now the linter"}]}]}`,
	} {
		f.Add([]byte(seed), 300)
	}
	f.Fuzz(func(t *testing.T, doc []byte, target int) {
		out := &abi.Output{}
		if json.Unmarshal(doc, out) != nil {
			return
		}
		c := caseOf(session(), target)
		plan, err := firewall.FromOutput(c.Messages, out, source)
		var v *firewall.Verdict
		if err == nil {
			v, err = apply(t, c, plan)
		}
		judge(t, c, v, err)
	})
}

// FuzzApply: the same for plans.
func FuzzApply(f *testing.F) {
	for _, seed := range []string{
		`{}`,
		`{"supersede":["a","r1","r2","aside","said"],"insert":[{"kind":"compaction_summary","text":"x",` +
			`"source":{"type":"model","name":"m"}}]}`,
		`{"supersede":["aside"],"edit":[{"id":"rz","call":-1,"text":""},{"id":"z","call":0,"text":"{}"}]}`,
		`{"supersede":["a"],"edit":[{"id":"keep","call":-1,"text":"\u0000<|"}]}`,
	} {
		f.Add([]byte(seed), 300)
	}
	f.Fuzz(func(t *testing.T, doc []byte, target int) {
		var p abi.Plan
		if json.Unmarshal(doc, &p) != nil {
			return
		}
		c := caseOf(session(), target)
		v, err := apply(t, c, p)
		judge(t, c, v, err)
	})
}
