// Command genranks writes the vocabularies that package bpe embeds, from those that tiktoken-go's offline loader has.
// It runs by hand, through go generate, never in a build.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"

	loader "github.com/pkoukk/tiktoken-go-loader"
)

var encodings = []string{"cl100k_base", "o200k_base"}

func main() {
	log.SetFlags(0)
	log.SetPrefix("genranks: ")
	dir := flag.String("o", "internal/bpe", "the `FOLDER` to write to")
	flag.Parse()
	for _, name := range encodings {
		if err := run(name, *dir); err != nil {
			log.Fatal(err)
		}
	}
}

func run(name, dir string) error {
	files, err := published(name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for file, doc := range files {
		if err := os.WriteFile(filepath.Join(dir, file), doc, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// published is an encoding's vocabulary as tiktoken-go's loader has it, in the form that package bpe reads, by file.
// Together they would be too large for one.
func published(name string) (files map[string][]byte, err error) {
	ranks, err := loader.NewOfflineLoader().LoadTiktokenBpe(name + ".tiktoken")
	if err != nil {
		return nil, err
	}
	labels, doc, err := write(ranks)
	return map[string][]byte{name + ".labels": labels, name + ".vocabulary": doc}, err
}
