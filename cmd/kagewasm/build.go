package main

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/kit"
)

func newBuild(e env) *cobra.Command {
	var out, manifest string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "build [DIR|X.wasm]",
		Short: "Build a plugin and put its manifest inside",
		Long: `Compile the plugin in DIR (default: the working directory) to a .wasm module and
put its plugin.yaml inside. The language is told by what is in the folder: Go
files; an asconfig.json, for the AssemblyScript compiler in node_modules; or C
files, for clang. Nothing else is run, and nothing installed.

Given a module that another compiler made, only the manifest is put inside: the
plugin.yaml beside it, or the one of --manifest.`,
		Example: `  kagewasm build plugins/markdown -o build/
  kagewasm build mine -o ~/.local/state/kagewasm/plugins/mine.wasm   # --plugin mine works from then on
  kagewasm build target/wasm32-wasip1/release/mine.wasm --manifest plugin.yaml -o mine.wasm`,
		Args: argCount(0, 1, "one folder or module"),
		RunE: func(c *cobra.Command, args []string) error {
			dir := argOr(args, ".")
			progress := e.progress()
			progress.Step("building %s", dir)
			result, err := build(c, dir, manifest, out, e.named().Dir)
			progress.Done()
			if err != nil {
				return err
			}
			return show(e, asJSON, result, ui.Built)
		},
	}
	cmd.Flags().StringVarP(&out, "out", "o", "", "the `FILE` to write, or a folder to write NAME.wasm in")
	cmd.Flags().StringVar(&manifest, "manifest", "", "the plugin.yaml for a module that is already built")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	_ = cmd.MarkFlagFilename("manifest", "yaml", "yml")
	return cmd
}

// build builds a plugin. Among a user's own it is for them alone, as all in a state folder.
func build(c *cobra.Command, dir, manifest, out, own string) (kit.Result, error) {
	if own != "" && filepath.Dir(out) == own {
		if err := os.MkdirAll(own, 0o700); err != nil {
			return kit.Result{}, ui.Usagef("-o %s: %w", out, err)
		}
	}
	if !strings.HasSuffix(dir, ".wasm") {
		if manifest != "" {
			return kit.Result{}, ui.Usagef("--manifest is for a module that is already built: %s is a folder, and has its "+
				"own plugin.yaml", dir)
		}
		return kit.Build(c.Context(), kit.Options{Dir: dir, Out: out})
	}
	manifest = cmp.Or(manifest, filepath.Join(filepath.Dir(dir), kit.ManifestFile))
	return kit.Embed(c.Context(), dir, manifest, out)
}
