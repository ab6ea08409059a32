package invariants_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/invariants"
)

// A compaction as it should be: m2 and m3 went, s1 stands for them, m4's
// output was pruned.
const (
	inSession = `{"tools":[{"name":"bash"}]}
{"id":"m0","role":"system","content":"be good"}
{"id":"m1","role":"user","content":"please mend the tests of this project"}
{"id":"m2","role":"assistant","content":"looking","tool_calls":[{"id":"c1","name":"bash","arguments":"{\"command\":\"ls -la\"}"}]}
{"id":"m3","role":"tool","tool_call_id":"c1","content":"WORDS"}
{"id":"m4","role":"tool","tool_call_id":"gone","content":"a result that nobody asked for, long ago"}
{"id":"m5","role":"assistant","content":"done","meta":{"always_keep":true}}
{"id":"m6","role":"user","content":"go on","timestamp":"2026-01-01T00:00:00Z"}
`
	outSession = `{"tools":[{"name":"bash"}]}
{"id":"m0","role":"system","content":"be good"}
{"id":"m1","role":"user","content":"please mend the tests of this project"}
{"id":"s1","role":"user","kind":"compaction_summary","content":"looked around"}
{"id":"m4","role":"tool","tool_call_id":"gone","content":"[pruned]"}
{"id":"m5","role":"assistant","content":"done","meta":{"always_keep":true}}
{"id":"m6","role":"user","content":"go on","timestamp":"2026-01-01T00:00:00Z"}
`
	goodReport = `{"compacted":true,"reason_code":"compacted","window":1000,"upper":0.85,"target":400,` +
		`"tokens_before":520,"tokens_after":35,"superseded":["m2","m3"],"pinned":["m0","m1","m5"],"pruned":{"ids":["m4"]}}`
)

func session(s string) string {
	return strings.ReplaceAll(s, "WORDS", strings.Repeat("some words ", 180))
}

func TestCheck(t *testing.T) {
	const (
		m2 = `{"id":"m2","role":"assistant","content":"looking","tool_calls":[{"id":"c1","name":"bash",` +
			`"arguments":"{\"command\":\"ls -la\"}"}]}` + "\n"
		m3  = `{"id":"m3","role":"tool","tool_call_id":"c1","content":"WORDS"}` + "\n"
		m4  = `{"id":"m4","role":"tool","tool_call_id":"gone","content":"[pruned]"}` + "\n"
		was = `{"id":"m4","role":"tool","tool_call_id":"gone","content":"a result that nobody asked for, long ago"}` + "\n"
		m5  = `{"id":"m5","role":"assistant","content":"done","meta":{"always_keep":true}}` + "\n"
		s1  = `"kind":"compaction_summary"`
	)
	for _, tc := range []struct {
		why      string
		out, rep []string // old, new pairs to replace
		want     string   // what the problem starts with, "" for none
	}{
		{"nothing is wrong", nil, nil, ""},
		{"no reading of a pinned message is as good as its bytes",
			[]string{`"content":"be good"`, `"content": "be good"`}, nil, "pinned m0 is not byte-identical"},
		{"the first request is pinned", []string{"of this project", "of that project"}, nil,
			"pinned m1 is not byte-identical"},
		{"pinned messages stay", []string{`{"id":"m0","role":"system","content":"be good"}` + "\n", ""},
			[]string{`["m2"`, `["m0","m2"`}, "pinned m0 is gone"},
		{"a change has to be reported", nil, []string{`["m4"]`, `[]`}, "m4 changed and not reported as pruned"},
		{"words of a person are not prunable", []string{"go on", "go on!"}, []string{`["m4"]`, `["m4","m6"]`},
			"m6: more than tool output or arguments changed"},
		{"what is marked is pinned, wherever it stands", []string{"done", "done!"}, []string{`["m4"]`, `["m4","m5"]`},
			"pinned m5 is not byte-identical"},
		{"of a result only its output is prunable", []string{`"tool_call_id":"gone"`, `"tool_call_id":"lost"`}, nil,
			"m4: more than tool output or arguments changed"},
		{"of what a user said beginning and end are left", []string{"please mend the tests of this project",
			`please\n[... 22 characters left out here: message m1 ...]\n project`},
			[]string{`["m4"]`, `["m4","m1"],"words":["m1"]`}, ""},
		{"which the report says", []string{"please mend the tests of this project",
			`please\n[... 22 characters left out here: message m1 ...]\n project`}, nil, "pinned m1 is not byte-identical"},
		{"and no word else", []string{"please mend the tests of this project",
			`please do\n[... 22 characters left out here: message m1 ...]\n project`},
			[]string{`["m4"]`, `["m4","m1"],"words":["m1"]`}, "m1: more than the middle"},
		{"nor of another role", []string{"be good", `be\n[... 2 characters left out here ...]\nod`},
			[]string{`["m4"]`, `["m4","m0"],"words":["m0"]`}, "m0: more than the middle"},
		{"meta is the host's own", []string{`"timestamp"`, `"meta":{"by":"host"},"timestamp"`},
			[]string{`["m4"]`, `["m4","m6"]`}, ""},
		{"order is kept", []string{m4 + m5, m5 + m4}, nil, "order broken at m4"},
		{"twice the same is an order broken", []string{m5, m5 + m5}, nil, "order broken at m5"},
		{"nothing goes unsaid", []string{m5, ""}, nil, "gone without being superseded: [m5]"},
		{"what is superseded is gone", nil, []string{`["m2","m3"]`, `["m2","m3","m5"]`}, "superseded and still there: m5"},
		{"a new message poses as nobody", []string{`"role":"user",` + s1, `"role":"system",` + s1}, nil,
			"inserted s1: role system"},
		{"a new message has a kind", []string{s1, `"kind":"instructions"`}, nil, "inserted s1: role user kind instructions"},
		{"a call keeps its result", []string{m4, m2 + m4}, []string{`["m2","m3"]`, `["m3"]`}, "call orphaned: m2 c1"},
		{"a result keeps its call", []string{m4, m3 + m4}, []string{`["m2","m3"]`, `["m2"]`, `35`, `510`, `400`, `515`},
			"result orphaned: m3 c1"},
		{"tokens_before has to be about right", nil, []string{`520`, `5200`}, "tokens_before 5200"},
		{"tokens_after has to be about right", nil, []string{`35`, `390`}, "tokens_after 390, about"},
		{"the result is smaller", []string{m4, m2 + m3 + was}, []string{`["m2","m3"]`, `[]`, `35`, `520`, `400`, `600`},
			"grew: 520 -> 520"},
		{"over the target is not compacted", []string{m4, m2 + m3 + m4}, []string{`["m2","m3"]`, `[]`, `35`, `515`},
			"tokens_after 515 over target 400"},
		{"over the target everything goes that may", []string{m4, m2 + m3 + m4},
			[]string{`["m2","m3"]`, `[]`, `35`, `515`, `"compacted","w`, `"pinned_exceed_target","w`},
			"over target while 3 messages"},
		{"a target of zero is the default one", nil, []string{`"target":400`, `"target":0`}, ""},
		{"superseding is compacting", nil,
			[]string{`"compacted":true`, `"compacted":false`, `"reason_code":"compacted"`,
				`"reason_code":"below_threshold"`}, "superseded something"},
		{"a session that could shrink has to", nil,
			[]string{`"compacted":true`, `"compacted":false`, `"reason_code":"compacted"`,
				`"reason_code":"nothing_to_supersede"`}, "not compacted (nothing_to_supersede) though 3 messages"},
		{"below the threshold is below it", nil,
			[]string{`"compacted":true`, `"compacted":false`, `"reason_code":"compacted"`,
				`"reason_code":"below_threshold"`, `1000`, `40`}, "below_threshold at 35 of 40"},
		{"a report has to have its figures", nil, []string{`"tokens_after":35,`, ``}, "report: "},
		{"a result has to be readable", []string{`{"id":"m5"`, `{"id":m5`}, nil, "out: "},
	} {
		t.Run(tc.why, func(t *testing.T) {
			got := invariants.Check([]byte(session(inSession)),
				[]byte(session(strings.NewReplacer(tc.out...).Replace(outSession))),
				[]byte(strings.NewReplacer(tc.rep...).Replace(goodReport)))
			if tc.want == "" {
				if len(got) > 0 {
					t.Errorf("%q", got)
				}
				return
			}
			found := false
			for _, p := range got {
				found = found || strings.HasPrefix(p, tc.want)
			}
			if !found {
				t.Errorf("want %q, got %q", tc.want, got)
			}
		})
	}
}

func TestCheckUnchanged(t *testing.T) {
	const below = `{"compacted":false,"reason_code":"below_threshold","window":1000,"tokens_before":520,` +
		`"tokens_after":520,"pinned":["m1"]}`
	in := session(inSession)
	if got := invariants.Check([]byte(in), []byte(in), []byte(below)); len(got) > 0 {
		t.Errorf("nothing was done: %q", got)
	}
	changed := strings.Replace(in, "go on", "go  on", 1)
	if got := invariants.Check([]byte(in), []byte(changed), []byte(below)); len(got) == 0 {
		t.Error("a session that was not compacted came out changed, and nobody minds")
	}
}

// TestReusedIDs: the second call of an id closes the first one, which counts
// as unanswered; and all results after it belong to it.
func TestReusedIDs(t *testing.T) {
	const in = `{"id":"u","role":"user","content":"x"}
{"id":"a","role":"assistant","content":"","tool_calls":[{"id":"c","name":"n","arguments":{"k":"v","list":[1,true,null]}}]}
{"id":"b","role":"assistant","content":"","tool_calls":[{"id":"c","name":"n","arguments":{}}]}
{"id":"r","role":"tool","tool_call_id":"c","content":[{"type":"text","text":"æ\n"}]}
{"id":"q","role":"tool","tool_call_id":"c","content":"again"}
{"id":"e","role":"user","content":"y"}
`
	const report = `{"compacted":true,"reason_code":"compacted","window":1000,"target":100,"tokens_before":40,` +
		`"tokens_after":30,"superseded":["a"],"pinned":["u"]}`
	lines := strings.SplitAfter(in, "\n")
	without := func(n int) string { return strings.Join(append(append([]string{}, lines[:n]...), lines[n+1:]...), "") }
	if got := invariants.Check([]byte(in), []byte(without(1)), []byte(report)); len(got) > 0 {
		t.Errorf("the unanswered call may go: %q", got)
	}
	for n, id := range map[int]string{2: "b", 3: "r", 4: "q"} {
		got := invariants.Check([]byte(in), []byte(without(n)), []byte(strings.Replace(report, `["a"]`, `["`+id+`"]`, 1)))
		if !slices.ContainsFunc(got, func(p string) bool { return strings.HasPrefix(p, "unit parted: b from ") }) {
			t.Errorf("%s goes alone: %q", id, got)
		}
	}
}
