package plug

import (
	"cmp"
	"path/filepath"

	"github.com/kagewasm/kagewasm/integrations"
)

// hermes takes the context engine that its configuration names, and loads none by itself.
var hermes = Agent{
	Name: "hermes", Title: "hermes", Program: "hermes", Get: "see https://hermes-agent.nousresearch.com", Served: true,
	Plan: func(s Setup) (Plan, error) {
		home := cmp.Or(s.Getenv("HERMES_HOME"), filepath.Join(s.Home, ".hermes"))
		config := filepath.Join(home, "config.yaml")
		files := integrations.Files("hermes")
		files["command.py"] = s.python("How this plugin calls kagewasm: kagewasm install wrote it.")
		p := Plan{Files: below(filepath.Join(home, "plugins", "kagewasm"), files),
			Edits: []Edit{{Path: config, Put: putContext, Take: takeContext, Has: hasContext,
				Same: func(now, _ []byte) bool { c, err := contextOf(now); return err == nil && c.engine() == "kagewasm" }}},
			Next: "it takes effect after: hermes plugins enable kagewasm"}
		was, err := read(config)
		if err != nil {
			return p, err
		}
		c, _ := contextOf(was) // what cannot be read is refused when it is to be changed
		if engine := c.engine(); engine != "" && engine != "compressor" && engine != "kagewasm" {
			p.Rivals = []string{"the context engine " + engine}
		}
		return p, nil
	},
}
