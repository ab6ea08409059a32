package host

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/strictjson"
)

// The data of a plugin belongs to a line of modules, not to whoever bears the
// name: the first module that stores something under a name owns it, and a later
// one is of the same line where the operator adopts it. Any other module of that
// name has a namespace of its own. The lines are recorded in a namespace that no
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

// Namespace is where the plugin's data for an agent lies. With claim the first
// call claims the name where nobody has it. A dry run looks without, and leaves
// no trace.
func (p *Plugin) Namespace(ctx context.Context, agent string, claim bool) (string, error) {
	line, err := p.findLine(ctx, claim)
	if err != nil {
		return "", err
	}
	return abi.AgentNamespace(line, agent), nil
}

// findLine returns the namespace of the plugin's line.
func (p *Plugin) findLine(ctx context.Context, claim bool) (line string, err error) {
	s := p.Services
	if s.kv == nil {
		return p.Manifest.Name, nil
	}
	looked := false
	err = s.lines.with(ctx, func() (err error) {
		looked = true
		if line = p.line; line == "" {
			line, err = s.line(ctx, p, claim)
		}
		return err
	})
	if !looked {
		return "", &abi.Error{
			Code: abi.CodeCanceled, Op: "lineage", Plugin: p.Manifest.Name, Message: "the caller gave up", Err: err,
		}
	}
	return line, err
}

// line looks a plugin's line up, and joins it where the plugin may. Once that is
// settled the plugin keeps it.
func (s *Services) line(ctx context.Context, p *Plugin, claim bool) (string, error) {
	name := p.Manifest.Name
	for range maxClaims {
		l, doc, err := s.lineage(ctx, name)
		switch {
		case err != nil:
			return "", err
		case slices.Contains(l.Digests, p.Digest):
			p.line = name
			return name, nil
		case len(l.Digests) > 0 && !p.Adopt:
			p.line = abi.NamespaceOf(name, p.Digest)
			return p.line, nil
		case !claim:
			return name, nil
		}
		if err := s.extend(ctx, name, l, doc, p.Digest); err != nil && abi.CodeOf(err) != abi.CodeConflict {
			return "", err
		}
	}
	return "", &abi.Error{
		Code: abi.CodeConflict, Op: "lineage", Plugin: name, Message: "others claim the name over and over",
	}
}

// lineage returns the record of a name's line, and the document it stands in.
func (s *Services) lineage(ctx context.Context, name string) (l lineage, doc string, err error) {
	doc, _, err = s.kv.Get(ctx, lineageSpace, name+".json")
	if err != nil || doc == "" {
		return l, doc, err
	}
	if err := strictjson.Decode([]byte(doc), &l); err != nil {
		return l, doc, &abi.Error{Code: abi.CodeBadInput, Op: "lineage", Plugin: name, Err: err,
			Message: fmt.Sprintf("the record %s/%s.json of whose data it is cannot be read: %v", lineageSpace, name, err),
			Hint:    `write {"digests":[...]} into it, or remove it: the next module of that name then owns the data`}
	}
	return l, doc, nil
}

// extend adds a module to a line, unless its record changed meanwhile.
func (s *Services) extend(ctx context.Context, name string, l lineage, old, digest string) error {
	l.Digests = append(l.Digests, digest)
	l.Digests = l.Digests[max(0, len(l.Digests)-maxLine):]
	doc, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	return s.kv.Swap(ctx, lineageSpace, name+".json", old, string(doc)+"\n")
}

// namespace is where the data of a call lies. It says once in a call that the
// plugin's name is another module's.
func (k *kv) namespace(ctx context.Context, c *Call) (string, error) {
	line, err := c.Plugin.findLine(ctx, !c.Input.dryRun())
	if err != nil {
		return "", err
	}
	if name := c.Plugin.Manifest.Name; line != name && !k.warned {
		k.warned = true
		c.Warn(fmt.Sprintf(
			"what is stored under %s belongs to another module: this one keeps its own under %s; "+
				"to have it go on with that data, adopt it (--adopt %s)",
			name, line, name,
		))
	}
	return abi.AgentNamespace(line, c.Input.agent()), nil
}

// Retains looks up where the host will store what the plugin retains, after the
// call. It returns what there is to say of that.
func (c *Call) Retains(ctx context.Context) (warnings []string) {
	before := len(c.warnings)
	if _, err := service[kv](c).namespace(ctx, c); err != nil {
		c.Warn("retain: " + err.Error())
	}
	return c.warnings[before:]
}
