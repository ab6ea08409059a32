package features_test

import (
	"fmt"
	"io"
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
		if err := os.WriteFile(path, []byte("package x_test\n\n"+body), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestScan(t *testing.T) {
	for _, tc := range []struct{ name, body, want string }{
		{"one row", `func TestX(t *testing.T) { features.Proves(t, "K9") }`, "K9"},
		{"several rows", `func TestX(t *testing.T) { features.Proves(t, "K9", "complaint 5") }`, "K9 complaint 5"},
		{"a fuzz target", `func FuzzX(f *testing.F) { features.Proves(f, "N2") }`, "N2"},
		{"a subtest", `func TestX(t *testing.T) { t.Run("a", func(t *testing.T) { features.Proves(t, "I2") }) }`, "I2"},
		{"a name proves nothing", `func TestK9(t *testing.T) {}`, ""},
		{"another package's function", `func TestX(t *testing.T) { other.Proves(t, "K9") }`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			proofs, err := features.Scan(project(t, map[string]string{"x_test.go": tc.body}))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(slices.Sorted(maps.Keys(proofs)), " "); got != tc.want {
				t.Errorf("rows %q, want %q", got, tc.want)
			}
		})
	}
}

func TestScanRefuses(t *testing.T) {
	for _, tc := range []struct{ name, arg string }{
		{"a row there is not", `"K99"`},
		{"what is no literal", `row`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			root := project(t, map[string]string{"x_test.go": "func TestX(t *testing.T) { features.Proves(t, " + tc.arg + ") }"})
			if _, err := features.Scan(root); err == nil || !strings.Contains(err.Error(), "x_test.go:3:") {
				t.Errorf("got %v, want an error with its place", err)
			}
		})
	}
}

func TestScanFolders(t *testing.T) {
	proves := func(name string) string { return "func " + name + `(t *testing.T) { features.Proves(t, "K1") }` }
	root := project(t, map[string]string{
		"x_test.go": proves("TestA"), "sub/deep/x_test.go": proves("TestB"),
		"testdata/x_test.go": proves("TestC"), "x.go": proves("TestD"),
	})
	proofs, err := features.Scan(root)
	if err != nil || fmt.Sprint(proofs["K1"]) != "[TestA sub/deep.TestB]" {
		t.Errorf("%v, %v", proofs["K1"], err)
	}
}

// TestResults: a failed test refuses the table, a skipped one proves nothing.
func TestResults(t *testing.T) {
	const out = `{"Action":"start","Package":"github.com/kagewasm/kagewasm/abi"}
{"Action":"output","Package":"github.com/kagewasm/kagewasm/abi","Test":"TestGood","Output":"all is well\n"}
{"Action":"output","Package":"github.com/kagewasm/kagewasm","Test":"TestBad","Output":"nothing is well\n"}
{"Action":"output","Package":"github.com/kagewasm/kagewasm","Test":"TestEnded","Output":"panic: everything\n"}
{"Action":"pass","Package":"github.com/kagewasm/kagewasm/abi","Test":"TestGood/sub"}
{"Action":"pass","Package":"github.com/kagewasm/kagewasm/abi","Test":"TestGood"}
{"Action":"skip","Package":"github.com/kagewasm/kagewasm/abi","Test":"TestHalf/sub"}
{"Action":"pass","Package":"github.com/kagewasm/kagewasm/abi","Test":"TestHalf"}
{"Action":"skip","Package":"github.com/kagewasm/kagewasm/abi","Test":"TestSkipped"}
{"Action":"fail","Package":"github.com/kagewasm/kagewasm","Test":"TestBad"}
{"Action":"output","Package":"github.com/kagewasm/kagewasm/abi","Output":"PASS\n"}
{"Action":"output","Package":"github.com/kagewasm/kagewasm/abi","Output":"ok  \tabi\t0.1s\n"}
{"Action":"pass","Package":"github.com/kagewasm/kagewasm/abi"}
{"Action":"fail","Package":"github.com/kagewasm/kagewasm"}
{"ImportPath":"broken","Action":"build-output","Output":"broken.go:1:1: no package\n"}
`
	var printed strings.Builder
	results, err := features.ReadResults(strings.NewReader(out), &printed)
	if err != nil {
		t.Fatal(err)
	}
	const failed = "nothing is well\nok  \tabi\t0.1s\npanic: everything\nbroken.go:1:1: no package\n"
	if printed.String() != failed {
		t.Errorf("printed %q, want %q", printed.String(), failed)
	}
	test := func(name string) features.Test { return features.Test{Dir: "abi", Name: name} }
	p := features.Proofs{
		"K1": {test("TestGood")},
		"K2": {test("TestGood"), {Dir: ".", Name: "TestBad"}},
		"K3": {test("TestGood"), test("TestNone")},
		"K4": {test("TestHalf"), test("TestSkipped")},
		"K5": {test("TestGood"), test("TestSkipped")},
	}
	want := []string{"K2: TestBad: fail", "K3: abi.TestNone did not run", "K4: no test of it ran and passed"}
	if got := results.Check(p); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if _, err := features.ReadResults(strings.NewReader("ok  abi 0.1s\n"), io.Discard); err == nil {
		t.Error("what is no JSON was read")
	}
}

// TestTable: a row with tests, one without, and a list of those that need one.
func TestTable(t *testing.T) {
	rows := []features.Row{{ID: "K1", Text: "one"}, {ID: "K2", Text: "two", Planned: true},
		{ID: "K3", Text: "three", Planned: true}, {ID: "complaint 3", Text: "four"}}
	proofs := features.Proofs{"K1": {{Dir: ".", Name: "TestA"}, {Dir: "abi", Name: "TestB"}},
		"K3": {{Dir: ".", Name: "TestC"}}}
	table := features.Table(rows, proofs)
	for _, line := range []string{"| K1 | one | `TestA`<br>`abi.TestB` | pass |", "| K2 | two |  | planned |",
		"| K3 | three | `TestC` | in part |", "| 3 | four |  | planned |"} {
		t.Run(line, func(t *testing.T) {
			if !strings.Contains(table, line+"\n") {
				t.Errorf("no line %s in\n%s", line, table)
			}
		})
	}
	if got := features.Unproved(rows, proofs); !slices.Equal(got, []string{"complaint 3"}) {
		t.Errorf("unproved %v", got)
	}
}
