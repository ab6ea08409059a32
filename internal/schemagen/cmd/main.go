// Command cmd writes the JSON Schemas of the ABI. It takes the folder of
// package abi and writes to its folder schema.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/kagewasm/kagewasm/internal/schemagen"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: cmd FOLDER-OF-PACKAGE-ABI")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "schemagen:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	files, err := schemagen.Generate(dir)
	if err != nil {
		return err
	}
	for name, file := range files {
		if err := os.WriteFile(filepath.Join(dir, "schema", name), file, 0o644); err != nil {
			return err
		}
	}
	return nil
}
