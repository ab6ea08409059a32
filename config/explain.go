package config

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
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
	at := fmt.Sprintf("%s:%d:%d", filepath.Base(s.File), s.Line, s.Column)
	switch {
	case s.Kind == fromFlag:
		return s.Name
	case s.Kind == fromFile:
		out = at
	case s.Kind != fromDefault:
		out += " " + s.Name
	}
	if s.Kind != fromFile && s.Line > 0 {
		out += " (" + at + ")"
	}
	if s.As != "" {
		out += ", as " + s.As
	}
	if s.Inherited {
		out += ", inherited from " + cmp.Or(s.Agent, "the top")
	}
	return out
}

// Setting is one value that holds.
type Setting struct {
	// Name is its path, such as compaction.upper_threshold.
	Name string `json:"name"`
	// Value as JSON has it; nil where nothing is said and there is no single
	// default: Doc says what happens. Fractions that follow from others are rounded to four places.
	Value  any    `json:"value"`
	Source Source `json:"source"`
	Doc    string `json:"doc"`
	// Knob is how a page lets a person set it.
	Knob abi.Knob `json:"-"`
}

// Explanation is all that holds for an agent.
type Explanation struct {
	// Agent is the path that was asked for, Known the one of the agent that the
	// configuration has for it.
	Agent string `json:"agent"`
	Known string `json:"known"`
	// File is the configuration, empty where there is none.
	File string `json:"file"`
	// Plugins are all that take part, the compactor first.
	Plugins  []string  `json:"plugins"`
	Writer   Writer    `json:"writer"`
	Settings []Setting `json:"settings"`
}

// Explain returns what holds for an agent, with settings on top of the file as in [Config.With], and
// where each value comes from.
func (c *Config) Explain(agentPath string, sets ...string) (Explanation, error) {
	a, err := c.With(agentPath, sets...)
	if err != nil {
		return Explanation{}, err
	}
	e := Explanation{Agent: agentPath, Known: a.Path, File: c.File, Writer: a.Writer}
	e.Plugins = append([]string{}, a.Plugins()...)
	x := explainer{c, a}
	for _, f := range agentSettings() {
		s := Setting{Name: f.path, Doc: f.Doc, Value: f.Default, Source: Source{Kind: fromDefault}, Knob: f.knob()}
		n := a.said.find(f.path)
		if n != nil {
			s.Source = x.source(n)
		}
		if n == nil || n.null {
			x.derive(&s)
		} else {
			s.Value = n.plain()
		}
		e.Settings = append(e.Settings, s)
	}
	return e, nil
}

// mostSteps is how many steps a slider has at most: a number of a larger range is written.
const mostSteps = 1000

// knob is how a person sets the field: what has a few words has these to choose from, and what has narrow bounds a
// slider.
func (f *field) knob() abi.Knob {
	const fraction = 0.01
	switch {
	case f.Kind == boolean:
		return abi.Knob{Type: abi.KnobBoolean}
	case len(f.Choices) > 0:
		return abi.Knob{Type: abi.KnobEnum, Values: f.Choices}
	case f.Alias:
		return abi.Knob{Type: abi.KnobModelAlias}
	case f.Kind == integer && f.Max > 0 && f.Max-f.Min <= mostSteps:
		return abi.Knob{Type: abi.KnobIntRange, Min: f.Min, Max: f.Max, Step: 1}
	case f.Kind == number && f.Over && f.Max == 1:
		return abi.Knob{Type: abi.KnobRange, Min: f.Min + fraction, Max: f.Max, Step: fraction}
	}
	return abi.Knob{Type: abi.KnobText}
}

type explainer struct {
	config *Config
	agent  *Agent
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
	name := ""
	if n := x.config.root.kid("models").kid(x.agent.Model).kid("model"); n != nil && !n.null {
		name, _ = n.plain().(string)
	}
	upper, lower := p.When.Thresholds(name)
	byProfile := false
	shown := func(share float64) any { return math.Round(share*1e4) / 1e4 }
	if name == "" && p.When.Profile == kagewasm.ProfileAuto && (p.When.Upper == 0 || p.When.Lower == 0) {
		shown = func(float64) any { return nil } // the model's own
	}
	switch s.Name {
	case "compaction.upper_threshold":
		s.Value, byProfile = shown(upper), p.When.Profile != ""
	case "compaction.lower_threshold":
		s.Value, byProfile = shown(lower), p.When.Profile != ""
	case "compaction.idle_upper":
		s.Value = shown((upper + lower) / 2)
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
	if byProfile {
		s.Source.Kind, s.Source.Name = fromProfile, p.When.Profile
	}
}
