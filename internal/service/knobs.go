package service

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/store"
)

// Plugins are those of the configuration.
func (s *operator) Plugins(ctx context.Context) ([]Plugin, error) { return s.host.Plugins(ctx) }

// KnobValue is a setting of a plugin with its value.
type KnobValue struct {
	Name string   `json:"name"`
	Spec abi.Knob `json:"knob"`
	// Value is the one that holds; From says whose it is: default, configuration, or
	// operator (set here).
	Value json.RawMessage `json:"value"`
	From  string          `json:"from"`
}

// plugin finds one by its name.
func (s *operator) plugin(ctx context.Context, name string) (*Plugin, error) {
	list, err := s.host.Plugins(ctx)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if list[i].Name == name {
			return &list[i], nil
		}
	}
	return nil, unknown("plugin " + name + ": the configuration has none of that name")
}

// Knobs are the settings of a plugin and their values, for an agent or, where that is
// empty, for all.
func (s *operator) Knobs(ctx context.Context, name, agent string) ([]KnobValue, error) {
	p, err := s.plugin(ctx, name)
	if err != nil {
		return nil, err
	}
	if err := s.knowsAgent(agent); err != nil {
		return nil, err
	}
	set, err := s.store.Knobs(ctx, name, agent)
	if err != nil {
		return nil, err
	}
	list := []KnobValue{}
	for _, name := range slices.Sorted(maps.Keys(p.Knobs)) {
		k := KnobValue{Name: name, Spec: p.Knobs[name], Value: p.Knobs[name].Default, From: "default"}
		if v, ok := p.Configured[name]; ok {
			k.Value, k.From = v, "configuration"
		}
		if v, ok := set[name]; ok {
			k.Value, k.From = v, "operator"
		}
		list = append(list, k)
	}
	return list, nil
}

// SetKnobs sets values of a plugin's knobs, all or none: each has to be what its knob
// takes. It holds from the next compaction on.
func (s *operator) SetKnobs(ctx context.Context, name, agent string, values map[string]json.RawMessage) error {
	p, err := s.plugin(ctx, name)
	if err != nil {
		return err
	}
	if err := s.knowsAgent(agent); err != nil {
		return err
	}
	for _, knob := range slices.Sorted(maps.Keys(values)) {
		spec, ok := p.Knobs[knob]
		if !ok {
			return unknown("plugin " + name + " has no knob " + knob)
		}
		if err := spec.Check(values[knob]); err != nil {
			return &abi.Error{Code: abi.CodeUsage, Op: "knobs", Plugin: name, Message: "knob " + knob + ": " + err.Error(),
				Err: err}
		}
		if err := s.knowsModel(&spec, values[knob]); err != nil {
			return err
		}
	}
	return s.turn(ctx, func(tx *store.Tx) error {
		for knob, value := range values {
			if err := tx.SetKnob(ctx, name, agent, knob, value); err != nil {
				return err
			}
		}
		return nil
	})
}

// knowsModel is an error where the value of a knob names no alias of a model.
func (s *operator) knowsModel(spec *abi.Knob, value json.RawMessage) error {
	var alias string
	if spec.Type != abi.KnobModelAlias || json.Unmarshal(value, &alias) != nil || alias == "" {
		return nil
	}
	if slices.ContainsFunc(s.host.Models(), func(m Model) bool { return m.Alias == alias }) {
		return nil
	}
	return usage("knobs", "model "+alias+": the configuration has no such alias")
}

// ResetKnob takes back what was set here: the configuration's value holds, or the default.
func (s *operator) ResetKnob(ctx context.Context, name, agent, knob string) error {
	p, err := s.plugin(ctx, name)
	if err != nil {
		return err
	}
	if _, ok := p.Knobs[knob]; !ok {
		return unknown("plugin " + name + " has no knob " + knob)
	}
	return s.turn(ctx, func(tx *store.Tx) error { return tx.ResetKnob(ctx, name, agent, knob) })
}

func (s *operator) turn(ctx context.Context, change func(*store.Tx) error) error {
	if err := s.store.Update(ctx, change); err != nil {
		return err
	}
	s.host.KnobsChanged()
	s.hub.publish(Event{Type: EventKnobs})
	return nil
}
