package survey_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/survey"
)

// TestDevCorpus: sessions of any format are found in folders and files, and
// read again where the file changed, and only there.
func TestDevCorpus(t *testing.T) {
	features.Proves(t, "N6")
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a := write("a.jsonl", neutral(t, work("a", 2, "ok")))
	b := write("below/b.json", []byte(`{"model":"gpt-4o","messages":[{"role":"user","content":"hello"},`+
		`{"role":"assistant","content":"hi"}]}`))
	write("below/none.json", []byte(`{"name":"no session"}`))
	write(".hidden/c.jsonl", neutral(t, work("c", 2, "ok")))
	write("notes.txt", []byte("no session"))

	corpus := survey.NewCorpus(dir, a) // a file twice is one session
	first, skipped, err := corpus.Sessions()
	if err != nil {
		t.Fatal(err)
	}
	if len(first) != 2 || first[0].Name != a || first[1].Name != b || first[1].Model != "gpt-4o" ||
		len(first[0].Messages) != 7 {
		t.Fatalf("%+v", first)
	}
	if len(skipped) != 1 || filepath.Base(skipped[0].Path) != "none.json" || skipped[0].Why.Code != abi.CodeBadInput {
		t.Errorf("%+v", skipped)
	}
	write("a.jsonl", neutral(t, work("a", 3, "ok")))
	second, _, err := corpus.Sessions()
	if err != nil || len(second) != 2 || len(second[0].Messages) != 10 || second[1] != first[1] {
		t.Errorf("%+v, %v", second, err)
	}
	if err := os.Remove(b); err != nil {
		t.Fatal(err)
	}
	if third, _, err := corpus.Sessions(); err != nil || len(third) != 1 || third[0] != second[0] {
		t.Errorf("%+v, %v", third, err)
	}

	if _, _, err := survey.NewCorpus(filepath.Join(dir, "nowhere")).Sessions(); abi.CodeOf(err) != abi.CodeUsage {
		t.Errorf("a path that is not there: %v", err)
	}
	if _, _, err := survey.NewCorpus(filepath.Join(dir, "notes.txt")).Sessions(); abi.CodeOf(err) != abi.CodeBadInput {
		t.Errorf("a named file that is no session: %v", err)
	}
}
