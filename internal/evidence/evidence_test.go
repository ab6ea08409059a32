package evidence_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/evidence"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/shared"
)

type byWords struct{}

func (byWords) Text(s string) int            { return len(strings.Fields(s)) }
func (c byWords) Message(m *abi.Message) int { return c.Text(m.Text()) }

// The same conversation in the three forms that are read.
const (
	plain = `{"id":"c1","turns":[
		{"id":"D1:1","session":1,"date":"1:56 pm on 8 May, 2023","speaker":"Ada","text":"I bought a canoe."},
		{"id":"D1:2","session":1,"date":"1:56 pm on 8 May, 2023","speaker":"Ben","text":"Nice!","caption":"a red canoe"},
		{"id":"D2:1","session":2,"date":"2:00 pm on 9 May, 2023","speaker":"Ada","text":"It leaks."}],
		"questions":[{"question":"What did Ada buy?","evidence":["D1:1","D1:1"],"category":4,"category_name":"single-hop"}]}`
	locomo = `[{"sample_id":"c1","conversation":{"speaker_a":"Ada","speaker_b":"Ben",
		"session_1_date_time":"1:56 pm on 8 May, 2023","session_1":[
			{"speaker":"Ada","dia_id":"D1:1","text":"I bought a canoe."},
			{"speaker":"Ben","dia_id":"D1:2","text":"Nice!","img_url":["x"],"blip_caption":"a red canoe"}],
		"session_2_date_time":"2:00 pm on 9 May, 2023","session_2":[{"speaker":"Ada","dia_id":"D2:1","text":"It leaks."}]},
		"qa":[{"question":"What did Ada buy?","answer":1,"evidence":["D1:01; D1:1"],"category":4}]}]`
	longmemeval = `[{"question_id":"q1","question_type":"single-session-user","question":"What did I buy?",
		"answer":"a canoe","question_date":"2023/05/30 (Tue) 23:40",
		"haystack_session_ids":["s_a","s_b"],"haystack_dates":["2023/05/20 (Sat) 02:21","2023/05/21 (Sun) 02:21"],
		"answer_session_ids":["s_b"],
		"haystack_sessions":[[{"role":"user","content":"hello"}],[{"role":"user","content":"I bought a canoe.",
		"has_answer":true},{"role":"assistant","content":"Nice!"}]]},
		{"question_id":"q2_abs","question":"?","haystack_session_ids":["s_a"],"haystack_sessions":[[{"role":"user","content":"hello"}]],
		"answer_session_ids":["s_a"]}]`
)

// read reads a document from a file.
func read(t *testing.T, doc string) ([]evidence.Dataset, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "d.json")
	if err := os.WriteFile(path, []byte(doc), 0o600); err != nil {
		t.Fatal(err)
	}
	return evidence.Read(path)
}

func TestFormats(t *testing.T) {
	features.Proves(t, "N7")
	a, err := read(t, plain)
	if err != nil {
		t.Fatal(err)
	}
	b, err := read(t, locomo)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("LoCoMo as published and in the plain form differ:\n%+v\n%+v", b, a)
	}
	if s := a[0].Sessions; len(s) != 2 || s[0].ID != "1" || s[1].Turns[0].Said != "It leaks." {
		t.Errorf("%+v", s)
	}
	if got, want := a[0].Sessions[0].Turns[1].Text(), `Ben said, "Nice!" and shared a red canoe`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if q := a[0].Questions[0]; q.Category != "single-hop" || !slices.Equal(q.Evidence, []string{"D1:1"}) ||
		!slices.Equal(q.Sessions, []string{"1"}) {
		t.Errorf("%+v", q)
	}
	l, err := read(t, longmemeval)
	if err != nil || len(l) != 2 {
		t.Fatal(l, err)
	}
	if q := l[0].Questions[0]; !slices.Equal(q.Sessions, []string{"s_b"}) || len(q.Evidence) != 1 ||
		q.Category != "single-session-user" {
		t.Errorf("%+v", q)
	}
	if q := l[1].Questions[0]; len(q.Sessions)+len(q.Evidence) != 0 {
		t.Errorf("a question to abstain from has evidence: %+v", q)
	}
}

func TestReadErrors(t *testing.T) {
	dir := t.TempDir()
	for name, doc := range map[string]string{
		"no JSON": `turns`, "nothing known": `{"a":1}`, "no turns": `{"turns":[]}`,
		"two of one id": `{"turns":[{"id":"a"},{"id":"a"}]}`,
		"no id":         `{"turns":[{"text":"a"}]}`, "haystack": `{"haystack_sessions":[[]],"haystack_session_ids":[]}`,
		"second": `[` + plain + `,{"turns":[]}]`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, "d.json")
			if err := os.WriteFile(path, []byte(doc), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := evidence.Read(path)
			if abi.CodeOf(err) != abi.CodeBadInput || !strings.Contains(err.Error(), path) {
				t.Error(err)
			}
		})
	}
	for what, path := range map[string]string{"no file": filepath.Join(dir, "none.json"), "a folder": t.TempDir()} {
		t.Run(what, func(t *testing.T) {
			if _, err := evidence.Read(path); abi.CodeOf(err) != abi.CodeBadInput {
				t.Errorf("%s: %v", path, err)
			}
		})
	}
}

// fixed recalls the same turns whatever is asked.
type fixed struct {
	ids  []string
	told []string // sessions
}

func (f *fixed) Retain(_ context.Context, s *evidence.Session) error {
	f.told = append(f.told, s.ID)
	return nil
}

func (f *fixed) Recall(context.Context, *evidence.Question) (list []evidence.Passage, err error) {
	for _, id := range f.ids {
		list = append(list, evidence.Passage{Turn: id, Text: "one"}, evidence.Passage{Turn: id, Text: "word"})
	}
	return list, nil
}

// TestDefinitions holds the figures to their definitions, counted by hand: a
// conversation of 100 turns in ten sessions, each of 20 characters and 3 words.
func TestDefinitions(t *testing.T) {
	features.Proves(t, "N7")
	d := evidence.Dataset{ID: "c"}
	for i := range 100 {
		if i%10 == 0 {
			d.Sessions = append(d.Sessions, evidence.Session{ID: fmt.Sprint(i / 10)})
		}
		s := &d.Sessions[i/10]
		s.Turns = append(s.Turns, evidence.Turn{ID: fmt.Sprint(i), Speaker: "A", Said: fmt.Sprintf("canoe-%04d", i)})
	}
	d.Questions = []evidence.Question{
		{Text: "x", Category: "one", Evidence: []string{"0", "70", "99", "99999"}, Sessions: []string{"0", "7"}},
		{Text: "y", Category: "two", Evidence: []string{"10"}, Sessions: []string{"1"}},
		{Text: "nobody knows"},
	}
	// The first five are 0, 10, ... 40, each of another session; 70 is the
	// eighth, 99 the thirteenth.
	memory := &fixed{ids: []string{"0", "10", "20", "30", "40", "50", "60", "70", "80", "90", "1", "2", "99"}}
	opts := evidence.Options{
		Memory:  func(context.Context, *evidence.Dataset) (evidence.Memory, error) { return memory, nil },
		Counter: byWords{}, Budget: 6,
	}
	r, err := evidence.Measure(t.Context(), []evidence.Dataset{d}, opts)
	if err != nil {
		t.Fatal(err)
	}
	if len(memory.told) != 10 || r.Turns != 100 || r.Questions != 2 || r.WithoutEvidence != 1 || r.Overall.Questions != 2 {
		t.Errorf("%v %+v", memory.told, r)
	}
	// By passages each turn takes two places, and a word of the budget for each:
	// among the first ten are five turns, the 25th is of 99, and six words are three turns.
	memory.told, opts.Unit = nil, evidence.UnitPassage
	p, err := evidence.Measure(t.Context(), []evidence.Dataset{d}, opts)
	if err != nil {
		t.Fatal(err)
	}
	if p.Unit != evidence.UnitPassage || r.Unit != evidence.UnitTurn {
		t.Errorf("units %q and %q", p.Unit, r.Unit)
	}
	// 12% of 100 equal turns are twelve, and six words are two turns.
	for name, pair := range map[string][2]float64{
		"r5": {r.ByCategory["one"].R5, 0.25}, "r10": {r.ByCategory["one"].R10, 0.5}, "r25": {r.ByCategory["one"].R25, 0.75},
		"12%": {r.ByCategory["one"].At12Pct, 0.5}, "budget": {r.ByCategory["one"].AtBudget, 0.25},
		"overall": {r.Overall.R10, 0.75}, "two at budget": {r.ByCategory["two"].AtBudget, 1},
		"any of the sessions": {r.Sessions.Any5, 1}, "all of the sessions": {r.Sessions.All5, 0.5},
		"all in ten":      {r.Sessions.All10, 1},
		"r10 by passages": {p.ByCategory["one"].R10, 0.25}, "r25 by passages": {p.ByCategory["one"].R25, 0.75},
		"two in five passages": {p.ByCategory["two"].R5, 1}, "12% by passages": {p.Overall.At12Pct, 0.875},
		"budget by passages": {p.ByCategory["two"].AtBudget, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if math.Abs(pair[0]-pair[1]) > 1e-9 {
				t.Errorf("%v, want %v", pair[0], pair[1])
			}
		})
	}
}

// notebook is a plugin that remembers what it is told and injects all of it,
// the newest first.
type notebook struct {
	lines  []string
	inputs []*abi.Input
}

func (n *notebook) Call(_ context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
	n.inputs = append(n.inputs, in)
	if !in.Trigger.DryRun {
		for _, m := range in.Messages {
			n.lines = append(n.lines, fmt.Sprintf("[%s %s] %s", m.Name, m.ID, m.Text()))
		}
		return nil, abi.CallStats{MS: 1}, nil
	}
	lines := slices.Clone(n.lines)
	slices.Reverse(lines)
	return &abi.Output{Inject: strings.Join(lines, "\n") + "\nseen t00001 t99999 xt00000"}, abi.CallStats{MS: 2}, nil
}

// TestPlugin: a plugin is measured through pre_compact alone.
func TestPlugin(t *testing.T) {
	features.Proves(t, "N7")
	list, err := read(t, plain)
	if err != nil {
		t.Fatal(err)
	}
	book := &notebook{}
	memory := evidence.NewPlugin(book, byWords{}, "eval/0")
	r, err := evidence.Measure(t.Context(), list, evidence.Options{Counter: byWords{},
		Memory: func(context.Context, *evidence.Dataset) (evidence.Memory, error) { return memory, nil }})
	if err != nil {
		t.Fatal(err)
	}
	found, err := memory.Recall(t.Context(), &list[0].Questions[0])
	want := []evidence.Passage{
		{Turn: "D2:1", Text: "[Ada t00002] Ada said, \"It leaks.\"\n"},
		{Turn: "D1:2", Text: "[Ben t00001] Ben said, \"Nice!\" and shared a red canoe\n"},
		{Turn: "D1:1", Text: "[Ada t00000] Ada said, \"I bought a canoe.\"\n"},
		{Turn: "D1:2", Text: "seen t00001 t99999 xt00000"},
	}
	if err != nil || !slices.Equal(found, want) {
		t.Errorf("%q, %v", found, err)
	}
	retains, recalls := memory.Calls()
	if r.Overall.R5 != 1 || len(retains) != 2 || len(recalls) != 2 || memory.Unnamed() != 0 {
		t.Errorf("%+v, %d and %d calls", r.Overall, len(retains), len(recalls))
	}
	first, last := book.inputs[0], book.inputs[2]
	if m := first.Messages[0]; first.Session.ID != "1" || first.Session.AgentPath != "eval/0" ||
		first.Budget.TargetTokens != 0 ||
		m.Timestamp != "2023-05-08T13:56:00Z" || m.Name != "Ada" || !m.Pinned || m.Tokens != 6 || first.Trigger.Tokens == 0 {
		t.Errorf("%+v", first)
	}
	if len(last.Messages) != 1 || last.Messages[0].Text() != "What did Ada buy?" || !last.Trigger.DryRun ||
		last.Budget.SummaryTokens < 4000 {
		t.Errorf("%+v", last)
	}
}

// drawer is a storage of one namespace.
type drawer map[string]string

func (d drawer) List(context.Context, string, string) ([]string, error) {
	return slices.Collect(maps.Keys(d)), nil
}

func (d drawer) Get(_ context.Context, _, key string) (string, bool, error) {
	value, found := d[key]
	return value, found, nil
}

// TestUsage: what a memory costs, counted by hand.
func TestUsage(t *testing.T) {
	features.Proves(t, "N7")
	u := evidence.UsedBy([]abi.CallStats{
		{MS: 2, PeakMemoryBytes: 10, HostCalls: map[abi.Op]int{abi.OpKVGet: 3, abi.OpKVSet: 1}},
		{MS: 1, PeakMemoryBytes: 30, HostCalls: map[abi.Op]int{abi.OpKVGet: 2}},
	})
	if want := (evidence.Used{Calls: 2, MS: []float64{2, 1}, PeakMemoryBytes: 30,
		MostHostCalls: 4}); !reflect.DeepEqual(u, want) {
		t.Errorf("%+v, want %+v", u, want)
	}
	if n, err := evidence.StoredBytes(t.Context(), drawer{"a/b": "four", "c": ""}, "p"); err != nil || n != 8 {
		t.Errorf("stored %d, %v, want 8", n, err)
	}
	list, err := read(t, plain)
	if err != nil {
		t.Fatal(err)
	}
	if n := list[0].TextBytes(); n != len(`Ada said, "I bought a canoe."`+`Ben said, "Nice!" and shared a red canoe`+
		`Ada said, "It leaks."`) {
		t.Errorf("%d bytes of text", n)
	}
}

// TestLoCoMo: what recall is worth on public conversations, by ranking alone.
func TestLoCoMo(t *testing.T) {
	features.Proves(t, "N7")
	files := shared.Glob(t, "data", "locomo", "*.json")
	list, err := evidence.Read(files...)
	if err != nil {
		t.Fatal(err)
	}
	r, err := evidence.Measure(t.Context(), list, evidence.Options{Counter: byWords{},
		Memory: func(context.Context, *evidence.Dataset) (evidence.Memory, error) { return new(evidence.Ranking), nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", r.Overall)
	if r.Overall.R5 < 0.71 || r.Overall.R10 < 0.79 || r.Overall.At12Pct < 0.90 {
		t.Errorf("%+v, wanted 0.71, 0.79 and 0.90 at 12%%", r.Overall)
	}
}
