package kv_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kagewasm/kagewasm/store/kv"
)

// What a plugin stores is a file that a person can read and edit.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "kv-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	kv, err := kv.Open(dir, kv.Options{})
	if err != nil {
		panic(err)
	}
	defer kv.Close()
	ctx := context.Background()
	if err := kv.Set(ctx, "markdown", "facts/cache.md", "The cache is sqlite.\n"); err != nil {
		panic(err)
	}
	file, err := os.ReadFile(filepath.Join(dir, "markdown", "facts", "cache.md"))
	fmt.Print(string(file), err, "\n")
	keys, err := kv.List(ctx, "markdown", "facts/")
	fmt.Println(keys, err)
	// Output:
	// The cache is sqlite.
	// <nil>
	// [facts/cache.md] <nil>
}
