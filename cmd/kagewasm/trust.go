package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/config"
)

// A configuration that nobody named may have come with somebody's repository.
// It says where sessions and keys are sent, so one that sends anything anywhere
// is taken only where a person said so once: with `config trust`, with `init`,
// or by naming it.

// trustFile lists the configurations that are trusted, a path a line.
const trustFile = "trusted"

// sends says what a configuration would have sent out, or "".
func sends(c *config.Config) string {
	if len(c.Models) > 0 {
		return "sessions to its models"
	}
	for name, p := range c.Plugins {
		if len(p.Secrets) > 0 {
			return "secrets to plugin " + name
		}
		for _, g := range p.Grants {
			if g.Capability == abi.CapHTTP || g.Capability == abi.CapModel {
				return "what plugin " + name + " likes"
			}
		}
	}
	return ""
}

// mustTrust is the error of a configuration that was found, not named, and that
// nobody has trusted.
func mustTrust(e env, c *config.Config) error {
	what := sends(c)
	if what == "" {
		return nil
	}
	known, err := trusted(e)
	if err != nil {
		return err
	}
	path, err := real(c.File)
	if err != nil || slices.Contains(known, path) {
		return err
	}
	return usageError{&abi.Error{Code: abi.CodeUsage, Op: "config", Message: c.File + ": it would send " + what + ", and nobody has trusted it yet",
		Hint: "look at it, then run kagewasm config trust; or name it with --config, or go on with --no-config"}}
}

func trusted(e env) ([]string, error) {
	if e.stateHome == "" {
		return nil, nil
	}
	data, err := os.ReadFile(filepath.Join(e.stateHome, trustFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return strings.Split(strings.TrimRight(string(data), "\n"), "\n"), err
}

// trust adds a configuration to the list.
func trust(e env, path string) error {
	if e.stateHome == "" {
		return usagef("config trust: this machine names no home folder: name the configuration with --config instead")
	}
	path, err := real(path)
	if err != nil {
		return err
	}
	known, err := trusted(e)
	if err != nil || slices.Contains(known, path) {
		return err
	}
	if strings.Contains(path, "\n") {
		return usagef("config trust: %q: a path with a line break", path)
	}
	if err := os.MkdirAll(e.stateHome, 0o700); err != nil {
		return err
	}
	return writeFile(filepath.Join(e.stateHome, trustFile), []byte(strings.Join(append(known, path), "\n")+"\n"))
}

// real is where a path leads.
func real(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

func newConfigTrust(e env) *cobra.Command {
	return &cobra.Command{
		Use:   "trust [FILE]",
		Short: "Let a configuration that is found here send sessions and keys where it says",
		Long: `A configuration may come with somebody's repository, and says where sessions and
keys are sent. One that is found, and not named with --config, is used only
after you have looked at it and trusted it, once.`,
		Args: oneArgOrNone("FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			f := configFlag{path: argOr(args, "")}
			c, err := f.load()
			if err != nil {
				return err
			}
			if err := trust(e, c.File); err != nil {
				return err
			}
			printer{w: e.stdout}.linef("trusted %s", c.File)
			return nil
		},
	}
}
