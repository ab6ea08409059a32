// Command cmd writes the sessions of package demogen to a folder. With -files
// and -line it writes the project's files instead, as they are on that line of
// scenes/demo.txt: to record what a command prints.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kagewasm/kagewasm/internal/demogen"
)

func main() {
	files := flag.Bool("files", false, "write the project's files")
	line := flag.Int("line", 0, "with -files: as they are on this line of the script; 0 is the end")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: cmd [-files [-line N]] FOLDER")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *files, *line); err != nil {
		fmt.Fprintln(os.Stderr, "demogen:", err)
		os.Exit(1)
	}
}

func run(dir string, files bool, line int) error {
	if files {
		tree, _, err := demogen.Files(line)
		if err != nil {
			return err
		}
		return write(dir, tree)
	}
	out, err := demogen.Generate()
	if err != nil {
		return err
	}
	return write(dir, out)
}

func write[T string | []byte](dir string, files map[string]T) error {
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
