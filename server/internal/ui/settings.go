package ui

import (
	"encoding/json"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/service"
)

// settingsData is the page of the engine's settings.
type settingsData struct {
	Agent  string // the one that the values are for, empty for all
	Agents []string
	Models []service.Model
	Rows   []settingRow
	Wrong  string // why what was sent was not taken
}

// settingRow is a setting as a form has it.
type settingRow struct {
	service.Setting
	Shown string // the value as a person writes it
	Kind  string // type of its knob; text where a slider or a list has no place for the value
}

func (p operatorPages) settingsOf(r *http.Request) (*settingsData, error) {
	d := &settingsData{Agent: r.FormValue("agent"), Models: p.s.Models()}
	var err error
	if d.Agents, err = p.s.SettingsAgents(r.Context()); err != nil {
		return nil, err
	}
	list, err := p.s.Settings(r.Context(), d.Agent)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		row := settingRow{Setting: s, Kind: string(s.Knob.Type)}
		text, err := json.Marshal(s.Value)
		if err != nil {
			return nil, err
		}
		if row.Shown = shown(text); s.Value == nil {
			row.Shown = ""
		}
		if !row.fits(d.Models) {
			row.Kind = string(abi.KnobText)
		}
		d.Rows = append(d.Rows, row)
	}
	return d, nil
}

// fits reports whether what the knob offers has the value among it, so that nothing else is sent by who only looks.
func (r *settingRow) fits(models []service.Model) bool {
	switch r.Knob.Type {
	case abi.KnobBoolean:
		return r.Shown == "true" || r.Shown == "false"
	case abi.KnobEnum:
		return r.Shown == "" || slices.Contains(r.Knob.Values, r.Shown)
	case abi.KnobModelAlias:
		return r.Shown == "" || slices.ContainsFunc(models, func(m service.Model) bool { return m.Alias == r.Shown })
	case abi.KnobRange, abi.KnobIntRange:
		n, err := strconv.ParseFloat(r.Shown, 64)
		const rounding = 1e-9                            // of what is no fraction of two
		off := math.Remainder(n-r.Knob.Min, r.Knob.Step) // a browser moves what stands between two steps
		return err == nil && r.Knob.Min <= n && n <= r.Knob.Max && math.Abs(off) < rounding
	}
	return true
}

func (p operatorPages) settings(r *http.Request) (*view, error) {
	if err := p.s.HasSettings(r.Context(), r.FormValue("agent")); err != nil {
		return nil, err
	}
	d, err := p.settingsOf(r)
	return &view{template: "settings.html", title: "Settings", data: d}, err
}

// setSetting takes the value of one setting; of one that is none the page says why.
func (p operatorPages) setSetting(r *http.Request) (*view, error) {
	name, value := r.PostFormValue("setting"), r.PostFormValue("value")
	agent := r.PostFormValue("agent")
	if err := p.s.SetSettings(r.Context(), agent, map[string]string{name: value}); err != nil {
		d, again := p.settingsOf(r)
		if again != nil {
			return nil, again
		}
		d.Wrong = err.Error()
		return &view{template: "settings.html", title: "Settings", data: d, status: http.StatusUnprocessableEntity}, nil
	}
	return &view{goTo: settingsPath(agent) + "&done=setting"}, nil
}

func (p operatorPages) resetSetting(r *http.Request) (*view, error) {
	agent := r.PostFormValue("agent")
	err := p.s.ResetSetting(r.Context(), agent, r.PostFormValue("setting"))
	if err == nil && p.s.HasSettings(r.Context(), agent) != nil {
		agent = "" // that was its last one, and the configuration has no such agent
	}
	return &view{goTo: settingsPath(agent) + "&done=unset"}, err
}

func settingsPath(agent string) string { return "/settings?" + url.Values{"agent": {agent}}.Encode() }
