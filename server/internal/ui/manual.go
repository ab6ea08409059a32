package ui

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/store"
)

// manualForm is what an operator says of a compaction by hand, as the form has it.
type manualForm struct {
	Row *store.Session
	// What there is to choose from.
	Agents, Strategies []string

	Agent, Strategy, Summarize, Prompt, Instructions string
	// Upper and Lower are percentages, Target and KeepLast numbers; empty is what is
	// configured.
	Upper, Lower, Target, KeepLast string
	// Configured holds where the form says nothing.
	Configured struct {
		Strategy, Prompt string
		Upper, Lower     int // percentages
	}
}

func (p compactionPages) formOf(r *http.Request) (*manualForm, error) {
	row, err := p.s.Session(r.Context(), r.PathValue("key"))
	if err != nil {
		return nil, err
	}
	f := &manualForm{Row: row, Agents: p.s.Agents(), Strategies: kagewasm.Strategies(), Agent: row.Agent}
	agent, err := p.s.Host().Agent(r.Context(), row.Agent, row.Model)
	if err != nil {
		return nil, err
	}
	policy, err := agent.Compactor.Policy(sessionOf(row))
	if err != nil {
		return nil, err
	}
	f.Configured.Strategy, f.Configured.Prompt = policy.Strategy, "config:/prompts/compaction-summary.md"
	f.Configured.Upper, f.Configured.Lower = int(100*policy.When.Upper+.5), int(100*policy.When.Lower+.5)
	f.Upper, f.Lower = strconv.Itoa(f.Configured.Upper), strconv.Itoa(f.Configured.Lower)
	return f, nil
}

// read takes over what was sent.
func (f *manualForm) read(form url.Values, prefix string) {
	for name, at := range map[string]*string{"agent": &f.Agent, "strategy": &f.Strategy, "summarize": &f.Summarize,
		"prompt": &f.Prompt, "instructions": &f.Instructions, "upper": &f.Upper, "lower": &f.Lower, "target": &f.Target,
		"keep_last": &f.KeepLast} {
		if form.Has(prefix + name) {
			*at = strings.TrimSpace(form.Get(prefix + name))
		}
	}
}

// Fields are the form as hidden fields of another one have it.
func (f *manualForm) Fields() [][2]string {
	return [][2]string{{"agent", f.Agent}, {"strategy", f.Strategy}, {"summarize", f.Summarize}, {"prompt", f.Prompt},
		{"instructions", f.Instructions}, {"upper", f.Upper}, {"lower", f.Lower}, {"target", f.Target},
		{"keep_last", f.KeepLast}}
}

// Path is the address of the form as it is filled in.
func (f *manualForm) Path() string {
	q := make(url.Values)
	for _, field := range f.Fields() {
		q.Set(field[0], field[1])
	}
	return to(f.Row.Key, "compact") + "?" + q.Encode()
}

// Words say what the form asks for, in a line.
func (f *manualForm) Words() string {
	said := []string{"the agent's own strategy"}
	if f.Strategy != "" {
		said[0] = f.Strategy
	}
	if f.Agent != f.Row.Agent {
		said = append(said, "as agent "+agentName(f.Agent))
	}
	switch f.Summarize {
	case "on":
		said = append(said, "with a model's summary")
	case "off":
		said = append(said, "without a model")
	}
	if f.Target != "" {
		said = append(said, "down to "+f.Target+" tokens")
	} else {
		said = append(said, "down to "+f.Lower+"%")
	}
	return strings.Join(said, ", ")
}

func agentName(path string) string {
	if path == "" {
		return "main"
	}
	return path
}

// manual is the form as the service is asked.
func (f *manualForm) manual() (m service.Manual, err error) {
	m = service.Manual{Strategy: f.Strategy, Prompt: f.Prompt, Instructions: f.Instructions}
	if f.Agent != f.Row.Agent {
		m.Agent = &f.Agent
	}
	if f.Summarize != "" {
		m.Summarize = new(f.Summarize == "on")
	}
	for _, share := range []struct {
		name, text string
		configured int
		at         **float64
	}{{"upper threshold", f.Upper, f.Configured.Upper, &m.Upper}, {"lower threshold", f.Lower, f.Configured.Lower,
		&m.Lower}} {
		n, wrong := strconv.Atoi(share.text)
		switch {
		case share.text == "" || wrong == nil && n == share.configured:
		case wrong != nil || n < 1 || n > 100:
			err = errors.Join(err, bad(share.name, errors.New("give a percentage from 1 to 100")))
		default:
			*share.at = new(float64(n) / 100)
		}
	}
	for _, count := range []struct {
		name, text string
		at         **int
	}{{"target", f.Target, &m.Target}, {"messages to keep", f.KeepLast, &m.KeepLast}} {
		if count.text == "" {
			continue
		}
		n, wrong := strconv.Atoi(count.text)
		if wrong != nil || n < 0 {
			err = errors.Join(err, bad(count.name, errors.New("give a whole number, or nothing")))
			continue
		}
		*count.at = &n
	}
	return m, err
}

func (p compactionPages) compactForm(r *http.Request) (*view, error) {
	f, err := p.formOf(r)
	if err != nil {
		return nil, err
	}
	f.read(r.URL.Query(), "")
	return &view{template: "manual.html", title: "Compact " + nameOf(f.Row), data: f}, nil
}

// asked is what a form that was sent asks for.
func (p compactionPages) asked(r *http.Request, prefix string) (f *manualForm, m service.Manual, err error) {
	if err := r.ParseForm(); err != nil {
		return nil, m, bad("form", err)
	}
	if f, err = p.formOf(r); err != nil {
		return nil, m, err
	}
	f.read(r.PostForm, prefix)
	m, err = f.manual()
	return f, m, err
}

// compact compacts as the form asks.
func (p compactionPages) compact(r *http.Request) (*view, error) {
	f, m, err := p.asked(r, "")
	if err != nil {
		return nil, err
	}
	version, err := versionOf(r)
	if err != nil {
		return nil, err
	}
	out, err := p.s.Compact(r.Context(), f.Row.Key, m, version)
	switch {
	case err != nil:
		return nil, err
	case out.Pending != "":
		return after(to(f.Row.Key, "checkpoint"), "waits"), nil
	case out.Report.Compacted && out.Record != nil:
		return after(to(f.Row.Key, "c", out.Record.ID), "compacted"), nil
	case len(out.Report.Failures) > 0:
		return after(to(f.Row.Key), "failed"), nil
	}
	return after(to(f.Row.Key), "noop"), nil
}

// preview shows what a form asks for, and changes nothing.
func (p compactionPages) preview(r *http.Request) (*view, error) {
	f, m, err := p.asked(r, "")
	if err != nil {
		return nil, err
	}
	d, err := p.dryRun(r, f, m)
	return &view{template: "compaction.html", title: "Preview for " + nameOf(f.Row), data: d}, err
}

func (p compactionPages) dryRun(r *http.Request, f *manualForm, m service.Manual) (*compactionData, error) {
	m.DryRun = true
	out, err := p.s.Compact(r.Context(), f.Row.Key, m, nil)
	if err != nil {
		return nil, err
	}
	d := &compactionData{Row: f.Row, Report: out.Report, Whole: true, Form: f}
	f.Row.Version = out.Version
	return d, p.fill(r.Context(), d, append([]abi.Message{}, out.Messages...), "")
}

// compareData is two ways to compact one session side by side.
type compareData struct {
	Row   *store.Session
	Forms [2]*manualForm
	Sides []*compactionData // empty until both were tried
	// Only are the messages that one side keeps and the other does not.
	Only [2]int
	// Errors say why a side came to nothing.
	Errors [2]string
}

func (p compactionPages) compareForm(r *http.Request) (*view, error) {
	d := &compareData{}
	for i := range d.Forms {
		f, err := p.formOf(r)
		if err != nil {
			return nil, err
		}
		d.Row, d.Forms[i] = f.Row, f
	}
	d.Forms[1].Strategy = "drop"
	return &view{template: "compare.html", title: "Compare on " + nameOf(d.Row), data: d}, nil
}

// compare tries both sides, and changes nothing.
func (p compactionPages) compare(r *http.Request) (*view, error) {
	d := &compareData{}
	kept := [2]map[string]bool{}
	for i, prefix := range []string{"a_", "b_"} {
		f, m, err := p.asked(r, prefix)
		if f == nil {
			return nil, err
		}
		d.Row, d.Forms[i] = f.Row, f
		side := &compactionData{}
		if err == nil {
			side, err = p.dryRun(r, f, m)
		}
		if err != nil {
			d.Errors[i] = err.Error()
			side = nil
		}
		d.Sides = append(d.Sides, side)
		if side != nil {
			kept[i] = set.Of(side.Report.Kept...)
		}
	}
	for i := range kept {
		for id := range kept[i] {
			if !kept[1-i][id] {
				d.Only[i]++
			}
		}
	}
	return &view{template: "compare.html", title: "Compare on " + nameOf(d.Row), data: d}, nil
}
