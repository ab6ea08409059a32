package names_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

// TestWhoUsedThem: where there is room for a few names, those that persons and agents used
// come before those that stood in a listing, and those that code imports come last.
func TestWhoUsedThem(t *testing.T) {
	features.Proves(t, "N8")
	listing := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format+"\n", i)
		}
		return b.String()
	}
	grep := func(output string) []abi.Message { return called("Grep", "pattern", "x", output, false) }
	for _, tc := range []struct {
		why   string
		msgs  [][]abi.Message
		first string
		last  string
	}{
		{"what a person wrote", [][]abi.Message{{user("lease_ttl")}, grep(listing(60, "listed_%d"))}, "lease_ttl",
			"listed_5"},
		{"what the agent acted on", [][]abi.Message{called("Bash", "command", "make lease_ttl", "ok", false),
			grep(listing(60, "listed_%d"))}, "lease_ttl", "listed_5"},
		{"what the agent said", [][]abi.Message{{said("lease_ttl")}, grep(listing(60, "listed_%d"))}, "lease_ttl",
			"listed_5"},
		{"a module of its own", [][]abi.Message{grep("pkg/lease.go"), grep("github.com/x/lease v0.0.0")},
			"pkg/lease.go", "x/lease"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			var msgs []abi.Message
			for _, m := range tc.msgs {
				msgs = append(msgs, m...)
			}
			all := build(msgs)
			shown := false
			for budget := 60; budget < 1000 && !shown; budget += 2 {
				text := all.Render(budget, byRune)
				shown = strings.Contains(text, tc.last)
				if shown && !strings.Contains(text, tc.first) {
					t.Errorf("%d tokens:\n%s", budget, text)
				}
			}
			if !shown {
				t.Errorf("%s is never shown", tc.last)
			}
		})
	}
}

// TestPassing: addresses and versions that only a listing had are not told, however much room there is; those that a
// person wrote are, and those that a tool answered with.
func TestPassing(t *testing.T) {
	features.Proves(t, "N8")
	var log strings.Builder
	for i := range 30 {
		fmt.Fprintf(&log, "## 0.2.%d\nsee https://example.com/changes/%d and file_%d\n", 100+i, i, i)
	}
	msgs := []abi.Message{user("Pin it to 0.2.117, as https://example.com/changes/17 says.")}
	msgs = append(msgs, called("WebFetch", "url", "x", log.String(), false)...)
	msgs = append(msgs, called("Bash", "command", "gh pr create", "https://github.com/x/parcel/pull/112", false)...)
	text := build(msgs).Render(4000, byRune)
	for _, want := range []string{"0.2.117", "https://example.com/changes/17", "parcel/pull/112", "file_29"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not told:\n%s", want, text)
		}
	}
	for _, passed := range []string{"0.2.118", "changes/18"} {
		if strings.Contains(text, passed) {
			t.Errorf("%s is told:\n%s", passed, text)
		}
	}
}

// TestOnlyTools: a name that the agent wrote comes before one that tools put out a few times and nobody wrote.
func TestOnlyTools(t *testing.T) {
	features.Proves(t, "N8")
	var msgs []abi.Message
	for range 5 {
		msgs = append(msgs, called("Bash", "command", "make", "lease_told 4711", false)...)
	}
	msgs = append(msgs, called("Bash", "command", "make lease_used 4712", "ok", false)...)
	got := lines(build(msgs).Render(1000, byRune))
	for head, want := range map[string]string{"Names": "lease_used lease_told", "Numbers and ids": "4712 4711"} {
		if got[head] != want {
			t.Errorf("%s: %q, want %q", head, got[head], want)
		}
	}
}

// TestOfFilesThatAreChanged: what stood in a file that a call changes, before or later, comes before what stood in
// another one; an option of a program and a hash that nobody wrote come after both.
func TestOfFilesThatAreChanged(t *testing.T) {
	read := func(file, text string) []abi.Message { return called("Read", "file_path", file, text, false) }
	edit := called("Edit", "file_path", "/srv/kw/lease.go", "ok", false)
	other := read("/srv/kw/other.go", "tokenOther 3f2a1bc")
	lease := read("/srv/kw/lease.go", "tokenLease 4711111")
	for why, msgs := range map[string][]abi.Message{
		"before": slices.Concat(edit, lease, other), "later": slices.Concat(lease, other, edit),
	} {
		msgs = append(slices.Clone(msgs), called("Bash", "command", "make", "see --verbose", false)...)
		got := lines(build(msgs).Render(1000, byRune))
		for head, want := range map[string]string{"Names": "tokenLease tokenOther --verbose",
			"Numbers and ids": "4711111 3f2a1bc"} {
			if got[head] != want {
				t.Errorf("%s: %s: %q, want %q", why, head, got[head], want)
			}
		}
	}
}

// TestForm: what every answer of a tool has, and nobody ever wrote, comes after what two of them had.
func TestForm(t *testing.T) {
	features.Proves(t, "N8")
	const url, file = "https://api.kw.io/users/lee/repos", "lease/handover/of_a_parcel/run.go"
	var msgs []abi.Message
	for range 30 {
		msgs = append(msgs, called("Bash", "command", "make", "site_admin "+url, false)...)
	}
	for range 2 {
		msgs = append(msgs, called("Bash", "command", "make", "lease_told "+file, false)...)
	}
	text := build(msgs).Render(1000, byRune)
	if got := lines(text)["Names"]; got != "lease_told site_admin" {
		t.Errorf("%q", got)
	}
	if i, j := strings.Index(text, file), strings.Index(text, url); i < 0 || j < i {
		t.Errorf("the address comes first:\n%s", text)
	}
}

// TestSeries: where there is room for a few names, the only one of its kind comes before most of those that differ in
// their numbers alone, though these were said later.
func TestSeries(t *testing.T) {
	features.Proves(t, "N8")
	msgs := called("Bash", "command", "ls", "ReserveNextParcel holds tokenBucketLock", false)
	for i := range 60 {
		msgs = append(msgs, called("Bash", "command", "ls", fmt.Sprintf("ok step%d in pkg/step%d/run.go", i, i), false)...)
	}
	for budget := 600; budget < 3000; budget += 100 {
		text := build(msgs).Render(budget, byRune)
		if n := strings.Count(text, "/run.go"); n > 20 && !strings.Contains(text, "tokenBucketLock") {
			t.Fatalf("%d paths of a series at %d, and no tokenBucketLock:\n%s", n, budget, text)
		}
	}
}

// TestByRoom: of two names that tell as much the one that takes fewer tokens comes first,
// and of two that take as many the shorter one.
func TestByRoom(t *testing.T) {
	features.Proves(t, "N8")
	costly := func(s string) int { return byRune(s) + 40*strings.Count(s, "costly") }
	flat := func(s string) int { return len(strings.Fields(s)) }
	for _, tc := range []struct {
		why, said, want string
		count           func(string) int
	}{
		{"fewer tokens", "costly_name and simple_name", "simple_name costly_name", costly},
		{"shorter", "longer_names_here and short_name", "short_name longer_names_here", flat},
	} {
		t.Run(tc.why, func(t *testing.T) {
			text := build([]abi.Message{said(tc.said)}).Render(1000, tc.count)
			if got := lines(text)["Names"]; got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestRaised: a name that bears on what somebody wants to know comes before shorter ones
// that were said more often.
func TestRaised(t *testing.T) {
	features.Proves(t, "N8")
	all := build([]abi.Message{said("lock_a lock_b renew_every_lease_of_a_job"), said("lock_a lock_b")})
	all.Raise(func(name string) bool { return strings.HasPrefix(name, "renew") })
	text := all.Render(1000, byRune)
	if got := lines(text)["Names"]; got != "renew_every_lease_of_a_job lock_a lock_b" {
		t.Errorf("%q", got)
	}
}
