package toolcall_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

func TestCommands(t *testing.T) {
	features.Proves(t, "N8")
	long := "run " + strings.Repeat("é", 200)
	for _, tc := range []struct{ why, script, want string }{
		{"as it is", "go test ./... 2>&1 | tail -30", "go test ./... 2>&1 | tail -30"},
		{"the first line that says something",
			"# say why\n\nset -euo pipefail\ncd /srv/kw\necho start\nmake all\nmake test", "make all …"},
		{"a line that only sets the scene, where there is no other", "cd /srv/kw", "cd /srv/kw"},
		{"a line goes on after a backslash", "docker run \\\n  --rm \\\n  image", "docker run --rm image"},
		{"without a document fed in", "git commit -m \"$(cat <<'EOF'\nsubject\nEOF\n)\"", "git commit -m …"},
		{"also a file", "cat > a.yaml << EOF\nx: 1\nEOF", "cat > a.yaml …"},
		{"a here string stays", "grep x <<< \"$y\"", "grep x <<< \"$y\""},
		{"a shift stays", "echo $((1 << 4)) > x", "echo $((1 << 4)) > x"},
		{"cut at a letter", long, long[:len("run ")+156] + "…"},
		{"nothing", " \n# only a comment\n", ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := toolcall.CommandLine(tc.script); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}

// TestSubject: what a call is about, in a line.
func TestSubject(t *testing.T) {
	features.Proves(t, "I7")
	long := strings.Repeat("x", 400)
	for _, tc := range []struct{ why, arguments, want string }{
		{"a command comes first", `{"path":"/repo","command":"make test"}`, "make test"},
		{"the line of a script that matters", "{\"command\":\"# build\\ngo build ./...\"}", "go build ./..."},
		{"a verb of an editor needs its file", `{"command":"str_replace","path":"a/b.go","new_str":"x"}`,
			"str_replace a/b.go"},
		{"a file", `{"file_path":"a/b.go","limit":20}`, "a/b.go"},
		{"any other short text", `{"query":"go modules","text":"` + long + `"}`, "go modules"},
		{"a long path is cut", `{"path":"` + long + `"}`, long[:160] + "…"},
		{"long texts say nothing", `{"text":"` + long + `"}`, ""},
		{"no object", "*** Begin Patch", ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := toolcall.Subject(tc.arguments); got != tc.want {
				t.Errorf("%q, want %q", got, tc.want)
			}
		})
	}
}
