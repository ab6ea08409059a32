package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/strategies/summarize"
)

// DefaultPromptPath is where the prompt of summaries lies. It is written where
// it is missing, and is the operator's from then on (FEATURES K24).
const DefaultPromptPath = configScheme + summarize.PromptFile

// defaultPromptFile is its place below the folder of the configuration.
const defaultPromptFile = Folder + "/" + summarize.PromptFile

// Folder is what config:/ means: it lies beside the configuration. project:/
// is the folder of the configuration itself.
const Folder = ".kagewasm"

// maxPrompt is how long a prompt may be, in bytes.
const maxPrompt = 256 << 10

const (
	projectScheme = "project:/"
	configScheme  = "config:/"
)

// splitPrompt tells where a prompt lies. A plain name is one of the prompts in
// config:/prompts (FEATURES A8).
func splitPrompt(ref string) (inConfig bool, name string, ok bool) {
	switch {
	case strings.HasPrefix(ref, projectScheme):
		name = ref[len(projectScheme):]
	case strings.HasPrefix(ref, configScheme):
		inConfig, name = true, ref[len(configScheme):]
	case promptNameRE.MatchString(ref):
		inConfig, name = true, "prompts/"+ref+".md"
	}
	return inConfig, name, fs.ValidPath(name) && name != "." && !strings.ContainsAny(name, "\\\x00")
}

var promptNameRE = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// checkPrompt refuses early what the root would refuse later.
func checkPrompt(n *node) string {
	ref := n.value.(string)
	if ref == "" {
		return ""
	}
	if _, _, ok := splitPrompt(ref); !ok {
		return fmt.Sprintf("prompt %q: write a name, or a path inside the project such as project:/prompts/summary.md or config:/prompts/summary.md", ref)
	}
	return ""
}

// prompts reads the prompts of one project. Nothing outside of it can be
// reached, by no "..", no absolute path and no link.
type prompts struct {
	dir  string
	root *os.Root
	now  time.Time
	// stamps are of the files that were looked at, to see when they change.
	stamps []stamp
}

func openPrompts(dir string, now time.Time) (*prompts, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	return &prompts{dir: dir, root: root, now: now}, nil
}

func (p *prompts) close() { p.root.Close() }

// read returns the text of a prompt.
func (p *prompts) read(ref string) (string, error) {
	inConfig, name, ok := splitPrompt(ref)
	if !ok {
		return "", fmt.Errorf("%q is no prompt", ref)
	}
	if inConfig {
		name = path.Join(Folder, name)
	}
	p.look(name)
	text, err := p.readFile(name)
	if err != nil {
		return "", fmt.Errorf("prompt %s: %w", ref, err)
	}
	return text, nil
}

// look notes what a file is like before it is read.
func (p *prompts) look(name string) {
	p.stamps = append(p.stamps, takeStamp(filepath.Join(p.dir, filepath.FromSlash(name)), p.now))
}

// hasDefault reports whether there is something in the default prompt's place;
// it counts as looked at. An empty file is nothing: another process may be about
// to write it.
func (p *prompts) hasDefault() bool {
	p.look(defaultPromptFile)
	info, err := p.root.Lstat(defaultPromptFile)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
	}
	return !info.Mode().IsRegular() || info.Size() > 0
}

func (p *prompts) readFile(name string) (string, error) {
	info, err := p.root.Stat(name) // before opening: a pipe would wait for its other end
	if err != nil {
		return "", reason(err)
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("not a regular file")
	}
	f, err := p.root.Open(name)
	if err != nil {
		return "", reason(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxPrompt+1))
	switch {
	case err != nil:
		return "", reason(err)
	case len(b) > maxPrompt:
		return "", fmt.Errorf("longer than %d bytes", maxPrompt)
	case !utf8.Valid(b):
		return "", errors.New("not UTF-8")
	case strings.TrimSpace(string(b)) == "":
		return "", errors.New("it is empty")
	}
	return string(b), nil
}

// reason is the error without the path, which the message has already.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// writeDefault writes the default prompt where there is none; it reports
// whether it did. What is there already is the operator's.
func (p *prompts) writeDefault() (bool, error) {
	if err := p.root.MkdirAll(path.Dir(defaultPromptFile), 0o755); err != nil {
		return false, err
	}
	return writeNew(p.root, defaultPromptFile, []byte(summarize.DefaultPrompt()))
}

// WriteDefaultPrompt writes the default prompt to [DefaultPromptPath] where it
// is missing, for whoever read the configuration with ReadOnly first.
func (c *Config) WriteDefaultPrompt() error {
	p, err := openPrompts(filepath.Dir(c.File), time.Now())
	if err != nil {
		return err
	}
	defer p.close()
	_, err = p.writeDefault()
	return err
}

// writeNew writes a file that is not there yet, and reports whether it did.
func writeNew(root *os.Root, name string, data []byte) (bool, error) {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		root.Remove(name) // half a file would be taken for the operator's
	}
	return err == nil, err
}
