package rerun

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/callrecord"
)

// plugin is a hooks.Plugin that is run as when the compaction was made, or answers as one
// did then.
type plugin struct {
	heard kagewasm.Heard
	// overruled: its cancel was not listened to.
	overruled bool
	// module is run with the record; nil where why says that it is not.
	module hooks.Plugin
	record *callrecord.Record
	why    string

	mu        sync.Mutex
	asked     int
	different string // what was otherwise
}

func (p *plugin) Manifest() *abi.Manifest          { return p.heard.Plugin }
func (p *plugin) Hooks() []abi.Hook                { return []abi.Hook{p.heard.Hook} }
func (p *plugin) Digest() string                   { return p.heard.Digest }
func (p *plugin) Granted(what abi.Capability) bool { return slices.Contains(p.heard.Granted, what) }

// find looks for the module, and for what it needs to be run again.
func (p *plugin) find(ctx context.Context, load Load) error {
	r := new(callrecord.Record)
	switch {
	case load == nil:
		p.why = "its module was not looked for"
	case len(p.heard.Record) == 0:
		p.why = "what its host calls were answered is not recorded"
	case json.Unmarshal(p.heard.Record, r) != nil:
		p.why = "what is recorded of its host calls is damaged"
	case r.Over:
		p.why = "its host calls were answered more than is recorded"
	case p.heard.Error != nil && p.heard.Error.Code != abi.CodeTrap && p.heard.Error.Code != abi.CodeBadOutput:
		p.why = "it failed by " + string(p.heard.Error.Code) + ", which depends on the machine"
	}
	if p.why != "" {
		return nil
	}
	module, err := load(ctx, &p.heard, r.Config, r.Limits)
	if err != nil {
		return err
	}
	if p.module, p.record = module, r.Replay(); module == nil {
		p.why = "no module of its digest was found: name it with --plugin"
	}
	return nil
}

// Call runs the module, or answers again.
func (p *plugin) Call(ctx context.Context, in *abi.Input) (*abi.Output, abi.CallStats, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	out, err := p.answered()
	if p.module != nil && p.asked == 1 {
		out, err = p.run(ctx, in)
	}
	if err == nil && out != nil && p.overruled {
		out.Cancel = false
	}
	return out, abi.CallStats{}, err
}

// answered is what it answered when the compaction was made.
func (p *plugin) answered() (*abi.Output, error) {
	if p.heard.Error != nil {
		return nil, p.heard.Error
	}
	if len(p.heard.Output) == 0 {
		return nil, nil
	}
	out := new(abi.Output)
	return out, json.Unmarshal(p.heard.Output, out)
}

// run runs the module, and notes what is otherwise.
func (p *plugin) run(ctx context.Context, in *abi.Input) (*abi.Output, error) {
	again := *in
	again.Call, again.Time = p.record.Call, p.record.Time
	out, _, err := p.module.Call(p.record.In(ctx), &again)
	var now []byte
	if out != nil && err == nil {
		now, _ = json.Marshal(out) // which was read from JSON
	}
	switch missed := p.record.Missed(); {
	case missed != "":
		p.different = missed
	case abi.CodeOf(err) != abi.CodeOf(errorOf(p.heard.Error)):
		p.different = fmt.Sprintf("it fails by %q, and failed by %q", abi.CodeOf(err), abi.CodeOf(errorOf(p.heard.Error)))
	case !bytes.Equal(now, p.heard.Output):
		p.different = "it answers otherwise"
	}
	return out, err
}

// errorOf is an error, and none where there is none.
func errorOf(e *abi.Error) error {
	if e == nil {
		return nil
	}
	return e
}

// tell notes in the report what came of the plugin.
func (p *plugin) tell(r *Report) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := p.heard.Plugin.Name
	switch {
	case p.module == nil:
		r.Plugins += p.asked
		if r.NotRun == nil {
			r.NotRun = make(map[string]string)
		}
		r.NotRun[name] = p.why
	case p.asked == 0:
		r.Differences = append(r.Differences, "plugin "+name+": it is not asked")
	default:
		r.Ran = append(r.Ran, name)
		if p.different != "" {
			r.Differences = append(r.Differences, "plugin "+name+": "+p.different)
		}
	}
}

// plugins are those that took part in a compaction, with what they answered. It is an error
// where that was not recorded, or is that of another module than the log has.
func plugins(m *made) (list []*plugin, err error) {
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
		list = append(list, &plugin{heard: m.ended.Said[at], overruled: o.Outcome == "overruled"})
	}
	if len(missing) > 0 {
		return nil, unusable(m.compaction, "plugins took part, and what they answered is not recorded: "+
			strings.Join(missing, ", "))
	}
	return list, nil
}
