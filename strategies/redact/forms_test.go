package redact_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/secretforms"
	"github.com/kagewasm/kagewasm/strategies/redact"
)

var marks = regexp.MustCompile(`\[redacted: [a-z-]+\]`)

// quoted is a text as it stands in the arguments of a tool call.
func quoted(t testing.TB, text string) string {
	t.Helper()
	b := new(strings.Builder)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(map[string]string{"x": text}); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// TestForms: secrets go in all the forms that people and commands give them, and
// nothing around them does, in plain text and as the argument of a tool call.
func TestForms(t *testing.T) {
	features.Proves(t, "complaint 16")
	r, forms := redact.Known(), secretforms.Forms(t)
	if len(forms) < 60 {
		t.Fatalf("%d forms, 60 at least", len(forms))
	}
	for _, f := range forms {
		for _, how := range []struct{ text, want string }{{f.Text, f.Without}, {quoted(t, f.Text), quoted(t, f.Without)}} {
			t.Run(how.text, func(t *testing.T) {
				got, _ := r.Redact(how.text)
				if blank := marks.ReplaceAllString(got, "*"); blank != how.want {
					t.Errorf("\n%s\nbecame\n%s\nwant\n%s", how.text, got, how.want)
				}
				if again, n := r.Redact(got); again != got || n != 0 {
					t.Errorf("the second time gives\n%s", again)
				}
			})
		}
	}
}

// TestFormsInAQuotation: a command that is told with a mark in the place of its further lines hides its secrets too.
func TestFormsInAQuotation(t *testing.T) {
	features.Proves(t, "complaint 16")
	r := redact.Known()
	for _, f := range secretforms.Forms(t) {
		if strings.Contains(f.Text, "\n") {
			continue
		}
		t.Run(f.Text, func(t *testing.T) {
			got, _ := r.Redact(f.Text + " …")
			if blank := marks.ReplaceAllString(got, "*"); strings.TrimSuffix(blank, " …") != f.Without {
				t.Errorf("became\n%s\nwant\n%s", got, f.Without)
			}
		})
	}
}

// TestLookalikes: what only looks like a secret stays: the agent needs it to go on,
// and the note is made of such names.
func TestLookalikes(t *testing.T) {
	features.Proves(t, "complaint 16")
	r, texts := redact.Known(), secretforms.Lookalikes(t)
	if len(texts) < 40 {
		t.Fatalf("%d texts, 40 at least", len(texts))
	}
	for _, plain := range texts {
		for _, text := range []string{plain, quoted(t, plain)} {
			t.Run(text, func(t *testing.T) {
				if got, n := r.Redact(text); got != text || n != 0 {
					t.Errorf("%q became %q", text, got)
				}
			})
		}
	}
}
