package transcript_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/transcript"
)

// compactedWithPin is a session without its oldest unit that can go, and with a
// note that says a plugin pinned message at.
func compactedWithPin(msgs []abi.Message, at int) []abi.Message {
	pins := abi.Pinned(msgs)
	units, _ := abi.Units(msgs)
	gone := make([]bool, len(msgs))
	for _, u := range units {
		if !slices.ContainsFunc(u, func(i int) bool { return pins[i] || i == at }) {
			for _, i := range u {
				gone[i] = true
			}
			break
		}
	}
	var kept []abi.Message
	for i := range msgs {
		if !gone[i] {
			kept = append(kept, msgs[i])
		}
	}
	frame := abi.Keepers{msgs[at].ID: {"rules"}}.Note(abi.Fence(abi.KindSummary, "strategy:drop", "A note.", "x"), kept)
	note := abi.Message{ID: "kw-note", Role: abi.RoleUser, Kind: abi.KindSummary, Content: abi.Text(frame)}
	return slices.Insert(kept, abi.PrefixEnd(kept), note)
}

// pinsOf are the messages that are pinned in a file when it is read again.
func pinsOf(t *testing.T, s sample) (pinned []abi.Message) {
	t.Helper()
	again := read(t, s.data, s.format).Live()
	keepers := abi.KeepersOf(again)
	for i := range again {
		if keepers.Keeps(&again[i]) {
			pinned = append(pinned, again[i])
		}
	}
	return pinned
}

// TestPinsSurviveEachFormat: what a plugin pinned is pinned when the compacted
// file is read again, in the format that the session came in, whichever message
// it is.
func TestPinsSurviveEachFormat(t *testing.T) {
	features.Proves(t, "K10")
	for _, s := range samples(t) {
		if len(s.data) > 40_000 || strings.Contains(s.name, "#") {
			continue // the same programs wrote the smaller ones
		}
		t.Run(string(s.format)+"/"+s.name, func(t *testing.T) {
			session := read(t, s.data, s.format)
			live := session.Live()
			for at := range live {
				list := compactedWithPin(live, at)
				if len(list) < 3 || live[at].Kind == abi.KindSummary || live[at].Kind.Internal() {
					continue
				}
				if s.format == claudeCode && s.name == "odd.jsonl" && at == 0 {
					continue // without a uuid it is in no chain, and so not shown after a summary
				}
				out := encode(t, session, list, transcript.Same)
				got := pinsOf(t, sample{s.name, out, s.format})
				if len(got) != 1 || got[0].Text() != live[at].Text() {
					t.Errorf("%s is pinned, and read again %d messages are: %+v", live[at].ID, len(got), got)
				}
			}
		})
	}
}

// TestPinsSurviveConversion: a pinned message of a person is pinned in every other
// format too.
func TestPinsSurviveConversion(t *testing.T) {
	features.Proves(t, "K10")
	session := read(t, fixtureOf(t, transcript.Neutral, "everything.jsonl"), transcript.Neutral)
	at := slices.IndexFunc(session.Messages, func(m abi.Message) bool { return m.IsPerson() && m.Text() != "" })
	for _, to := range transcript.Formats() {
		t.Run(string(to), func(t *testing.T) {
			out := encode(t, session, compactedWithPin(session.Messages, at), to)
			if got := pinsOf(t, sample{"converted", out, to}); len(got) != 1 || got[0].Text() != session.Messages[at].Text() {
				t.Errorf("pinned are %+v", got)
			}
		})
	}
}
