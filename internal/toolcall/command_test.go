package toolcall_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// TestNormal: what a script is compared by: not where it runs, how long it may take and
// how its output is shown, but what it runs, on what.
func TestNormal(t *testing.T) {
	features.Proves(t, "I4")
	const same = "go test ./store -run TestLease"
	for _, tc := range []struct{ why, script, want string }{
		{"as it is", same, same},
		{"over lines and spaces", "  go test \\\n\t./store   -run TestLease\n", same},
		{"in a folder", "cd /srv/kw && " + same, same},
		{"in two", "cd /srv && cd kw && " + same, same},
		{"with a setting", "CGO_ENABLED=0 GOFLAGS=-trimpath " + same, same},
		{"with a time limit", "timeout 60 " + same, same},
		{"measured", "time " + same, same},
		{"as root", "sudo " + same, same},
		{"with its output cut", same + " 2>&1 | tail -20", same},
		{"with its output searched", same + " | grep -v ok", same},
		{"with a word at its end", same + "; echo done", same},
		{"with a mark at its end", same + " ;", same},
		{"another test is another", "go test ./store -run TestOther", "go test ./store -run TestOther"},
		{"all of it is another", "go test ./...", "go test ./..."},
		{"two commands are not the first", "go vet ./... && " + same, "go vet ./... && " + same},
		{"a folder alone", "cd /srv/kw", "cd /srv/kw"},
		{"a word with an equals sign is an argument", "make x=1", "make x=1"},
		{"nothing", " \n ", ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := toolcall.Normal(tc.script); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestNormalKeepsCommands: a script that runs more than another is not the same.
func TestNormalKeepsCommands(t *testing.T) {
	features.Proves(t, "I4")
	for _, tc := range []struct{ script, part string }{
		{"go build ./... 2>&1 && go test ./...", "go build ./..."},
		{"go build ./... 2>/dev/null; go test ./...", "go build ./..."},
		{"go test ./... | tail -5 && git push", "go test ./..."},
		{"go vet ./...\ngo test ./...", "go vet ./..."},
		{"make lint && cd web && make lint", "make lint"},
	} {
		t.Run(tc.script, func(t *testing.T) {
			if got := toolcall.Normal(tc.script); got == toolcall.Normal(tc.part) {
				t.Errorf("%q, as of %q alone", got, tc.part)
			}
		})
	}
}

// TestNormalTwice: what is normal stays as it is, whatever the script.
func TestNormalTwice(t *testing.T) {
	word := rapid.SampledFrom([]string{"cd", "&&", "go", "test", "x=1", "X=1", "time", "sudo", "timeout", "60", "|",
		"head", "tail", "2>&1", ";",
		"echo", "&", "./...", "'a b'"})
	rapid.Check(t, func(t *rapid.T) {
		script := ""
		for _, w := range rapid.SliceOfN(word, 0, 12).Draw(t, "words") {
			script += w + rapid.SampledFrom([]string{" ", "\n", "  "}).Draw(t, "space")
		}
		once := toolcall.Normal(script)
		if twice := toolcall.Normal(once); twice != once {
			t.Fatalf("%q, then %q, of %q", once, twice, script)
		}
	})
}
