package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWhatDoesNotFit: a session of which more has to stay than its window takes is made to fit as far as it goes, which
// is a warning and exit code 0; a script that may not send it says --strict.
func TestWhatDoesNotFit(t *testing.T) {
	home, file := filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "a.jsonl")
	text := fmt.Sprintf(`{"role":"system","content":%q}`+"\n"+`{"role":"user","content":"Go on."}`+"\n",
		strings.Repeat("Mind the rules. ", 4000))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, more := range [][]string{nil, {"--strict"}} {
		out := file + ".out"
		code, said := runOn(t, home, append([]string{"compact", file, "--window", "8000", "--no-config", "--out", out},
			more...)...)
		if _, err := os.Stat(out); code != want || err != nil || !strings.Contains(said, "exceeds_window") {
			t.Errorf("%q: exit code %d, %v: %s", more, code, err, said)
		}
	}
}
