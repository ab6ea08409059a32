package main

import (
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/near"
)

// badFlag is the error of a flag that a command does not have, or whose value is none
// for it.
func badFlag(c *cobra.Command, err error) error {
	says := err.Error()
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		says = "--" + bad.GetFlag().Name + " " + bad.GetValue() + ": give " + wanted(bad.GetFlag().Value.Type())
		if _, ok := bad.GetFlag().Value.(*engineFlag); ok {
			says = "--" + bad.GetFlag().Name + " " + bad.GetValue() + ": " + errors.Unwrap(bad).Error()
		}
		if errors.Is(err, strconv.ErrRange) {
			says = "--" + bad.GetFlag().Name + " " + bad.GetValue() + ": the number is too large"
		}
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && unknown.GetSpecifiedShortnames() == "" {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		if meant := near.To(unknown.GetSpecifiedName(), names, 1); meant != nil {
			says += ": did you mean --" + meant[0] + "?"
		}
	}
	command := strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ")
	return ui.Usagef("%s: %s (see %s --help)", command, says, c.CommandPath())
}

// wanted says in words what a flag of a type takes.
func wanted(flagType string) string {
	switch flagType {
	case "int", "int64", "uint64":
		return "a whole number"
	case "float64":
		return "a number"
	case "bool":
		return "true or false"
	case "duration":
		return "a time such as 300ms or 2m"
	}
	return "another value"
}
