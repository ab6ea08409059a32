// Command gen writes docs/features.md below the working directory. It reads the
// output of `go test -json ./...` from standard input, and writes nothing where
// a test of the table failed, or a row was proved by nothing that ran. With
// -check that is all it looks for, and it prints what go test would: CI reads
// the tests that it runs anyway.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/kagewasm/kagewasm/internal/features"
)

func main() {
	check := flag.Bool("check", false, "write nothing")
	flag.Parse()
	if err := run(".", os.Stdin, os.Stdout, *check); err != nil {
		fmt.Fprintln(os.Stderr, "features:", err)
		os.Exit(1)
	}
}

func run(root string, tests io.Reader, out io.Writer, check bool) error {
	rows := features.Rows()
	proofs, err := features.Scan(root)
	if err != nil {
		return err
	}
	if ids := features.Unproved(rows, proofs); len(ids) > 0 {
		return fmt.Errorf("rows without a test: %s", strings.Join(ids, ", "))
	}
	results, err := features.ReadResults(tests, out)
	if err != nil {
		return err
	}
	if faults := results.Check(proofs); len(faults) > 0 {
		return fmt.Errorf("not proved:\n%s", strings.Join(faults, "\n"))
	}
	if check {
		return nil
	}
	return os.WriteFile(filepath.Join(root, features.File), []byte(features.Table(rows, proofs)), 0o644)
}
