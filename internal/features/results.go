package features

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

const module = "github.com/kagewasm/kagewasm"

// Results are how tests ended: pass, fail or skip. A test one of whose subtests
// was skipped counts as skipped.
type Results map[Test]string

// event is a line that `go test -json` writes.
type event struct{ Action, Package, Test, Output string }

// ReadResults reads what `go test -json` wrote, and prints what go test by itself would have
// printed: packages, and what failed tests said.
func ReadResults(r io.Reader, out io.Writer) (Results, error) {
	results, p := make(Results), printer{out, make(map[string][]string)}
	for dec := json.NewDecoder(r); ; {
		var e event
		if err := dec.Decode(&e); errors.Is(err, io.EOF) {
			return results, nil
		} else if err != nil {
			return nil, fmt.Errorf("not the output of go test -json: %w", err)
		}
		p.see(e)
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

// printer keeps what a test says until it is known how it ended.
type printer struct {
	out  io.Writer
	said map[string][]string // by package and test
}

func (p *printer) see(e event) {
	name := e.Package + " " + e.Test
	switch {
	case e.Output != "" && e.Test != "":
		p.said[name] = append(p.said[name], e.Output)
	case e.Output != "" && e.Output != "PASS\n":
		fmt.Fprint(p.out, e.Output)
	case e.Action == "fail" && e.Test == "": // also of a process that ended in the middle of a test
		for _, name := range slices.Sorted(maps.Keys(p.said)) {
			if strings.HasPrefix(name, e.Package+" ") {
				p.print(name)
			}
		}
	case e.Action == "fail":
		p.print(name)
	case e.Action == "pass", e.Action == "skip":
		delete(p.said, name)
	}
}

func (p *printer) print(name string) {
	fmt.Fprint(p.out, strings.Join(p.said[name], ""))
	delete(p.said, name)
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
