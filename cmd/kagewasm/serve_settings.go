package main

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/config"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/strategies"
)

// shippedPrompt is where the prompt of summaries lies once somebody wrote it there.
const shippedPrompt = "config:/" + strategies.PromptFile

// Prompt implements service.Host.
func (h *serveHost) Prompt(path string) (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := h.current().conf
	switch {
	case c != nil:
	case path == shippedPrompt:
		return strategies.DefaultPrompt(), nil
	default:
		return "", &abi.Error{Code: abi.CodeUsage, Op: "prompt", Message: path + ": it would lie beside " + config.FileName +
			", and this server has none", Hint: "leave it empty for the prompt that ships, or start the server where " +
			config.FileName + " is: kagewasm init writes one"}
	}
	a, err := c.With("", "prompt="+path)
	if err != nil {
		return "", notTaken(err)
	}
	return a.Policy.Summarize.Prompt, nil
}

// withSettings is a configuration with the values that operators gave settings of an agent.
// Those that it does not take any more are left out.
func (h *serveHost) withSettings(ctx context.Context, conf configured, path string) (configured, error) {
	values, err := service.SettingsFor(ctx, h.store, path)
	if err != nil || len(values) == 0 {
		return conf, err
	}
	with, err := configuredWith(conf.file, path, values)
	if err != nil {
		h.log.Warn("settings that were set on the page are not used", "agent", path, "error", err)
		return conf, nil
	}
	return with, nil
}

func configuredWith(c *config.Config, path string, values map[string]string) (configured, error) {
	if c == nil {
		var err error
		if c, err = config.None("."); err != nil {
			return configured{}, err
		}
	}
	a, err := c.With(path, setsOf(values)...)
	return configured{file: c, agent: a}, err
}

// notTaken is the error of what a page or a client set, without the flag that it would be on the command line.
func notTaken(err error) error {
	const flag = "--set "
	var lines []string
	for _, p := range config.ProblemsOf(err) {
		if p.File = strings.TrimPrefix(p.File, flag); p.Line > 0 {
			p.File = filepath.Base(p.File) // as the values' places have it
		}
		lines = append(lines, p.String())
	}
	return &abi.Error{Code: abi.CodeOf(err), Message: strings.Join(lines, "\n"), Err: err}
}

func setsOf(values map[string]string) (sets []string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		sets = append(sets, name+"="+values[name])
	}
	return sets
}

// Settings implements service.Host.
func (h *serveHost) Settings(agent string, values map[string]string) ([]service.Setting, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	conf, err := configuredWith(h.current().conf, agent, values)
	if err != nil {
		return nil, notTaken(err)
	}
	e, err := conf.file.Explain(agent, setsOf(values)...)
	if err != nil {
		return nil, notTaken(err)
	}
	list := make([]service.Setting, len(e.Settings))
	for i, s := range e.Settings {
		list[i] = service.Setting{Name: s.Name, Value: s.Value, From: s.Source.String(), Doc: s.Doc, Set: values[s.Name],
			Knob: s.Knob}
		if list[i].Set != "" {
			list[i].From = "set here"
		}
	}
	return list, nil
}
