package devloop

import (
	"context"
	"os/exec"
	"strings"
)

// localFolder is the folder of a package that can be edited: of the module
// itself, or of one that a folder stands for.
const localFolder = `{{with .Module}}{{if or .Main (and .Replace (not .Replace.Version))}}{{$.Dir}}{{end}}{{end}}`

// packages are the folders outside of the plugin's own with packages that it is
// built of, where it is in Go; none where nothing is known of it.
func packages(ctx context.Context, dir string) (folders []string) {
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-f", localFolder, ".")
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), "GOOS=wasip1", "GOARCH=wasm")
	out, err := cmd.Output()
	if err != nil {
		return nil
	}
	for folder := range strings.Lines(string(out)) {
		if folder = strings.TrimSpace(folder); folder != "" && !inside(dir, folder) {
			folders = append(folders, folder)
		}
	}
	return folders
}
