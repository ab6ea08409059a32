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

// Check returns, in words, the tests of the table that did not pass.
func (r Results) Check(p Proofs) (faults []string) {
	for id, tests := range p {
		for _, t := range tests {
			switch r[t] {
			case "pass":
			case "":
				faults = append(faults, fmt.Sprintf("%s: %s did not run", id, t))
			default:
				faults = append(faults, fmt.Sprintf("%s: %s: %s", id, t, r[t]))
			}
		}
	}
	slices.Sort(faults)
	return faults
}
