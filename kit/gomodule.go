package kit

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

const (
	modulePath = "github.com/kagewasm/kagewasm"
	// yamlPath is the one module beside it that a plugin's test needs.
	yamlPath = "go.yaml.in/yaml/v4"
)

// addModule puts a go.mod and a go.sum into the project, which need nothing from
// the network that building kagewasm did not need. The module's path has a dot in its
// first part, or a plugin named cmp would be the standard library's package.
func addModule(project map[string][]byte, o Project) error {
	source, err := findSource(o.Source)
	if err != nil {
		return err
	}
	mod, err := readModule(source)
	if err != nil {
		return usage("new", "", err.Error(), "name a clone with --source DIR", err)
	}
	project["go.mod"] = fmt.Appendf(nil,
		"module example.com/%s\n\ngo %s\n\nrequire %s v0.0.0\n\nrequire %s %s // indirect\n\nreplace %s => %s\n",
		o.Name, mod.goVersion, modulePath, yamlPath, mod.yamlVersion, modulePath, quotePath(source))
	project["go.sum"] = mod.sums
	return nil
}

// findSource returns the absolute path of a clone.
func findSource(dir string) (string, error) {
	if dir != "" {
		abs, err := filepath.Abs(dir)
		if err != nil || !isSource(abs) {
			message := fmt.Sprintf("%s: no clone of kagewasm, with a go.mod that says module %s", dir, modulePath)
			return "", usage("new", "", message, "name the folder with --source DIR", nil)
		}
		return abs, nil
	}
	_, file, _, _ := runtime.Caller(0) // absolute where the program was not built with -trimpath
	if built := filepath.Dir(filepath.Dir(file)); filepath.IsAbs(built) && isSource(built) {
		return built, nil
	}
	wd, err := os.Getwd()
	for err == nil && !isSource(wd) {
		above := filepath.Dir(wd)
		if above == wd {
			err = os.ErrNotExist
		}
		wd = above
	}
	if err != nil {
		return "", usage("new", "", "the source of kagewasm: not found, and a plugin in Go compiles it in",
			"clone it, and name the folder with --source DIR; or write the plugin with --lang ts or c, which need none of "+
				"it", nil)
	}
	return wd, nil
}

func isSource(dir string) bool {
	data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	return err == nil && bytes.HasPrefix(data, []byte("module "+modulePath+"\n"))
}

// module holds what a plugin's go.mod takes over from that of kagewasm.
type module struct {
	goVersion, yamlVersion string
	sums                   []byte // the lines of go.sum for the YAML module
}

func readModule(dir string) (m module, err error) {
	mod, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return m, err
	}
	for line := range strings.Lines(string(mod)) {
		switch f := strings.Fields(strings.TrimPrefix(strings.TrimSpace(line), "require ")); {
		case len(f) >= 2 && f[0] == "go":
			m.goVersion = f[1]
		case len(f) >= 2 && f[0] == yamlPath:
			m.yamlVersion = f[1]
		}
	}
	sums, err := os.ReadFile(filepath.Join(dir, "go.sum"))
	for line := range bytes.Lines(sums) {
		if bytes.HasPrefix(line, []byte(yamlPath+" "+m.yamlVersion)) {
			m.sums = append(m.sums, line...)
		}
	}
	if err == nil && (m.goVersion == "" || m.sums == nil) {
		err = fmt.Errorf("%s: its go.mod and go.sum do not name go and %s", dir, yamlPath)
	}
	return m, err
}

// quotePath writes a path as go.mod wants it.
func quotePath(path string) string {
	if strings.ContainsAny(path, " \t\"'`()[]{},") {
		return strconv.Quote(path)
	}
	return path
}
