package main

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/kit"
)

func newNew(e env) *cobra.Command {
	var o kit.Project
	cmd := &cobra.Command{
		Use:   "new NAME",
		Short: "Write a plugin to begin with",
		Long: `Write a plugin that builds, passes the conformance kit and changes a compaction,
with a test, fixtures and a README of its own, into a new folder. What is there
is never written over. docs/authors.md goes on from there.`,
		Example: `  kagewasm new mine && kagewasm build mine -o mine.wasm
  kagewasm new mine --lang ts --role compactor`,
		Args: exactArgs("NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			o.Name = args[0]
			paths, err := kit.New(o)
			p := e.out()
			for _, path := range paths {
				p.Linef("wrote %s", path)
			}
			if err != nil {
				return err
			}
			p.Linef("next:")
			for _, step := range nextSteps(o) {
				p.Linef("  %s", step)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&o.Lang, "lang", kit.Langs[0],
		"the `LANGUAGE`: "+strings.Join(kit.Langs, ", ")+" (ts is AssemblyScript)")
	cmd.Flags().StringVar(&o.Role, "role", kit.Roles[0],
		"observer (reads, pins, remembers, injects) or compactor (makes the summary)")
	cmd.Flags().StringVar(&o.Dir, "dir", "", "the `DIR` to write (default: NAME)")
	cmd.Flags().StringVar(&o.Source, "source", "",
		"a `DIR` with a clone of kagewasm, for Go (default: the one this command was built in)")
	complete(cmd, "lang", kit.Langs...)
	complete(cmd, "role", kit.Roles...)
	_ = cmd.MarkFlagDirname("dir")
	_ = cmd.MarkFlagDirname("source")
	return cmd
}

// nextSteps are the commands from a new plugin to a compaction that it changed.
func nextSteps(o kit.Project) []string {
	dir := o.Dir
	dir = cmp.Or(dir, o.Name)
	wasm := o.Name + ".wasm"
	steps := []string{"kagewasm build " + dir + " -o " + wasm, "kagewasm verify " + wasm}
	if o.Lang == "ts" {
		wasm = dir + "/" + wasm
		steps = []string{"npm ci --prefix " + dir, "npm test --prefix " + dir} // which builds and verifies
	}
	return append(steps,
		"kagewasm compact "+dir+"/fixtures/session.jsonl --force --target 1200 --plugin "+wasm+" --dry-run")
}
