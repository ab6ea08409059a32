package plug

import (
	"cmp"
	"path/filepath"

	"github.com/kagewasm/kagewasm/integrations"
)

// pi loads every folder of its extensions that has an index.ts.
var pi = Agent{
	Name: "pi", Title: "pi", Program: "pi", Get: "npm install -g @earendil-works/pi-coding-agent", Served: true,
	Try: tryPi,
	Plan: func(s Setup) (Plan, error) {
		home := cmp.Or(s.Getenv("PI_CODING_AGENT_DIR"), filepath.Join(s.Home, ".pi", "agent"))
		files := integrations.Files("pi")
		files["command.js"] = s.script("How this extension calls kagewasm: kagewasm install wrote it.")
		return Plan{
			Files:  below(filepath.Join(home, "extensions", "kagewasm"), files),
			Rivals: naming("session_before_compact", filepath.Join(home, "extensions")),
			Next:   "sessions that are open load it with /reload",
		}, nil
	},
}
