package note_test

import (
	"os"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/strategies/note"
)

// TestOrdersBehindGreetings: what is asked for behind a greeting, in any language, is never small talk.
func TestOrdersBehindGreetings(t *testing.T) {
	features.Proves(t, "N13", "I8")
	for order := range strings.Lines(read(t, "orders.txt")) {
		if order = strings.TrimSpace(order); note.SmallTalk(order) || note.Greets(order) || note.Closing(order) == "" {
			t.Errorf("%q is small talk", order)
		}
	}
}

// TestGreetings: what only greets, thanks, praises or takes leave is small talk.
func TestGreetings(t *testing.T) {
	features.Proves(t, "I8")
	for words := range strings.Lines(read(t, "greetings.txt")) {
		if words = strings.TrimSpace(words); !note.SmallTalk(words) {
			t.Errorf("%q is no small talk", words)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
