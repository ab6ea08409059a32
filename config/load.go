package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/yamldoc"
	"github.com/kagewasm/kagewasm/strategies"
)

// Load reads a configuration with the prompts it names, and writes nothing: where
// there is no default prompt, the one that ships is used. Errors are *abi.Error of
// code bad_input that wrap [Problems]; a file that is not there is one too, and
// wraps fs.ErrNotExist.
func Load(path string) (*Config, error) {
	c, _, err := load(path, false)
	return c, err
}

// load also returns what was read, with an error as well. Where a configuration
// was there before, an empty file is an error: editors empty a file before they
// write.
func load(path string, before bool) (*Config, seen, error) {
	f, err := openFolder(path)
	if err != nil {
		return nil, nil, unreadable(path, err)
	}
	defer f.close()
	data, err := f.read(configuration)
	if err != nil {
		return nil, f.seen, unreadable(path, err)
	}
	n, r := read(path, data)
	if before && len(data) == 0 {
		r.fail(yamldoc.Pos{}, "it is empty, as a file is that is just being written: "+
			"write {} for a configuration without settings")
	}
	if err := r.problems.asError(); err != nil {
		return nil, f.seen, err
	}
	b := newBuilder(r, path)
	if !f.hasDefault() {
		b.config.prompts[defaultPrompt] = strategies.DefaultPrompt()
	}
	b.build(n)
	b.write(f.prompt)
	b.config.Digest = b.config.digest(data)
	return b.config, f.seen, r.problems.asError()
}

// None returns the configuration of a folder that has none, so that flags can be put on top with
// [Config.With].
func None(dir string) (*Config, error) {
	n, r := read(filepath.Join(dir, FileName), nil)
	b := newBuilder(r, r.name)
	b.config.prompts[defaultPrompt] = strategies.DefaultPrompt()
	b.build(n)
	return b.config, r.problems.asError()
}

func unreadable(path string, err error) error {
	e := &abi.Error{Code: abi.CodeBadInput, Op: "config", Message: path + ": " + reason(err).Error(), Err: err}
	if errors.Is(err, fs.ErrNotExist) {
		e.Hint = "kagewasm init writes one"
	}
	return e
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
