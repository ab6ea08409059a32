package note_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestLostOrdersOfAWord: what a person said in a message of its own is listed as that, however short it is and in
// whatever script, and before what the agent said.
func TestLostOrdersOfAWord(t *testing.T) {
	features.Proves(t, "N14")
	orders := []string{"Tabs.", "Port 7070.", "UTCで。", "हर रिपोर्ट पर तारीख ज़रूर होनी चाहिए।", "প্রতিটি ফাইল UTF-8 হবে।",
		"כל הסכומים באגורות בלבד.", "Καμία αλλαγή χωρίς την έγκριση της Μαρίας.", "v2 only"}
	var msgs []abi.Message
	for i, s := range orders {
		msgs = append(msgs, words(fmt.Sprint("u", i), abi.RoleUser, s),
			words(fmt.Sprint("a", i), abi.RoleAssistant, "Noted."))
	}
	said := lossesOf(t, note.LostStatement, msgs...)
	for i, s := range orders {
		if !slices.Contains(said, fmt.Sprintf("u%d: %s", i, s)) {
			t.Errorf("%q is not among what people said: %q", s, said)
		}
	}
	for _, s := range []string{"thanks!", "continue", "Continue.", "yes", "ok"} {
		if said := lossesOf(t, note.LostStatement, words("u1", abi.RoleUser, s)); len(said) > 0 {
			t.Errorf("%q says %q", s, said)
		}
	}
}

// TestLostOrdersBeforeChatter: what people tell by the way comes again and again in the same words. It stands behind
// their orders, also where these stand in the middle of it and no list has a word of them.
func TestLostOrdersBeforeChatter(t *testing.T) {
	features.Proves(t, "N14")
	when := []string{"Somewhere around noon", "After the standup", "In the meantime", "Yesterday evening",
		"On the second monitor"}
	what := []string{"the numbers went up a little", "two of the jobs took longer", "the page came back",
		"the list looked the same", "a couple of rows were yellow"}
	then := []string{"which seemed odd at first", "and that was about it", "as it often does", "much like before"}
	n := 0
	chatter := func() string {
		n++
		return when[n%5] + " " + what[n/5%5] + ", " + then[n/25%4] + "."
	}
	orders := []string{"Samira signs off anything that touches payroll.", "Scrap the queue again, the cron it is.",
		"La migración la aprueba Lucía.", "Il responsabile dei pagamenti è Davide.", "還是用原來的方案吧。",
		"로그에 주민등록번호를 남기면 안 됩니다.", "Müşteri adları loglanmasın.", "हर रिपोर्ट पर तारीख होनी चाहिए।"}
	var msgs []abi.Message
	for i, s := range orders {
		if i%2 == 0 {
			s = strings.Join([]string{chatter(), chatter(), chatter(), s, chatter(), chatter()}, " ")
		}
		msgs = append(msgs, words(fmt.Sprint("c", i), abi.RoleUser, strings.Join([]string{chatter(), chatter(), chatter(),
			chatter(), chatter()}, " ")), words(fmt.Sprint("u", i), abi.RoleUser, s))
	}
	said := lossesOf(t, note.LostStatement, msgs...)
	if len(said) < 40 {
		t.Fatalf("%d statements", len(said))
	}
	for i, s := range orders {
		if at := slices.Index(said, fmt.Sprintf("u%d: %s", i, s)); at < 0 || at >= len(orders) {
			t.Errorf("%q stands at %d: %q", s, at, said[:len(orders)])
		}
	}
}

// TestLostPromises: what the agent promised and settled stands before what it found.
func TestLostPromises(t *testing.T) {
	features.Proves(t, "N14")
	got := lossesOf(t, note.LostDecision,
		words("a1", abi.RoleAssistant, "Root cause: the lock is taken twice in worker.go."),
		words("a2", abi.RoleAssistant, "I'll store amounts as integer cents, floats would drift."),
		words("a3", abi.RoleAssistant, "We settle on zstd level 3."))
	want := []string{"a3: We settle on zstd level 3.", "a2: I'll store amounts as integer cents, floats would drift.",
		"a1: Root cause: the lock is taken twice in worker.go."}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
