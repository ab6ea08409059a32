package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestManualPages: each command has a page, which has all that its help says: flags with
// what they are about, letter for letter, and the commands below it.
func TestManualPages(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man", "man1")
	var out, errs bytes.Buffer
	e := env{stdout: &out, stderr: &errs}
	if code := doMain(t.Context(), []string{"help", "man", dir}, e); code != 0 {
		t.Fatal(errs.String())
	}
	pages := 0
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		pages++
		t.Run(c.CommandPath(), func(t *testing.T) {
			page, err := os.ReadFile(filepath.Join(dir, strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"))
			if err != nil {
				t.Fatal(err)
			}
			says := strings.NewReplacer(`\-`, "-", `\e`, `\`, `\&`, "").Replace(string(page))
			c.LocalFlags().VisitAll(func(f *pflag.Flag) {
				if _, about := pflag.UnquoteUsage(f); !f.Hidden && (!strings.Contains(says, "--"+f.Name) ||
					!strings.Contains(says, about)) {
					t.Errorf("--%s is not there as help has it", f.Name)
				}
			})
			for _, text := range []string{c.Short, strings.SplitN(c.Long, "\n", 2)[0]} {
				if !strings.Contains(says, text) {
					t.Errorf("it does not say %q", text)
				}
			}
			for _, sub := range c.Commands() {
				if sub.IsAvailableCommand() && !strings.Contains(says, "\n\\fB"+sub.Name()+"\\fR\n") {
					t.Errorf("the command %s is not there", sub.Name())
				}
			}
			for line := range strings.Lines(string(page)) {
				if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(line, ".") &&
					!strings.Contains(" .TH .SH .PP .TP .nf .fi ", " "+word+" ") {
					t.Errorf("an order that is none of ours: %q", line)
				}
			}
		})
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				visit(sub)
			}
		}
	}
	visit(newRoot(e, nil))
	if files, err := os.ReadDir(dir); err != nil || len(files) != pages || pages < 20 {
		t.Errorf("%d pages of %d commands: %v", len(files), pages, err)
	}
}
