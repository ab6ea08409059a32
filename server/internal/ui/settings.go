package ui

import (
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/kagewasm/kagewasm/internal/service"
)

// settingsData is the page of the engine's settings.
type settingsData struct {
	Agent  string // the one that the values are for, empty for all
	Agents []string
	Rows   []settingRow
	Wrong  string // why what was sent was not taken
}

// settingRow is a setting as a form has it.
type settingRow struct {
	service.Setting
	Shown string // the value as a person writes it
	Kind  string // truth, number or text
}

func (p operatorPages) settingsOf(r *http.Request) (*settingsData, error) {
	d := &settingsData{Agent: r.FormValue("agent"), Agents: p.s.Agents()}
	list, err := p.s.Settings(r.Context(), d.Agent)
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		row := settingRow{Setting: s, Kind: "text"}
		text, err := json.Marshal(s.Value)
		if err != nil {
			return nil, err
		}
		switch s.Value.(type) {
		case bool:
			row.Kind = "truth"
		case float64, int:
			row.Kind = "number"
		}
		if row.Shown = shown(text); s.Value == nil {
			row.Shown = ""
		}
		d.Rows = append(d.Rows, row)
	}
	return d, nil
}

func (p operatorPages) settings(r *http.Request) (*view, error) {
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
	return &view{goTo: settingsPath(agent) + "&done=unset"}, err
}

func settingsPath(agent string) string { return "/settings?" + url.Values{"agent": {agent}}.Encode() }
