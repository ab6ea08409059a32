package service

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/store"
)

// Setting is a setting of the engine with the value that holds for an agent.
type Setting struct {
	// Name is its path, such as compaction.upper_threshold.
	Name string `json:"name"`
	// Value is nil where nothing is said and there is no single default: Doc says what
	// happens then.
	Value any `json:"value"`
	// From says in words whose the value is.
	From string `json:"from"`
	// Set is what an operator set here, as it was written; empty where nothing is set.
	Set string `json:"set,omitempty"`
	Doc string `json:"doc"`
	// Knob is how a person sets it: by a slider, of a few words, or by what is written.
	Knob abi.Knob `json:"knob"`
}

// SettingsFor are the values that operators gave settings of an agent, by name: its own, and
// those for all agents.
func SettingsFor(ctx context.Context, s *store.Store, agent string) (map[string]string, error) {
	return changedFor(ctx, s, agent, "", func(map[string]string) {})
}

// changedFor are those values with what change makes of those that are set for an owner.
func changedFor(
	ctx context.Context, s *store.Store, agent, owner string, change func(map[string]string),
) (map[string]string, error) {
	owners := slices.Compact([]string{"", agent})
	kept, err := s.Kept(ctx, store.KeptSetting, owners...)
	values := make(map[string]string)
	for _, one := range owners {
		own := make(map[string]string)
		for _, k := range kept {
			var value string
			if k.Owner == one && json.Unmarshal(k.Value, &value) == nil {
				own[k.Name] = value
			}
		}
		if one == owner {
			change(own)
		}
		maps.Copy(values, own)
	}
	return values, err
}

// SettingsAgents are the agents that can have settings of their own: those of the configuration, and others that were
// given some before they went from it.
func (s *operator) SettingsAgents(ctx context.Context) ([]string, error) {
	list := s.host.Agents()
	kept, err := s.store.Kept(ctx, store.KeptSetting)
	for _, k := range kept {
		if !slices.Contains(list, k.Owner) {
			list = append(list, k.Owner)
		}
	}
	return list, err
}

// HasSettings is an error for an agent that has no settings of its own and is to be given none.
func (s *operator) HasSettings(ctx context.Context, agent string) error {
	known, err := s.SettingsAgents(ctx)
	if err == nil && !slices.Contains(known, agent) {
		err = s.knowsAgent(agent)
	}
	return err
}

// knowsAgent is an error where the configuration has no such agent. The empty path stands for all of them.
func (s *core) knowsAgent(path string) error {
	known := s.host.Agents()
	if path == "" || slices.Contains(known, path) {
		return nil
	}
	message := fmt.Sprintf("there is no agent %q: the configuration has ", path)
	if named := slices.DeleteFunc(slices.Clone(known), func(a string) bool { return a == "" }); len(named) > 0 {
		message += strings.Join(named, ", ")
	} else {
		message += "none but the main one"
	}
	return &abi.Error{Code: abi.CodeUsage, Message: message, Hint: "leave it empty for the main one"}
}

// Settings are those of the engine as they hold for an agent.
func (s *operator) Settings(ctx context.Context, agent string) ([]Setting, error) {
	values, err := SettingsFor(ctx, s.store, agent)
	if err != nil {
		return nil, err
	}
	list, err := s.host.Settings(agent, values)
	if err != nil && len(values) > 0 {
		err = &abi.Error{Code: abi.CodeOf(err), Message: abi.AsError(err).Message, Err: err,
			Hint: "what is set here is not used while this is so: DELETE /settings/NAME?agent=" + agent + " takes it back"}
	}
	return list, err
}

// SetSettings sets values, all or none: they are checked as if they stood in the
// configuration. They hold from the next look at a session on; those without an agent for
// all.
func (s *operator) SetSettings(ctx context.Context, agent string, values map[string]string) error {
	if err := s.knowsAgent(agent); err != nil {
		return err
	}
	if _, ok := values[""]; ok || len(values) == 0 {
		return usage("settings", "name a setting and give its value")
	}
	change := func(own map[string]string) { maps.Copy(own, values) }
	then, err := changedFor(ctx, s.store, agent, agent, change)
	if err == nil {
		_, err = s.host.Settings(agent, then)
	}
	if err == nil {
		err = s.checkChange(ctx, agent, change)
	}
	if err != nil {
		return err
	}
	return s.turn(ctx, func(tx *store.Tx) error {
		for name, value := range values {
			text, err := json.Marshal(value)
			if err != nil {
				return err
			}
			k := store.Kept{Kind: store.KeptSetting, Owner: agent, Name: name, Value: text}
			if err := k.Keep(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
}

// ResetSetting takes back what was set here for an agent: the configuration's value holds. It is refused where what
// is set beside it would not be valid any more, unless it is not now.
func (s *operator) ResetSetting(ctx context.Context, agent, name string) error {
	known, err := s.host.Settings(agent, nil)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(known, func(one Setting) bool { return one.Name == name }) {
		return unknown("there is no setting " + name)
	}
	if err := s.checkChange(ctx, agent, func(own map[string]string) { delete(own, name) }); err != nil {
		return err
	}
	k := store.Kept{Kind: store.KeptSetting, Owner: agent, Name: name}
	return s.turn(ctx, func(tx *store.Tx) error {
		_, err := k.Drop(ctx, tx)
		return err
	})
}

// checkChange is an error where a change of what is set for an owner, which is an agent or all of them, makes valid
// settings of an agent invalid.
func (s *operator) checkChange(ctx context.Context, owner string, change func(map[string]string)) error {
	agents := []string{owner}
	if owner == "" {
		known, err := s.SettingsAgents(ctx)
		if err != nil {
			return err
		}
		agents = append(agents, known...)
	}
	for _, agent := range agents {
		now, err := SettingsFor(ctx, s.store, agent)
		if err != nil {
			return err
		}
		if _, err := s.host.Settings(agent, now); err != nil {
			continue // each one that changes may be the one that is wrong
		}
		then, err := changedFor(ctx, s.store, agent, owner, change)
		if err != nil {
			return err
		}
		if _, err := s.host.Settings(agent, then); err != nil {
			return s.inTheWay(ctx, err, agent, owner, now, then, change)
		}
	}
	return nil
}

// inTheWay is the error of a change for all agents that one agent does not take, with the agent's name and the setting
// of its own that is in the way: the one that would have to be as all the others have it.
func (s *operator) inTheWay(
	ctx context.Context, err error, agent, owner string, now, then map[string]string, change func(map[string]string),
) error {
	if agent == owner {
		return err
	}
	all, failed := changedFor(ctx, s.store, "", "", change)
	if failed != nil {
		return failed
	}
	others, failed := s.host.Settings("", all)
	if failed != nil {
		return failed
	}
	its, failed := s.host.Settings(agent, now)
	if failed != nil {
		return failed
	}
	message := fmt.Sprintf("agent %s does not take it, with what it has of its own", agent)
	for i := range its {
		one := &its[i]
		at := slices.IndexFunc(others, func(other Setting) bool { return other.Name == one.Name })
		if at < 0 || now[one.Name] != then[one.Name] || reflect.DeepEqual(one.Value, others[at].Value) {
			continue
		}
		value, _ := json.Marshal(others[at].Value)
		with := maps.Clone(then)
		with[one.Name] = string(value)
		if _, err := s.host.Settings(agent, with); err == nil {
			message = fmt.Sprintf("agent %s has %s %v of its own (%s)", agent, one.Name, one.Value, one.From)
			break
		}
	}
	return &abi.Error{Code: abi.CodeOf(err), Message: message + ": " + abi.AsError(err).Message,
		Hint: "change it for this agent first: PUT /settings?agent=" + agent +
			", or DELETE /settings/NAME?agent=" + agent + " where it is set here", Err: err}
}
