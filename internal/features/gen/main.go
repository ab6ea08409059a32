// Command gen writes docs/features.md below the working directory. It reads the
// output of `go test -json ./...` from standard input, and writes nothing where
// a test of the table failed, or a row was proved by nothing that ran.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/kagewasm/kagewasm/internal/features"
)

func main() {
	if err := run(".", os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "features:", err)
		os.Exit(1)
	}
}

func run(root string, tests io.Reader) error {
	rows := features.Rows()
	proofs, err := features.Scan(root)
	if err != nil {
		return err
	}
	if ids := features.Unproved(rows, proofs); len(ids) > 0 {
		return fmt.Errorf("rows without a test: %s", strings.Join(ids, ", "))
	}
	results, err := features.ReadResults(tests)
	if err != nil {
		return err
	}
	if faults := results.Check(proofs); len(faults) > 0 {
		return fmt.Errorf("not proved:\n%s", strings.Join(faults, "\n"))
	}
	return os.WriteFile(filepath.Join(root, features.File), []byte(features.Table(rows, proofs)), 0o644)
}
