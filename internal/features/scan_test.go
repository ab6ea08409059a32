package features_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/features"
)

var itoa = strconv.Itoa

// project writes test files and returns the folder.
func project(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, body := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("package x_test\n\nimport \"testing\"\n\n"+body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// TestScan: every way in which a test says what it proves, and what is none.
func TestScan(t *testing.T) {
	for _, tc := range []struct{ why, body, want string }{
		{"its name", "func TestK9K10Units(t *testing.T) {}", "K10 K9"},
		{"a complaint in it", "func TestComplaint5Giants(t *testing.T) {}", "complaint 5"},
		{"a fuzz target", "func FuzzN2Plans(f *testing.F) {}", "N2"},
		{"an example", "func Example_k() {}\n\nfunc ExampleK9() {}", "K9"},
		{"not a benchmark, which cannot fail", "func BenchmarkN9Recall(b *testing.B) {}", ""},
		{"not a helper", "func checkK9(t *testing.T) { t.Error(\"K9: no\") }", ""},
		{"not a method", "type s struct{}\n\nfunc (s) TestK9(t *testing.T) {}", ""},
		{"not in the middle of a name", "func TestUnitsK9(t *testing.T) {}", ""},
		{"its comment, in brackets", "// TestX (complaint 8, N8): it holds.\nfunc TestX(t *testing.T) {}", "N8 complaint 8"},
		{"announced", "// FEATURES K20: pruning.\nfunc TestX(t *testing.T) {}", "K20"},
		{"two announced", "// FEATURES K14 and complaint 12: cost.\nfunc TestX(t *testing.T) {}", "K14 complaint 12"},
		{"at the beginning", "// T9: counted again.\nfunc TestX(t *testing.T) {}", "T9"},
		{"several complaints", "// TestX (complaints 3, 10 and 15).\nfunc TestX(t *testing.T) {}", "complaint 10 complaint 15 complaint 3"},
		{"several lines", "// TestX (K1, N2, complaints 3,\n// 10\n// and 15): all.\nfunc TestX(t *testing.T) {}", "K1 N2 complaint 10 complaint 15 complaint 3"},
		{"not one that is mentioned", "// TestX is unlike K21 in this.\nfunc TestX(t *testing.T) {}", ""},
		{"a comment inside", "func TestX(t *testing.T) {\n\t// O7, A12: on failure too.\n\tt.Log()\n}", "A12 O7"},
		{"not a message, which only mentions one", "func TestX(t *testing.T) {\n\tt.Errorf(\"K4: %v\", 1)\n\tt.Errorf(\"usage %d (K14)\", 1)\n}", ""},
		{"a column of its cases", "func TestX(t *testing.T) {\n\t_ = []struct{ row, why string }{{\"I2\", \"so\"}, {\"complaint 6\", \"so\"}}\n}", "I2 complaint 6"},
		{"a column of cases with names", "func TestX(t *testing.T) {\n\t_ = map[string]struct{ why, row string }{\"a\": {row: \"I2, I7\"}, \"b\": {\"so\", \"T1\"}}\n}", "I2 I7 T1"},
		{"not another column", "func TestX(t *testing.T) {\n\t_ = []struct{ row, why string }{{\"I2\", \"K4\"}, {row: \"I7\", why: \"(K5)\"}}\n\t_ = []string{\"K6\"}\n}", "I2 I7"},
		{"not a word like a row", "func TestX(t *testing.T) {\n\t_ = []string{\"A1\", \"O9 is\"}\n}", ""},
	} {
		proofs, err := features.Scan(project(t, map[string]string{"x_test.go": tc.body}), features.Rows())
		if err != nil {
			t.Errorf("%s: %v", tc.why, err)
		}
		if got := strings.Join(slices.Sorted(maps.Keys(proofs)), " "); got != tc.want {
			t.Errorf("%s: rows %q, want %q", tc.why, got, tc.want)
		}
	}
}

func TestScanFolders(t *testing.T) {
	root := project(t, map[string]string{
		"x_test.go": "func TestK1A(t *testing.T) {}", "sub/deep/x_test.go": "func TestK1B(t *testing.T) {}",
		"testdata/x_test.go": "func TestK1C(t *testing.T) {}", "x.go": "func TestK1D(t *testing.T) {}",
	})
	proofs, err := features.Scan(root, features.Rows())
	if err != nil || fmt.Sprint(proofs["K1"]) != "[TestK1A sub/deep.TestK1B]" {
		t.Errorf("%v, %v", proofs["K1"], err)
	}
	root = project(t, map[string]string{"x_test.go": "func TestK99A(t *testing.T) {}"})
	if _, err := features.Scan(root, features.Rows()); err == nil || !strings.Contains(err.Error(), "TestK99A") {
		t.Errorf("a row there is not: %v", err)
	}
}

// TestResults: only what ran and passed is a pass.
func TestResults(t *testing.T) {
	const out = `{"Action":"start","Package":"github.com/kagewasm/kagewasm/abi"}
{"Action":"pass","Package":"github.com/kagewasm/kagewasm/abi","Test":"TestGood/sub"}
{"Action":"pass","Package":"github.com/kagewasm/kagewasm/abi","Test":"TestGood"}
{"Action":"skip","Package":"github.com/kagewasm/kagewasm/abi","Test":"TestHalf/sub"}
{"Action":"pass","Package":"github.com/kagewasm/kagewasm/abi","Test":"TestHalf"}
{"Action":"fail","Package":"github.com/kagewasm/kagewasm","Test":"TestBad"}
{"Action":"pass","Package":"github.com/kagewasm/kagewasm/abi"}
`
	results, err := features.ReadResults(strings.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	p := features.Proofs{"K1": {{Dir: "abi", Name: "TestGood"}}, "K2": {{Dir: "abi", Name: "TestHalf"}, {Dir: ".", Name: "TestBad"}, {Dir: "abi", Name: "TestNone"}}}
	want := []string{"K2: TestBad: fail", "K2: abi.TestHalf: skip", "K2: abi.TestNone did not run"}
	if got := results.Check(p); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := features.ReadResults(strings.NewReader("ok  abi 0.1s\n")); err == nil {
		t.Error("what is no JSON was read")
	}
}

// TestTable: a row with tests, one without, and a list of those that need one.
func TestTable(t *testing.T) {
	rows := []features.Row{{ID: "K1", Text: "one"}, {ID: "K2", Text: "two", Planned: true}, {ID: "K3", Text: "three", Planned: true}, {ID: "complaint 3", Text: "four"}}
	proofs := features.Proofs{"K1": {{Dir: ".", Name: "TestA"}, {Dir: "abi", Name: "TestB"}}, "K3": {{Dir: ".", Name: "TestC"}}}
	table := features.Table(rows, proofs)
	for _, line := range []string{"| K1 | one | `TestA`<br>`abi.TestB` | pass |", "| K2 | two |  | planned |", "| K3 | three | `TestC` | in part |", "| 3 | four |  | planned |"} {
		if !strings.Contains(table, line+"\n") {
			t.Errorf("no line %s in\n%s", line, table)
		}
	}
	if got := features.Unproved(rows, proofs); !slices.Equal(got, []string{"complaint 3"}) {
		t.Errorf("unproved %v", got)
	}
}
