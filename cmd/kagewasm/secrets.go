package main

import (
	"os"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
)

// secrets are the values of the flags that are meant for the plugin. A command
// line is seen by others, so a flag names the environment variable.
func (l *loader) secrets(m *abi.Manifest) (map[string]string, error) {
	values := l.flags.cassette.secrets(m)
	for _, s := range l.flags.secrets {
		name, variable, ok := strings.Cut(s, "=")
		if !ok || name == "" || variable == "" {
			return nil, ui.Usagef("--secret: write NAME=VARIABLE or PLUGIN.NAME=VARIABLE, the variable of the environment " +
				"that holds it")
		}
		if rest, ok := strings.CutPrefix(name, m.Name+"."); ok {
			name = rest
		}
		if !slices.Contains(m.Secrets, name) {
			continue
		}
		value, ok := os.LookupEnv(variable)
		if !ok || value == "" {
			return nil, ui.Usagef("--secret %s: the environment has no variable of that name", s)
		}
		values[name], l.taken[s] = value, true
	}
	return values, nil
}
