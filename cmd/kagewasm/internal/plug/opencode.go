package plug

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/tailscale/hujson"

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
			Files:  below(plugins, files),
			Rivals: openCodeRivals(s, home),
			Next:   "sessions that are open load it when opencode is started again",
		}, nil
	},
}

// openCodeRivals are the plugins that say what opencode's model sees: files of its folders, and those that its settings
// name, by a path or as packages, which lie in its cache once opencode has run with them.
func openCodeRivals(s Setup, home string) []string {
	const hook = "experimental.chat.messages.transform"
	rivals := naming(hook, filepath.Join(home, "plugins"), filepath.Join(home, "plugin"))
	cache := filepath.Join(cmp.Or(s.Getenv("XDG_CACHE_HOME"), filepath.Join(s.Home, ".cache")), "opencode")
	for _, name := range []string{"config.json", "opencode.json", "opencode.jsonc"} {
		settings := filepath.Join(home, name)
		for _, plugin := range openCodePlugins(settings) {
			path, local := strings.CutPrefix(plugin, "file://")
			local = local || strings.HasPrefix(plugin, ".") || filepath.IsAbs(plugin)
			if local && !filepath.IsAbs(path) {
				path = filepath.Join(home, path)
			}
			at := []string{path}
			if !local {
				name := plugin
				if end := strings.LastIndex(plugin, "@"); end > 0 {
					name = plugin[:end]
				}
				at, _ = filepath.Glob(filepath.Join(cache, "packages", name+"*", "node_modules", name))
			}
			if len(naming(hook, at...)) > 0 || strings.Contains(plugin, "opencode-dcp") {
				rivals = append(rivals, plugin+" in "+settings)
			}
		}
	}
	return rivals
}

// openCodePlugins are the plugins that settings of opencode's name, each alone or with options.
func openCodePlugins(settings string) (plugins []string) {
	data, _ := read(settings) // what cannot be read names nothing
	text, err := hujson.Standardize(data)
	var doc struct {
		Plugin []json.RawMessage `json:"plugin"`
	}
	if err != nil || json.Unmarshal(text, &doc) != nil {
		return nil
	}
	for _, raw := range doc.Plugin {
		var name string
		var withOptions []json.RawMessage
		if json.Unmarshal(raw, &withOptions) == nil && len(withOptions) > 0 {
			raw = withOptions[0]
		}
		if json.Unmarshal(raw, &name) == nil {
			plugins = append(plugins, name)
		}
	}
	return plugins
}
