// Package integrations holds the plugs by which agents hand their compaction to kagewasm, each in its agent's own
// language and in a folder of its agent's name. [Files] are what kagewasm install copies.
package integrations

import (
	"embed"
	"io/fs"
	"path"
	"strings"
)

//go:embed all:claude-code all:hermes all:node all:openclaw all:opencode all:pi
var folders embed.FS

// asks is where plugs in Node have the file that asks kagewasm, which is the same for all.
var asks = map[string]string{"openclaw": "ask.js", "opencode": "kagewasm/ask.js", "pi": "ask.js"}

// Files are the files of an agent's plug by their names below its folder. Tests of the plug are none of them.
func Files(agent string) map[string][]byte {
	files := make(map[string][]byte)
	_ = fs.WalkDir(folders, agent, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(path.Base(name), ".test.") {
			return err
		}
		data, err := folders.ReadFile(name)
		files[strings.TrimPrefix(name, agent+"/")] = data
		return err
	})
	if name, ok := asks[agent]; ok {
		files[name], _ = folders.ReadFile("node/ask.js") // it is embedded
	}
	return files
}
