package rerun

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
)

// plugin is a hooks.Plugin that answers as one did when the compaction was made. The module itself is not run:
// what it saw of the world then is not there any more.
type plugin struct {
	heard kagewasm.Heard
	// overruled: its cancel was not listened to.
	overruled bool
	used      func()
}

func (p *plugin) Manifest() *abi.Manifest          { return p.heard.Plugin }
func (p *plugin) Hooks() []abi.Hook                { return []abi.Hook{p.heard.Hook} }
func (p *plugin) Digest() string                   { return p.heard.Digest }
func (p *plugin) Granted(what abi.Capability) bool { return slices.Contains(p.heard.Granted, what) }

// Call answers again.
func (p *plugin) Call(context.Context, *abi.Input) (*abi.Output, abi.CallStats, error) {
	p.used()
	if p.heard.Error != nil {
		return nil, abi.CallStats{}, p.heard.Error
	}
	if len(p.heard.Output) == 0 {
		return nil, abi.CallStats{}, nil
	}
	out := new(abi.Output)
	if err := json.Unmarshal(p.heard.Output, out); err != nil {
		return nil, abi.CallStats{}, err
	}
	if p.overruled {
		out.Cancel = false
	}
	return out, abi.CallStats{}, nil
}

// plugins are those that took part in a compaction, with what they answered. It is an error
// where that was not recorded, or is that of another module than the log has.
func plugins(m *made, used func()) (list []*plugin, err error) {
	var missing []string
	for i := range m.ended.Report.Hooks {
		o := &m.ended.Report.Hooks[i]
		if o.Hook != abi.HookPreCompact || o.Outcome == "late" || o.Outcome == "quarantined" {
			continue // it was not there
		}
		at := slices.IndexFunc(m.ended.Said, func(h kagewasm.Heard) bool {
			return h.Hook == o.Hook && h.Plugin != nil && h.Plugin.Name == o.Plugin
		})
		if at < 0 || o.Outcome == "unstored" || m.ended.Said[at].Digest != m.triggered.Given.Plugins[o.Plugin] {
			missing = append(missing, o.Plugin)
			continue
		}
		list = append(list, &plugin{heard: m.ended.Said[at], overruled: o.Outcome == "overruled", used: used})
	}
	if len(missing) > 0 {
		return nil, unusable(m.compaction, "plugins took part, and what they answered is not recorded: "+
			strings.Join(missing, ", "))
	}
	return list, nil
}
