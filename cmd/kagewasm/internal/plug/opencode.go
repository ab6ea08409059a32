package plug

import (
	"cmp"
	"path/filepath"

	"github.com/kagewasm/kagewasm/integrations"
)

// openCode loads every file of its plugins folder. What lies in a folder below it is not loaded by itself.
var openCode = Agent{
	Name: "opencode", Title: "opencode", Program: "opencode", Get: "npm install -g opencode-ai", Served: true,
	Try: tryOpenCode,
	Plan: func(s Setup) (Plan, error) {
		home := cmp.Or(s.Getenv("OPENCODE_CONFIG_DIR"),
			filepath.Join(cmp.Or(s.Getenv("XDG_CONFIG_HOME"), filepath.Join(s.Home, ".config")), "opencode"))
		plugins := filepath.Join(home, "plugins")
		files := integrations.Files("opencode")
		files["kagewasm/command.js"] = append(s.script("How this plugin calls kagewasm: kagewasm install wrote it."),
			constant("folder", filepath.Join(s.Folder, "opencode"))...)
		files["kagewasm/command.js"] = append(files["kagewasm/command.js"], constant("shrinkResultsOver", s.Shrink)...)
		return Plan{
			Files: below(plugins, files),
			Rivals: append(naming("experimental.chat.messages.transform", plugins),
				naming("opencode-dcp", filepath.Join(home, "opencode.json"), filepath.Join(home, "opencode.jsonc"))...),
			Next: "sessions that are open load it when opencode is started again",
		}, nil
	},
}
