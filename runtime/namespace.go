package runtime

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
)

// The data of a plugin belongs to a line of modules, not to whoever bears the
// name: the first module that stores something under a name owns it, and a
// later one is of the same line where the operator says so
// ([PluginOptions.Adopt], or a pinned digest). Any other module of that name
// has a namespace of its own. The lines are recorded in a namespace that no
// plugin can have, beside the data they are about.

const (
	lineageSpace = "_lineage"
	// maxLine is how many digests of a line are remembered.
	maxLine = 1000
	// maxClaims is how often a line is joined while others join it.
	maxClaims = 16
)

// lineage is the record of a line, oldest module first.
type lineage struct {
	Digests []string `json:"digests"`
}

// Namespace is where the plugin's data for an agent lies, in the runtime's KV
// and for whoever else stores there what the plugin retains. The first call
// claims the name where nobody has it.
func (p *Plugin) Namespace(ctx context.Context, agentPath string) (string, error) {
	line, err := p.line(ctx, true)
	if err != nil {
		return "", err
	}
	return abi.AgentNamespace(line, agentPath), nil
}

// line returns the namespace of the plugin's line. Without claim nothing is
// recorded: a dry run looks, and leaves no trace.
func (p *Plugin) line(ctx context.Context, claim bool) (string, error) {
	r := p.runtime
	if r.kv == nil {
		return p.manifest.Name, nil
	}
	select {
	case r.lines <- struct{}{}:
		defer func() { <-r.lines }()
	case <-ctx.Done():
		return "", &abi.Error{Code: abi.CodeCanceled, Op: "lineage", Plugin: p.manifest.Name, Message: "the caller gave up", Err: ctx.Err()}
	}
	if p.lineKnown != "" {
		return p.lineKnown, nil
	}
	ns, settled, err := p.findLine(ctx, claim)
	if err == nil && settled {
		p.lineKnown = ns
	}
	return ns, err
}

// findLine looks the line up, and joins it where the plugin may. settled is
// false where a claim is still open.
func (p *Plugin) findLine(ctx context.Context, claim bool) (ns string, settled bool, err error) {
	name, r := p.manifest.Name, p.runtime
	for range maxClaims {
		l, doc, err := r.lineage(ctx, name)
		switch {
		case err != nil:
			return "", false, err
		case slices.Contains(l.Digests, p.digest):
			return name, true, nil
		case len(l.Digests) > 0 && !p.adopt:
			return abi.NamespaceOf(name, p.digest), true, nil
		case !claim:
			return name, false, nil
		}
		if err := r.extend(ctx, name, l, doc, p.digest); err != nil && abi.CodeOf(err) != abi.CodeConflict {
			return "", false, err
		}
	}
	return "", false, &abi.Error{Code: abi.CodeConflict, Op: "lineage", Plugin: name, Message: "others claim the name over and over"}
}

// lineage returns the record of a name's line, and the document it stands in.
func (r *Runtime) lineage(ctx context.Context, name string) (l lineage, doc string, err error) {
	doc, _, err = r.kv.Get(ctx, lineageSpace, name+".json")
	if err != nil || doc == "" {
		return l, doc, err
	}
	if err := abi.DecodeStrict([]byte(doc), &l); err != nil {
		return l, doc, &abi.Error{Code: abi.CodeBadInput, Op: "lineage", Plugin: name, Err: err,
			Message: fmt.Sprintf("the record %s/%s.json of whose data it is cannot be read: %v", lineageSpace, name, err),
			Hint:    `write {"digests":[...]} into it, or remove it: the next module of that name then owns the data`}
	}
	return l, doc, nil
}

// extend adds a module to a line, unless its record changed meanwhile.
func (r *Runtime) extend(ctx context.Context, name string, l lineage, old, digest string) error {
	l.Digests = append(l.Digests, digest)
	l.Digests = l.Digests[max(0, len(l.Digests)-maxLine):]
	doc, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	return r.swap(ctx, lineageSpace, name+".json", old, string(doc)+"\n")
}

// namespace is where the data of this call lies. It says once in a call that
// the plugin's name is another module's.
func (c *call) namespace(ctx context.Context) (string, error) {
	line, err := c.plugin.line(ctx, !c.dryRun())
	if err != nil {
		return "", err
	}
	if name := c.plugin.manifest.Name; line != name && !c.told {
		c.told = true
		c.warn(fmt.Sprintf("what is stored under %s belongs to another module: this one keeps its own under %s; to have it go on with that data, adopt it (--adopt %s)", name, line, name))
	}
	agent := ""
	if in := c.parsedInput(); in != nil {
		agent = in.Session.AgentPath
	}
	return abi.AgentNamespace(line, agent), nil
}

// tellNamespace is namespace for what a plugin retains, which the host stores
// after the call. It returns what there is to say.
func (c *call) tellNamespace(ctx context.Context) []string {
	before := len(c.warnings)
	if _, err := c.namespace(ctx); err != nil {
		c.warn("retain: " + err.Error())
	}
	return c.warnings[before:]
}
