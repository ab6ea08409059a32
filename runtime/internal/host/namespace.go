package host

import (
	"context"
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lineage"
)

// maxClaims is how often a line is joined while others join it; see package
// lineage.
const maxClaims = 16

// Namespace is where the plugin's data for an agent lies. With claim the first
// call claims the name where nobody has it. A dry run looks without, and leaves
// no trace.
func (p *Plugin) Namespace(ctx context.Context, agent string, claim bool) (string, error) {
	line, err := p.findLine(ctx, agent, claim)
	if err != nil {
		return "", err
	}
	return abi.AgentNamespace(line, agent), nil
}

// findLine returns the namespace of the plugin's line, once the data of an agent
// is known to be of that line.
func (p *Plugin) findLine(ctx context.Context, agent string, claim bool) (line string, err error) {
	s := p.Services
	if s.kv == nil {
		return p.Manifest.Name, nil
	}
	looked := false
	err = s.lines.with(ctx, func() (err error) {
		looked = true
		line, err = s.line(ctx, p, agent, claim)
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
// settled for an agent the plugin keeps it.
func (s *Services) line(ctx context.Context, p *Plugin, agent string, claim bool) (string, error) {
	if line, ok := p.lines[agent]; ok {
		return line, nil
	}
	name := p.Manifest.Name
	for range maxClaims {
		r, err := lineage.Read(ctx, s.kv, name)
		if p.Adopt && abi.CodeOf(err) == abi.CodeState {
			r, err = lineage.Renew(ctx, s.kv, name)
		}
		switch {
		case err != nil:
			return "", err
		case !r.Has(p.Digest) && !p.Adopt && !r.Free():
			return p.keepLine(agent, abi.NamespaceOf(name, p.Digest)), nil
		case claim:
			err = r.Claim(ctx, s.kv, name, p.Digest)
		}
		switch {
		case err == nil:
			return s.agent(ctx, p, r, agent, claim)
		case abi.CodeOf(err) != abi.CodeConflict:
			return "", err
		}
	}
	return "", &abi.Error{
		Code: abi.CodeConflict, Op: "lineage", Plugin: name, Message: "others claim the name over and over",
	}
}

// agent checks that the data of an agent is of the plugin's own line.
func (s *Services) agent(ctx context.Context, p *Plugin, r *lineage.Record, agent string, claim bool) (string, error) {
	name := p.Manifest.Name
	if agent != "" {
		if err := r.Agent(ctx, s.kv, abi.AgentNamespace(name, agent), claim, p.Adopt); err != nil {
			return "", err
		}
	}
	if !claim {
		return name, nil
	}
	return p.keepLine(agent, name), nil
}

// maxLines is how many agents a plugin remembers the lines of.
const maxLines = 1000

func (p *Plugin) keepLine(agent, line string) string {
	if p.lines == nil || len(p.lines) >= maxLines {
		p.lines = make(map[string]string)
	}
	p.lines[agent] = line
	return line
}

// namespace is where the data of a call lies. It says once in a call that the
// plugin's name is another module's.
func (k *kv) namespace(ctx context.Context, c *Call) (string, error) {
	if k.ns != "" {
		return k.ns, nil
	}
	line, err := c.Plugin.findLine(ctx, c.Input.agent(), !c.Input.dryRun())
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
	k.ns = abi.AgentNamespace(line, c.Input.agent())
	return k.ns, nil
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
