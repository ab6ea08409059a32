package demogen_test

import (
	"bytes"
	"go/format"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/demogen"
)

// TestProject: what the agent leaves behind is Go source in Go's own format,
// and the rules it was given are kept.
func TestProject(t *testing.T) {
	before, err := demogen.Before()
	if err != nil {
		t.Fatal(err)
	}
	after, _, err := demogen.Files(0)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range after {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		if out, err := format.Source([]byte(text)); err != nil || !bytes.Equal(out, []byte(text)) {
			t.Errorf("%s is not formatted (%v)", name, err)
		}
	}
	for name, text := range before {
		if strings.HasPrefix(name, "internal/store/migrations/") && after[name] != text {
			t.Errorf("%s shipped, and was changed", name)
		}
	}
	if before["go.mod"] == "" || after["go.mod"] != before["go.mod"] {
		t.Error("the dependencies were changed")
	}
}

func TestScriptFaults(t *testing.T) {
	for name, c := range map[string]struct{ script, says string }{
		"no such verb":        {"%% say\n%% fly away\n", "line 2: fly: no such verb"},
		"a call on its own":   {"%% user\nhi\n%% list .\n", "no say above it"},
		"a missing file":      {"%% say\n%% read a.go\n", "does not go as the script says"},
		"lines that are none": {"%% say\n%% write a.go\nx\n%% read a.go lines=here\n", "line 4: read: "},
		"a wrong word":        {"%% say\n%% write a.go failled\nx\n", "failled means nothing"},
		"an edit of nothing":  {"%% say\n%% write a.go\nx\n%% edit a.go\ny\n=======\nz\n", "old_text not found"},
		"an edit of two":      {"%% say\n%% write a.go\nx x\n%% edit a.go\nx\n=======\nz\n", "old_text found 2 times"},
		"half an edit":        {"%% say\n%% write a.go\nx\n%% edit a.go\nx\n", "no ======="},
		"a success":           {"%% say\n%% write a.go failed\nx\n", "does not go as the script says"},
		"no output":           {"%% say\n%% run\n$ ls\n", "no output recorded"},
		"no command":          {"%% say\n%% run\nls\n", "no command"},
		"a bad wait":          {"%% user +soon\nhi\n", "invalid duration"},
		"a bad time":          {"%% say\n%% run took=long\n$ ls\na\n", "invalid duration"},
	} {
		if err := demogen.Play(c.script); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
	if err := demogen.Play("a comment\n%% user +3m\nhi\n%% say\n%% write a.go\nx\n%% grep .\nx\n%% read b.go failed\n"); err != nil {
		t.Errorf("a script without fault: %v", err)
	}
}
