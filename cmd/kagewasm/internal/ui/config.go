package ui

import (
	"fmt"

	json "github.com/goccy/go-json"

	"github.com/kagewasm/kagewasm/config"
)

// Explanation shows the settings of an agent, and where each is from.
func Explanation(p Printer, x config.Explanation) {
	p.Linef("%s", heading(x))
	p.Linef("  summaries: %s", x.Writer)
	if len(x.Plugins) > 0 {
		p.Linef("  plugins: %s", Joined(x.Plugins))
	}
	p.Linef("")
	rows := make([][2]string, len(x.Settings))
	var wide [2]int
	for i, s := range x.Settings {
		rows[i] = [2]string{s.Name, valueText(s.Value)}
		wide[0], wide[1] = max(wide[0], len(s.Name)), max(wide[1], min(len(rows[i][1]), 40))
	}
	for i, s := range x.Settings {
		p.Linef("%-*s  %-*s  %s", wide[0], rows[i][0], wide[1], rows[i][1], s.Source)
	}
}

func heading(x config.Explanation) string {
	name := "the main agent"
	if x.Agent != "" {
		name = "agent " + x.Agent
	}
	switch {
	case x.Known == x.Agent:
	case x.Known == "":
		name += " (not in the file: as its top says)"
	default:
		name += " (as " + x.Known + ")"
	}
	if x.File == "" {
		return name + ": there is no " + config.FileName + " here or in a folder above (kagewasm init writes one)"
	}
	return name + ", by " + x.File
}

// valueText is a value for a person; "-" is none.
func valueText(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case string:
		return v
	}
	b, err := json.MarshalWithOption(v, json.DisableHTMLEscape())
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
