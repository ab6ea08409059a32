package pick_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/pick"
	"github.com/kagewasm/kagewasm/session"
	"github.com/kagewasm/kagewasm/store"
)

// stored is a store with a session of each source, oldest first, under ids s0, s1, ...
func stored(t *testing.T, ids, sources []string) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.InMemory, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	for i, id := range ids {
		err := s.Update(t.Context(), func(tx *store.Tx) error {
			h, err := session.OpenHistory(t.Context(), tx, id, nil)
			if err == nil {
				err = h.Append(t.Context(), abi.Message{Role: abi.RoleUser, Content: abi.Text("hello")})
			}
			if err != nil {
				return err
			}
			return tx.Describe(t.Context(), id, store.About{Source: sources[i]}, 1)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestNearest: of the sessions that fit best the one that changed last is meant.
func TestNearest(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my project")
	in := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	named := strings.NewReplacer("/", "-", " ", "-", "_", "-", ".", "-").Replace(filepath.ToSlash(dir))
	for _, tc := range []struct {
		why, agent string
		sources    []string // oldest first
		want, says string
	}{
		{"the only one there is", "", []string{"proxy"}, "proxy", "latest of all"},
		{"the latest of all", "x", []string{"proxy", "/b/s.jsonl"}, "/b/s.jsonl", "latest of all"},
		{"a file of the folder", "x", []string{in("a", "s.jsonl"), "/b/s.jsonl"}, in("a", "s.jsonl"),
			"latest of this folder"},
		{"no file beside the folder", "x", []string{"/b/s.jsonl", in("..", "s.jsonl"), dir + "2/s.jsonl"},
			dir + "2/s.jsonl", "latest of all"},
		{"a folder named after it, as Claude Code does", "x",
			[]string{"/home/me/.claude/projects/" + named + "/s.jsonl", "/b/s.jsonl"},
			"/home/me/.claude/projects/" + named + "/s.jsonl", "latest of this folder"},
		{"as pi does", "x", []string{"/home/me/.pi/agent/sessions/-" + named + "--/s.jsonl", "/b/s.jsonl"},
			"/home/me/.pi/agent/sessions/-" + named + "--/s.jsonl", "latest of this folder"},
		{"the program's own before later ones", "codex-mcp-client",
			[]string{"/home/me/.codex/sessions/s.jsonl", "/b/codexes/s.jsonl"}, "/home/me/.codex/sessions/s.jsonl",
			"latest of this program"},
		{"the folder before the program", "codex", []string{in("s.jsonl"), "/home/me/.codex/s.jsonl"}, in("s.jsonl"),
			"latest of this folder"},
		{"both before the folder alone", "claude-code",
			[]string{"/home/me/.claude/projects/" + named + "/s.jsonl", in("s.jsonl")},
			"/home/me/.claude/projects/" + named + "/s.jsonl", "latest of this program in this folder"},
		{"a name that says nothing", "-", []string{"-", "/b/s.jsonl"}, "/b/s.jsonl", "latest of all"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			ids := []string{"s0", "s1", "s2"}[:len(tc.sources)]
			one, why, err := pick.Nearest(t.Context(), stored(t, ids, tc.sources), pick.Place{Dir: dir, Agent: tc.agent})
			if err != nil || one.Source != tc.want || !strings.Contains(why, tc.says) {
				t.Errorf("%+v, as %q: %v", one, why, err)
			}
		})
	}
	if one, _, err := pick.Nearest(t.Context(), stored(t, nil, nil), pick.Place{Dir: dir}); one != nil || err != nil {
		t.Errorf("of none: %v %v", one, err)
	}
}

// TestFind: an id is taken as a whole before it is taken as a beginning, and what could be several is none.
func TestFind(t *testing.T) {
	s := stored(t, []string{"ab", "abc", "abd", "x"}, make([]string, 4))
	for id, want := range map[string]string{"ab": "ab", "abc": "abc", "x": "x"} {
		if one, err := pick.Find(t.Context(), s, id); err != nil || one.Key != want {
			t.Errorf("%s: %v %v", id, one, err)
		}
	}
	for _, id := range []string{"a", "", "y"} {
		if one, err := pick.Find(t.Context(), s, id); err == nil {
			t.Errorf("%q: %v", id, one)
		}
	}
}
