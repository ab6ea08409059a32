package config

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/strategies"
)

const (
	// inFolder is what config:/ means: it lies beside the configuration. project:/
	// is the folder of the configuration itself.
	inFolder      = ".kagewasm"
	projectScheme = "project:/"
	configScheme  = "config:/"
	// defaultPrompt is where the prompt of summaries lies, which is the operator's
	// once it is written.
	defaultPrompt     = configScheme + strategies.PromptFile
	defaultPromptFile = inFolder + "/" + strategies.PromptFile
)

// A prompt may have at most this many bytes.
const maxPrompt = 256 << 10

var promptNameRE = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// promptFile is the file of a prompt below the project's folder. A plain name is
// one of the prompts in config:/prompts.
func promptFile(ref string) (file string, ok bool) {
	under, name := "", ""
	switch {
	case strings.HasPrefix(ref, projectScheme):
		name = ref[len(projectScheme):]
	case strings.HasPrefix(ref, configScheme):
		under, name = inFolder, ref[len(configScheme):]
	case promptNameRE().MatchString(ref):
		under, name = inFolder, "prompts/"+ref+".md"
	}
	return path.Join(under, name), fs.ValidPath(name) && name != "." && !strings.ContainsAny(name, "\\\x00")
}

// checkPrompt refuses early what the folder would refuse later.
func checkPrompt(n *node) string {
	ref := n.value.(string)
	if _, ok := promptFile(ref); !ok && ref != "" {
		return fmt.Sprintf("prompt %q: write a name, or a path inside the project such as "+
			"project:/prompts/summary.md or config:/prompts/summary.md", ref)
	}
	return ""
}

// prompt returns the text of a prompt.
func (f *folder) prompt(ref string) (string, error) {
	name, ok := promptFile(ref)
	if !ok {
		return "", fmt.Errorf("%q is no prompt", ref)
	}
	data, err := f.read(name)
	switch {
	case err != nil:
	case len(data) > maxPrompt:
		err = fmt.Errorf("longer than %d bytes", maxPrompt)
	case !utf8.Valid(data):
		err = errors.New("not UTF-8")
	case strings.TrimSpace(string(data)) == "":
		err = errors.New("it is empty")
	default:
		return string(data), nil
	}
	return "", fmt.Errorf("prompt %s: %s: %w (%s is the folder %s beside the configuration, %s the configuration's own)",
		ref, filepath.Join(f.dir, filepath.FromSlash(name)), err, configScheme, inFolder, projectScheme)
}

// hasDefault reports whether something stands in the default prompt's place. An
// empty file is nothing: another process may be about to write it.
func (f *folder) hasDefault() bool {
	_, _ = f.read(defaultPromptFile) // so that a change of it is seen as one
	info, err := f.root.Lstat(defaultPromptFile)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
	}
	return !info.Mode().IsRegular() || info.Size() > 0
}

// WriteDefaultPrompt writes the default prompt beside the configuration, to
// .kagewasm/prompts/compaction-summary.md, where it is missing. What is there
// already is the operator's.
func (c *Config) WriteDefaultPrompt() error {
	f, err := openFolder(c.File)
	if err != nil {
		return err
	}
	defer f.close()
	if err := f.root.MkdirAll(path.Dir(defaultPromptFile), 0o755); err != nil {
		return err
	}
	_, err = writeNew(f.root, defaultPromptFile, []byte(strategies.DefaultPrompt()))
	return err
}
