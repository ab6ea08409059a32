package strategies_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies"
)

// TestOldestFirst: drop is oldest first. A giant that does not fit is cut to its beginning and end in its
// place, whoever wrote it, and what goes then is the beginning of what may go.
func TestOldestFirst(t *testing.T) {
	features.Proves(t, "K4")
	text := "begins " + strings.Repeat("word ", 40_000) + "ends"
	giants := map[string]func(*abi.Message){
		"an answer": func(m *abi.Message) { m.Content = abi.Text(text) },
		"an answer in parts": func(m *abi.Message) {
			m.Content = abi.Parts(abi.RawPart("thinking", []byte(`{"type":"thinking","thinking":"x","signature":"s"}`)),
				abi.TextPart(text))
		},
		"a person": func(m *abi.Message) { m.Role, m.Content = abi.RoleUser, abi.Text(text) },
	}
	for why, is := range giants {
		for _, at := range []int{2, 20, 38} {
			msgs := []abi.Message{sized("sys", abi.RoleSystem, 10), sized("task", abi.RoleUser, 10)}
			for range 40 {
				msgs = append(msgs, sized("m"+string(rune('A'+len(msgs))), abi.RoleAssistant, 1000))
			}
			msgs = append(msgs, sized("now", abi.RoleUser, 10))
			is(&msgs[at])
			v := view(msgs, 30_000, 0, false)
			short, ids, words := new(strategies.Spare).ShortenGiants(v, strategies.NoteConfig{}, "ask me")
			gone := strategies.Cut(short, 1000, strategies.KeepConfig{})
			for i, id := range gone {
				if msgs[2+i].ID != id {
					t.Errorf("%s at %d: %v go, which are not the oldest", why, at, gone)
					break
				}
			}
			cut := slices.Equal(ids, []string{msgs[at].ID}) && slices.Equal(words, ids)
			if len(gone) == 0 || cut != (at > 2) {
				t.Errorf("%s at %d: %d go, %v are cut", why, at, len(gone), ids)
			}
			if said := short.Messages[at].Text(); cut && (!strings.HasPrefix(said, "begins ") ||
				!strings.HasSuffix(said, "ends") || !strings.Contains(said, "left out here: message "+msgs[at].ID+"; ask me")) {
				t.Errorf("%s at %d: what is left of it is %q", why, at, said)
			}
		}
	}
}

// TestGiantsThatStay: no giant is cut where the session fits, where caps are switched off, where what stays
// is to be one piece, or where all goes.
func TestGiantsThatStay(t *testing.T) {
	features.Proves(t, "K4")
	msgs := chat()
	msgs[8] = sized("m3", abi.RoleAssistant, 10_000)
	for why, tc := range map[string]struct {
		v    *strategies.View
		keep strategies.KeepConfig
	}{
		"it fits":       {view(msgs, 20_000, 0, false), strategies.KeepConfig{}},
		"switched off":  {view(msgs, 2000, 0, false), strategies.KeepConfig{MessageTokens: -1}},
		"one piece":     {view(msgs, 2000, 0, false), strategies.KeepConfig{OnePiece: true}},
		"all goes":      {view(msgs, 0, 0, true), strategies.KeepConfig{}},
		"half the room": {view(chat(), 300, 0, false), strategies.KeepConfig{}},
	} {
		spare := strategies.Spare{Keep: tc.keep}
		if _, ids, _ := spare.ShortenGiants(tc.v, strategies.NoteConfig{Tokens: -1}, ""); len(ids) > 0 {
			t.Errorf("%s: %v are cut", why, ids)
		}
	}
}
