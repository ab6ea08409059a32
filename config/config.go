package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/yamldoc"
	"github.com/kagewasm/kagewasm/tokens"
)

// FileName is what a configuration is called.
const FileName = "kagewasm.yaml"

// Options of loading.
type Options struct {
	// ReadOnly writes nothing. Otherwise the default prompt is written to
	// [DefaultPromptPath] where it is missing (FEATURES K24).
	ReadOnly bool
}

// Config is a configuration that was read and checked. It never changes, and
// what it hands out must not be changed.
type Config struct {
	// File is the path it was read from.
	File string
	// Digest is the SHA-256, in hex, of the file and of the prompts of its
	// agents: another one says that something was changed.
	Digest string
	// Models and Plugins by alias and name.
	Models  map[string]Model
	Plugins map[string]Plugin
	// Overrides are for [tokens.Catalog.Resolve]: those of the file, then what
	// it says under the aliases.
	Overrides []tokens.Override
	// Warnings are what did not keep it from being used.
	Warnings []string

	agents map[string]*Agent
	root   *node
	refs   map[string]string // texts of prompts
}

// Agent is what holds for one agent, inherited values included.
type Agent struct {
	// Path is its place in the tree: "main/reviewer". The top of the file is "".
	Path string
	// Model is the alias of its model; empty where none is configured.
	Model string
	// Window is its context window in tokens: what it says itself, else what
	// its model's alias does; 0 leaves it to the catalog.
	Window int
	// Compactor and Observers are names of plugins. Compactor may be among the
	// observers too.
	Compactor string
	Observers []string
	// Writer is who writes its summaries. Policy has it already.
	Writer Writer
	Policy kagewasm.Policy

	prompt, summaryPrompt, helper string
	said                          *node
}

// Plugins are all plugins of the agent, the compactor first.
func (a *Agent) Plugins() []string {
	if a.Compactor == "" {
		return a.Observers
	}
	rest := slices.DeleteFunc(slices.Clone(a.Observers), func(name string) bool { return name == a.Compactor })
	return append([]string{a.Compactor}, rest...)
}

// Load reads a configuration with the prompts it names. Errors are *abi.Error
// of code bad_input that wrap [Problems]; a file that is not there is one too,
// and wraps fs.ErrNotExist.
func Load(path string, opts Options) (*Config, error) {
	c, _, err := loadFiles(path, opts, time.Now(), true)
	return c, err
}

func unreadable(path string, err error) error {
	e := &abi.Error{Code: abi.CodeBadInput, Op: "config", Message: path + ": " + reason(err).Error(), Err: err}
	if errors.Is(err, fs.ErrNotExist) {
		e.Hint = "kagewasm init writes one"
	}
	return e
}

// loadFiles also returns what the files looked like that it read, with an error
// as well. Where empty is not set, a file without a byte is an error.
func loadFiles(path string, opts Options, now time.Time, empty bool) (*Config, []stamp, error) {
	stamps := []stamp{takeStamp(path, now)}
	data, err := readConfig(path)
	if err != nil {
		return nil, stamps, unreadable(path, err)
	}
	n, r := read(path, data)
	if len(data) == 0 && !empty {
		r.fail(yamldoc.Pos{}, "it is empty, as a file is that is just being written: write {} for a configuration without settings")
	}
	if err := r.problems.asError(); err != nil {
		return nil, stamps, err
	}
	p, err := openPrompts(filepath.Dir(path), now)
	if err != nil {
		return nil, stamps, unreadable(filepath.Dir(path), err)
	}
	defer p.close()
	b := newBuilder(r, path)
	b.readDefault(p, opts)
	b.build(n)
	b.write(p.read)
	stamps = append(stamps, p.stamps...)
	if err := r.problems.asError(); err != nil {
		return nil, stamps, err
	}
	b.config.Digest = b.config.digest(data)
	return b.config, stamps, nil
}

// digest is of the file and of what its agents' prompts say.
func (c *Config) digest(data []byte) string {
	h := sha256.New()
	part := func(s string) { fmt.Fprintf(h, "%d:%s", len(s), s) }
	part(string(data))
	for _, path := range c.Agents() {
		part(c.agents[path].Policy.Summarize.Prompt)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// readConfig reads no more than a configuration may have, and no pipe, which
// would wait for its other end.
func readConfig(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, yamldoc.MaxBytes+1))
}

// Check reports what is wrong with a configuration as far as the text alone
// shows it: no prompt is read. name is the file's, for errors.
func Check(name string, data []byte) error {
	n, r := read(name, data)
	if len(r.problems) == 0 {
		b := newBuilder(r, name)
		b.build(n)
		b.write(func(string) (string, error) { return "", nil })
	}
	return r.problems.asError()
}

// Agents are the paths of all agents, sorted; the top of the file is "".
func (c *Config) Agents() []string { return slices.Sorted(maps.Keys(c.agents)) }

// Agent finds an agent. A session's main agent has the empty path: that is the
// agent called main where there is one, else the top of the file. Agents that
// the configuration does not know, at the top or below main, inherit all from
// the nearest one above them that it knows.
func (c *Config) Agent(path string) *Agent {
	if a, ok := c.agents[path]; ok && path != "" {
		return a
	}
	for _, under := range []string{"", mainAgent + "/"} {
		for p := path; p != ""; p = parent(p) {
			if a, ok := c.agents[under+p]; ok {
				return a
			}
		}
	}
	if a, ok := c.agents[mainAgent]; ok {
		return a
	}
	return c.agents[""]
}

const mainAgent = "main"

// parent is the path above, "" for a name without one.
func parent(path string) string {
	return path[:max(strings.LastIndexByte(path, '/'), 0)]
}

// Policy is the policy of an agent, by the rules of [Config.Agent].
func (c *Config) Policy(agentPath string) kagewasm.Policy { return c.Agent(agentPath).Policy }
