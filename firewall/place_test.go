package firewall_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/internal/features"
)

// wordy is session() with something in it that is worth a note.
func wordy() []abi.Message {
	msgs := session()
	i := slices.IndexFunc(msgs, func(m abi.Message) bool { return m.ID == "said" })
	msgs[i].Content = abi.Text("they pass " + strings.Repeat("nearly ", 200))
	return msgs
}

// shape is a list with "+" in the place of each message that came.
func shape(v *firewall.Verdict) string {
	var ids []string
	for i := range v.Messages {
		id := v.Messages[i].ID
		if slices.Contains(v.Inserted, id) {
			id = "+"
		}
		ids = append(ids, id)
	}
	return strings.Join(ids, " ")
}

// TestNewMessagesStandWhereTheListHasThem: "messages: the new (compacted) message list". A list
// is taken as it is, except where no provider would take it or the stable prefix would change.
func TestNewMessagesStandWhereTheListHasThem(t *testing.T) {
	features.Proves(t, "K30")
	said := func(text string) string {
		return `{"role":"user","kind":"compaction_summary","content":"` + text + `"},`
	}
	memory := `{"role":"user","kind":"injected","content":"memory"},`
	const head, unit = `{"ref":"sys"},{"ref":"task"},`, `{"ref":"a"},{"ref":"r1"},{"ref":"aside"},{"ref":"r2"},`
	for _, tc := range []struct{ why, list, want string }{
		{"behind the task", head + said("s") + rest, "sys task + b keep now z rz"},
		{"behind a unit that stays", head + unit + said("s") + rest, "sys task a r1 aside r2 + b keep now z rz"},
		{"two of them, each in its place", head + said("s") + `{"ref":"b"},{"ref":"keep"},` + memory +
			`{"ref":"now"},{"ref":"z"},{"ref":"rz"}`, "sys task + b keep + now z rz"},
		{"two in one place, in their order", head + memory + said("s") + rest, "sys task + + b keep now z rz"},
		{"at the end", head + rest + "," + strings.TrimSuffix(said("s"), ","), "sys task b keep now z rz +"},
		{"before the task: the stable prefix stays as it is", `{"ref":"sys"},` + said("s") + `{"ref":"task"},` + rest,
			"sys task + b keep now z rz"},
		{"between a call and its results: behind them", head + `{"ref":"a"},{"ref":"r1"},` + said("s") +
			`{"ref":"aside"},{"ref":"r2"},` + rest, "sys task a r1 aside r2 + b keep now z rz"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			p, err := firewall.FromOutput(wordy(), output(t, `{"messages":[`+tc.list+`]}`), source)
			if err != nil {
				t.Fatal(err)
			}
			v, err := apply(t, caseOf(wordy(), 10_000), p)
			if err != nil {
				t.Fatal(err)
			}
			if got := shape(v); got != tc.want {
				t.Errorf("%s\nwant %s", got, tc.want)
			}
			var came []string
			for i := range v.Messages {
				if slices.Contains(v.Inserted, v.Messages[i].ID) {
					came = append(came, v.Messages[i].ID)
				}
			}
			if !slices.Equal(came, v.Inserted) {
				t.Errorf("inserted %v, in the list %v", v.Inserted, came)
			}
		})
	}
}

// TestNothingStandsBehindOpenCalls: a result on its way has to follow its call.
func TestNothingStandsBehindOpenCalls(t *testing.T) {
	msgs := wordy()
	msgs = msgs[:len(msgs)-1] // the last call is without a result
	v, err := apply(t, caseOf(msgs, 10_000), abi.Plan{Source: source, Supersede: []string{"a", "r1", "r2"},
		Insert: []abi.Insert{{Kind: abi.KindSummary, Text: "s", Source: source, After: "z"}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := shape(v), "sys task aside said b keep now + z"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestInsertBehindNothing: a plan that names a message which is not there is refused.
func TestInsertBehindNothing(t *testing.T) {
	_, err := apply(t, caseOf(wordy(), 10_000), abi.Plan{Source: source, Supersede: []string{"said"},
		Insert: []abi.Insert{{Kind: abi.KindInjected, Text: "x", Source: source, After: "nosuch"}}})
	wantRefusal(t, "behind what is not there", err, abi.CodeUnknownID, "nosuch")
}

// TestPlaceOfSupersededMessages: what stands behind a message that goes stands where that stood.
func TestPlaceOfSupersededMessages(t *testing.T) {
	v, err := apply(t, caseOf(wordy(), 10_000), abi.Plan{Source: source, Supersede: []string{"said"},
		Insert: []abi.Insert{{Kind: abi.KindSummary, Text: "s", Source: source, After: "said"}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := shape(v), "sys task a r1 aside r2 + b keep now z rz"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestPinsOfANoteBehindAnOlderOne: the first note that names pins is the one that holds, so a
// new one stands before those that stay.
func TestPinsOfANoteBehindAnOlderOne(t *testing.T) {
	msgs := wordy()
	older := abi.Message{ID: "old", Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text(
		abi.Keepers{"said": {"p"}}.Note(abi.Fence(abi.KindSummary, "plugin:p", "Data.", "earlier"), msgs))}
	msgs = slices.Insert(msgs, 2, older)
	c := caseOf(msgs, 10_000)
	c.Keepers = abi.Keepers{"aside": {"p"}}
	v, err := apply(t, c, abi.Plan{Source: source, Supersede: []string{"a", "r1", "r2"},
		Insert: []abi.Insert{{Kind: abi.KindSummary, Text: "s", Source: source, After: "aside"}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := shape(v), "sys task + old aside said b keep now z rz"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if pins := abi.KeepersOf(v.Messages); len(pins) != 1 || pins["aside"] == nil {
		t.Errorf("pinned are %v, want aside", pins)
	}
}

// TestPlacesAreSafe: wherever a plan puts messages, pairs stay together, what stays keeps its
// order, and the prefix is the one it was.
func TestPlacesAreSafe(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		msgs := wordy()
		if rapid.Bool().Draw(rt, "open") {
			msgs = msgs[:len(msgs)-1]
		}
		p := abi.Plan{Source: source}
		for _, group := range [][]string{{"a", "r1", "r2"}, {"aside"}, {"said"}} {
			if rapid.Bool().Draw(rt, group[0]) {
				p.Supersede = append(p.Supersede, group...)
			}
		}
		for range rapid.IntRange(0, 3).Draw(rt, "n") {
			p.Insert = append(p.Insert, abi.Insert{Kind: abi.KindInjected, Text: "x", Source: source,
				After: rapid.SampledFrom(append(ids(msgs), "")).Draw(rt, "after")})
		}
		v, err := apply(rt, caseOf(msgs, 10_000), p)
		if abi.CodeOf(err) == abi.CodeGrew {
			return
		}
		if err != nil {
			rt.Fatal(err)
		}
		stays := slices.DeleteFunc(slices.Clone(v.Messages),
			func(m abi.Message) bool { return slices.Contains(v.Inserted, m.ID) })
		kept := slices.DeleteFunc(ids(msgs), func(id string) bool { return slices.Contains(p.Supersede, id) })
		if !slices.Equal(ids(stays), kept) || len(v.Inserted) != len(p.Insert) || len(v.Messages) != len(kept)+len(p.Insert) {
			rt.Fatalf("%s: of %v", shape(v), kept)
		}
		if !strings.HasPrefix(shape(v), "sys task") {
			rt.Fatalf("the prefix is another one: %s", shape(v))
		}
		units, _ := abi.Units(v.Messages)
		for _, u := range units {
			for i := u[0]; i < u[len(u)-1]; i++ {
				if slices.Contains(v.Inserted, v.Messages[i].ID) {
					rt.Fatalf("parts a call from its results: %s", shape(v))
				}
			}
		}
		if last := v.Messages[len(v.Messages)-1].ID; msgs[len(msgs)-1].ID == "z" && last != "z" {
			rt.Fatalf("%s behind an open call", last)
		}
	})
}

// TestBehindTheSystemPrompt: "system prompt, summary, what stays": no note stands before a system prompt that follows a
// person's first words, where all before that prompt stays. Where some of that goes the note tells of it,
// and stands before what came later.
func TestBehindTheSystemPrompt(t *testing.T) {
	features.Proves(t, "A5", "K30")
	list := func(ids ...string) (msgs []abi.Message) {
		for _, id := range ids {
			role := map[byte]abi.Role{'u': abi.RoleUser, 'a': abi.RoleAssistant, 's': abi.RoleSystem}[id[0]]
			msgs = append(msgs, abi.Message{ID: id, Role: role, Content: abi.Text(id + strings.Repeat(" word", 50))})
		}
		return msgs
	}
	for _, tc := range []struct {
		why        string
		msgs       []abi.Message
		goes, want string
	}{
		{"an answer before it", list("u1", "a1", "s1", "u2", "a2", "u3"), "a2", "u1 a1 s1 + u2 u3"},
		{"another request before it", list("u1", "u2", "s1", "a1", "u3"), "a1", "u1 u2 s1 + u3"},
		{"two of them", list("u1", "a1", "s1", "s2", "u2", "a2", "u3"), "a2", "u1 a1 s1 s2 + u2 u3"},
		{"the answer before it goes", list("u1", "a1", "s1", "u2", "a2", "u3"), "a1 a2", "u1 s1 + u2 u3"},
		{"what came before it goes, and some of that stays", list("u1", "a1", "u2", "s1", "a2", "u3"), "a1 a2",
			"u1 + u2 s1 u3"},
		{"a later message of the system", list("s1", "u1", "a1", "s2", "a2", "u3"), "a2", "s1 u1 + a1 s2 u3"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			c := caseOf(tc.msgs, 10_000)
			v, err := apply(t, c, abi.Plan{Supersede: strings.Fields(tc.goes), Insert: []abi.Insert{note("in short")}})
			if err != nil {
				t.Fatal(err)
			}
			if got := shape(v); got != tc.want {
				t.Errorf("%s\nwant %s", got, tc.want)
			}
		})
	}
}
