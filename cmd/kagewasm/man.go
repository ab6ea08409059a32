package main

import (
	"cmp"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/files"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
)

// newMan is the topic of help that writes all of it as pages for man.
func newMan(e env) *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write the help of all commands as manual pages",
		Long:    "Write a manual page for each command into DIR, which is made where it is not there.",
		Example: "  kagewasm help man ~/.local/share/man/man1",
		Args:    exactArgs("DIR"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return ui.Usagef("man: %w", err)
			}
			n, err := writePages(c.Root(), args[0])
			if err == nil {
				e.out().Linef("wrote %s to %s", ui.Plural(n, "page"), args[0])
			}
			return err
		},
	}
}

// writePages writes the pages of a command and of those below it.
func writePages(c *cobra.Command, dir string) (n int, err error) {
	if err := files.Write(filepath.Join(dir, pageName(c)+".1"), []byte(manPage(c))); err != nil {
		return 0, err
	}
	for _, sub := range c.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		below, err := writePages(sub, dir)
		if n += below; err != nil {
			return n, err
		}
	}
	return n + 1, nil
}

// pageName is what the page of a command is called: kagewasm-config-check.
func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// manPage is the help of a command in the language of man. Flags stand there as help
// shows them.
func manPage(c *cobra.Command) string {
	var b strings.Builder
	section := func(title, text string) {
		if text = strings.Trim(text, "\n"); text != "" {
			b.WriteString(".SH " + title + "\n" + text + "\n")
		}
	}
	b.WriteString(`.TH "` + roff(strings.ToUpper(pageName(c))) + `" 1 "" "` + roff("kagewasm "+c.Root().Version) +
		"\" \"kagewasm\"\n")
	section("NAME", roff(pageName(c))+` \- `+roff(c.Short))
	section("SYNOPSIS", roff(c.UseLine()))
	section("DESCRIPTION", strings.ReplaceAll(roff(cmp.Or(c.Long, c.Short)), "\n\n", "\n.PP\n"))
	section("COMMANDS", entries(c))
	section("OPTIONS", options(c.LocalFlags())+options(c.InheritedFlags()))
	if c.Example != "" {
		section("EXAMPLES", ".nf\n"+roff(strings.ReplaceAll(c.Example, "\n  ", "\n"))+"\n.fi")
	}
	if c.HasParent() {
		section("SEE ALSO", roff(pageName(c.Parent()))+"(1)")
	}
	return b.String()
}

// entries are the commands below a command.
func entries(c *cobra.Command) string {
	var b strings.Builder
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			b.WriteString(".TP\n\\fB" + roff(sub.Name()) + "\\fR\n" + roff(sub.Short) + "\n")
		}
	}
	return b.String()
}

// options are flags, one below the other.
func options(flags *pflag.FlagSet) string {
	var b strings.Builder
	for line := range strings.Lines(flags.FlagUsages()) {
		if m := flagLine.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			b.WriteString(".TP\n\\fB" + roff(m[1]) + "\\fR\n" + roff(m[2]) + "\n")
		}
	}
	return b.String()
}

// flagLine is a flag as help shows it, with what it is about.
var flagLine = regexp.MustCompile(`^ +(-.*?) {2,}(.*)$`)

// roff is text that man takes as it is.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(strings.TrimSpace(text))
	return lineMark.ReplaceAllString(text, `\&$1`)
}

// lineMark begins lines that would be orders to man.
var lineMark = regexp.MustCompile(`(?m)^([.'])`)
