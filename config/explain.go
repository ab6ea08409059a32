package config

import (
	"fmt"
	"path/filepath"

	kagewasm "github.com/kagewasm/kagewasm"
)

// Kinds of sources.
const (
	fromFile    = "file"
	fromDefault = "default"
	fromProfile = "profile"
	fromModel   = "model"
	fromFlag    = "flag"
)

// Source is where a value comes from.
type Source struct {
	// Kind is "file", "default", "profile" (of the profile that is chosen), "model"
	// (what is said of the agent's model) or "flag".
	Kind string `json:"kind"`
	// File, Line and Column are where it stands; with kind default, where a "~"
	// asks for the default.
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	Column int    `json:"column,omitempty"`
	// Inherited is set where another agent says it: Agent, "" being the top of
	// the file.
	Inherited bool   `json:"inherited,omitempty"`
	Agent     string `json:"agent,omitempty"`
	// Name of the profile, the model or the flag.
	Name string `json:"name,omitempty"`
	// As is the spelling that was used, where it is not the setting's name.
	As string `json:"as,omitempty"`
}

// String says it for a person: "kagewasm.yaml:7:5, inherited from main".
func (s Source) String() string {
	out := s.Kind
	if s.Kind == fromProfile || s.Kind == fromModel {
		out += " " + s.Name
	}
	if s.Kind == fromFlag {
		return s.Name
	}
	if s.Line > 0 {
		at := fmt.Sprintf("%s:%d:%d", filepath.Base(s.File), s.Line, s.Column)
		if s.Kind == fromFile {
			out = at
		} else {
			out += " (" + at + ")"
		}
	}
	if s.As != "" {
		out += ", as " + s.As
	}
	if s.Inherited && s.Agent == "" {
		out += ", inherited from the top"
	} else if s.Inherited {
		out += ", inherited from " + s.Agent
	}
	return out
}

// Setting is one value that holds.
type Setting struct {
	// Name is its path, such as compaction.upper_threshold.
	Name string `json:"name"`
	// Value as JSON has it; nil where nothing is said and there is no single
	// default: Doc says what happens.
	Value  any    `json:"value"`
	Source Source `json:"source"`
	Doc    string `json:"doc"`
}

// Explanation is all that holds for an agent.
type Explanation struct {
	// Agent is the path that was asked for, Known the one of the agent that the
	// configuration has for it.
	Agent string `json:"agent"`
	Known string `json:"known"`
	File  string `json:"file"`
	// Plugins are all that take part, the compactor first.
	Plugins  []string  `json:"plugins"`
	Writer   Writer    `json:"writer"`
	Settings []Setting `json:"settings"`
}

// Explain says what holds for an agent, with settings on top of the file as in
// [Config.With], and where each value comes from.
func (c *Config) Explain(agentPath string, sets ...string) (Explanation, error) {
	a, err := c.With(agentPath, sets...)
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{Agent: agentPath, Known: a.Path, File: c.File, Plugins: a.Plugins(), Writer: a.Writer}
	if e.Plugins == nil {
		e.Plugins = []string{}
	}
	x := explainer{c, a}
	for name, f := range settings() {
		e.Settings = append(e.Settings, x.setting(name, f))
	}
	return e, nil
}

type explainer struct {
	config *Config
	agent  *Agent
}

func (x explainer) setting(name string, f *field) Setting {
	s := Setting{Name: name, Doc: f.Doc, Value: f.Default, Source: Source{Kind: fromDefault}}
	n := x.agent.said.find(name)
	if n != nil {
		s.Source = x.source(n)
	}
	if n == nil || n.null {
		x.derive(&s)
		return s
	}
	s.Value = n.plain()
	return s
}

func (x explainer) source(n *node) Source {
	s := Source{Kind: fromFile, File: x.config.File, Line: n.pos.Line, Column: n.pos.Column, As: n.wrote}
	switch {
	case n.flag != "":
		return Source{Kind: fromFlag, Name: n.flag}
	case n.null:
		s.Kind = fromDefault
	}
	if n.agent != x.agent.Path {
		s.Inherited, s.Agent = true, n.agent
	}
	return s
}

// derive fills in what follows from other settings.
func (x explainer) derive(s *Setting) {
	p := &x.agent.Policy
	upper, lower := p.When.Thresholds("")
	switch s.Name {
	case "compaction.upper_threshold":
		s.Value = upper
		x.byProfile(s)
	case "compaction.lower_threshold":
		s.Value = lower
		x.byProfile(s)
	case "compaction.idle_upper":
		s.Value = (upper + lower) / 2
	case "compaction.recent.tokens":
		if p.When.ReserveTokens > 0 && !p.Keep.Recent() && p.Keep.ToolTokens == 0 {
			s.Value = kagewasm.DefaultKeepRecentTokens
		}
	case "context":
		if n := x.config.root.kid("models").kid(x.agent.Model).kid("context_window"); n != nil && !n.null {
			s.Value, s.Source = n.plain(), x.source(n)
			s.Source.Kind, s.Source.Name = fromModel, x.agent.Model
			s.Source.Inherited, s.Source.Agent = false, ""
		}
	}
}

func (x explainer) byProfile(s *Setting) {
	if p := x.agent.Policy.When.Profile; p != "" {
		s.Source.Kind, s.Source.Name = fromProfile, p
	}
}
