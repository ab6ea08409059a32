package features

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

const module = "github.com/kagewasm/kagewasm"

// Results are how tests ended: pass, fail or skip. A test one of whose subtests
// was skipped counts as skipped.
type Results map[Test]string

// ReadResults reads what `go test -json` wrote.
func ReadResults(r io.Reader) (Results, error) {
	results := make(Results)
	for dec := json.NewDecoder(r); ; {
		var e struct{ Action, Package, Test string }
		if err := dec.Decode(&e); errors.Is(err, io.EOF) {
			return results, nil
		} else if err != nil {
			return nil, fmt.Errorf("not the output of go test -json: %w", err)
		}
		if e.Test == "" || !slices.Contains([]string{"pass", "fail", "skip"}, e.Action) {
			continue
		}
		name, sub, _ := strings.Cut(e.Test, "/")
		t := Test{Dir: dirOf(e.Package), Name: name}
		if sub == "" && results[t] == "" || e.Action != "pass" && results[t] != "fail" {
			results[t] = e.Action
		}
	}
}

func dirOf(pkg string) string {
	if dir, ok := strings.CutPrefix(pkg, module+"/"); ok {
		return dir
	}
	return "."
}

// Check says, in words, what keeps the table from being written: tests that
// failed or did not run, and rows whose every test was skipped.
func (r Results) Check(p Proofs) (faults []string) {
	for id, tests := range p {
		passed := 0
		for _, t := range tests {
			switch r[t] {
			case "pass":
				passed++
			case "skip":
			case "":
				faults = append(faults, fmt.Sprintf("%s: %s did not run", id, t))
			default:
				faults = append(faults, fmt.Sprintf("%s: %s: %s", id, t, r[t]))
			}
		}
		if passed == 0 {
			faults = append(faults, fmt.Sprintf("%s: no test of it ran and passed", id))
		}
	}
	slices.Sort(faults)
	return faults
}
