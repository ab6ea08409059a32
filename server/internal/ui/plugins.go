package ui

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/store"
)

type pluginsData struct {
	Plugins []service.Plugin
	Hooks   []store.HookStats
}

func (p operatorPages) plugins(r *http.Request) (*view, error) {
	list, err := p.s.Plugins(r.Context())
	if err != nil {
		return nil, err
	}
	stats, err := p.s.Stats(r.Context(), "")
	if err != nil {
		return nil, err
	}
	return &view{template: "plugins.html", title: "Plugins", data: &pluginsData{list, stats.Hooks}}, nil
}

// pluginData is the page of a plugin with its knobs.
type pluginData struct {
	Plugin *service.Plugin
	Agent  string // the one that the values are for, empty for all
	Agents []string
	Models []service.Model
	Knobs  []knob
	Hooks  []store.HookStats
	// Wrong is why what was sent was not taken.
	Wrong string
}

// knob is a setting as a form has it.
type knob struct {
	service.KnobValue
	// Shown is the value as a person writes it.
	Shown string
	// Wrong says why the value that was sent is none.
	Wrong string
}

// Label is what a person calls it.
func (k *knob) Label() string {
	if k.Spec.Label != "" {
		return k.Spec.Label
	}
	return k.Name
}

// Step is that of a slider: any where the knob names none.
func (k *knob) Step() string {
	switch {
	case k.Spec.Step > 0:
		return strconv.FormatFloat(k.Spec.Step, 'g', -1, 64)
	case k.Spec.Type == abi.KnobIntRange:
		return "1"
	}
	return "any"
}

// MaxLength is how long a text may be.
func (k *knob) MaxLength() int {
	if k.Spec.MaxLength > 0 {
		return k.Spec.MaxLength
	}
	return 4096
}

// Options are the values of an enum with what to show for them.
func (k *knob) Options() (list [][2]string) {
	for i, v := range k.Spec.Values {
		label := v
		if i < len(k.Spec.Labels) {
			label = k.Spec.Labels[i]
		}
		list = append(list, [2]string{v, label})
	}
	return list
}

// shown is a value as a person writes it.
func shown(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil {
		return s
	}
	return string(value)
}

func (p operatorPages) pluginOf(r *http.Request) (*pluginData, error) {
	d := &pluginData{Agent: r.FormValue("agent"), Agents: p.s.Agents(), Models: p.s.Models()}
	list, err := p.s.Plugins(r.Context())
	if err != nil {
		return nil, err
	}
	name := r.PathValue("name")
	for i := range list {
		if list[i].Name == name {
			d.Plugin = &list[i]
		}
	}
	values, err := p.s.Knobs(r.Context(), name, d.Agent)
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		d.Knobs = append(d.Knobs, knob{KnobValue: v, Shown: shown(v.Value)})
	}
	stats, err := p.s.Stats(r.Context(), "")
	if err != nil {
		return nil, err
	}
	for _, h := range stats.Hooks {
		if h.Plugin == name {
			d.Hooks = append(d.Hooks, h)
		}
	}
	return d, nil
}

func (p operatorPages) plugin(r *http.Request) (*view, error) {
	d, err := p.pluginOf(r)
	if err != nil {
		return nil, err
	}
	return &view{template: "plugin.html", title: "Plugin " + d.Plugin.Name, data: d}, nil
}

// setKnobs takes the values of a form, all or none. Those that are as they were stay
// whose they are.
func (p operatorPages) setKnobs(r *http.Request) (*view, error) {
	d, err := p.pluginOf(r)
	if err != nil {
		return nil, err
	}
	values, wrong := make(map[string]json.RawMessage), false
	for i := range d.Knobs {
		k := &d.Knobs[i]
		sent := r.PostFormValue("knob." + k.Name)
		if k.Spec.Type == abi.KnobBoolean {
			sent = strconv.FormatBool(sent == "true")
		}
		if sent == k.Shown {
			continue
		}
		k.Shown = sent
		value, err := parsed(&k.Spec, sent)
		if err != nil {
			k.Wrong, wrong = err.Error(), true
			continue
		}
		values[k.Name] = value
	}
	if !wrong && len(values) > 0 {
		if err := p.s.SetKnobs(r.Context(), d.Plugin.Name, d.Agent, values); err != nil {
			d.Wrong, wrong = err.Error(), true
		}
	}
	if wrong {
		return &view{template: "plugin.html", title: "Plugin " + d.Plugin.Name, data: d,
			status: http.StatusUnprocessableEntity}, nil
	}
	return &view{goTo: pluginPath(d) + "&done=knobs"}, nil
}

// parsed is a value that a person wrote: a number or a truth as JSON, else text.
func parsed(spec *abi.Knob, sent string) (json.RawMessage, error) {
	value := json.RawMessage(sent)
	switch spec.Type {
	case abi.KnobRange, abi.KnobIntRange, abi.KnobBoolean:
		if !json.Valid(value) {
			value, _ = json.Marshal(sent)
		}
	default:
		var err error
		if value, err = json.Marshal(sent); err != nil {
			return nil, err
		}
	}
	return value, spec.Check(value)
}

func pluginPath(d *pluginData) string {
	return "/plugins/" + url.PathEscape(d.Plugin.Name) + "?" + url.Values{"agent": {d.Agent}}.Encode()
}

func (p operatorPages) resetKnob(r *http.Request) (*view, error) {
	d, err := p.pluginOf(r)
	if err != nil {
		return nil, err
	}
	err = p.s.ResetKnob(r.Context(), d.Plugin.Name, d.Agent, r.PostFormValue("knob"))
	return &view{goTo: pluginPath(d) + "&done=reset"}, err
}

func (p operatorPages) resetBreaker(r *http.Request) (*view, error) {
	name := r.PathValue("name")
	err := p.s.ResetBreaker(r.Context(), name)
	return &view{goTo: "/plugins/" + url.PathEscape(name) + "?done=breaker"}, err
}
