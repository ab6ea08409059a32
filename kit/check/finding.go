package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// Finding is an oddity of a module: no rule is broken, but users or the author will
// trip over it.
type Finding struct {
	// Name is stable, for scripts.
	Name    string `json:"finding"`
	Message string `json:"message"`
	Fix     string `json:"fix"`
}

const (
	// largeModule is a size over which a module is worth a look, in bytes. Those
	// of Go have about 4 MiB.
	largeModule = 16 << 20
	// closeTo is the share of a limit that is close to it.
	closeTo = 0.8
	// shortReason is how many characters a reason has at least that says
	// something.
	shortReason = 8
)

// findings look at the module, its manifest, and, where all rules were checked,
// at what the calls used.
func (s *subject) findings(all bool) []Finding {
	r := &review{subject: s, list: []Finding{}}
	r.said()
	r.unnamedHooks()
	r.knobs()
	r.capabilities(all)
	r.limits()
	for _, w := range slices.Sorted(maps.Keys(s.meter.warned)) {
		r.add("warning of the host", "look at the call: kagewasm run X.wasm HOOK", "%s (%s)", w, s.meter.warned[w])
	}
	if unused, err := s.module.UnusedImports(); err == nil && len(unused) > 0 {
		r.add("unused imports", "take them out: a host that lacks one refuses the module",
			"imported and called nowhere: %s", strings.Join(unused, ", "))
	}
	if s.info.Size > largeModule {
		r.add("large module", "strip debug information (for Go: -ldflags=-s -w), or leave out what is not needed",
			"%.1f MiB: it is compiled on every machine that loads it", float64(s.info.Size)/(1<<20))
	}
	return r.list
}

// review collects the findings about a subject.
type review struct {
	*subject
	list []Finding
}

func (r *review) add(name, fix, format string, args ...any) {
	r.list = append(r.list, Finding{name, abi.Defuse(fmt.Sprintf(format, args...)), fix})
}

// said is about what the manifest says of the module as a whole.
func (r *review) said() {
	m := r.manifest
	if r.info.Manifest != "inside" {
		r.add("no manifest", "put one inside: kagewasm build X.wasm --manifest plugin.yaml",
			"the module has no manifest inside: what it is depends on the files beside it")
	}
	if m.Version == "" {
		r.add("no version", "add version to plugin.yaml", "the manifest has no version: nobody can say which one they run")
	}
	if m.Description == "" {
		r.add("no description", "add description to plugin.yaml, one sentence",
			"the manifest does not say what the plugin does")
	}
}

func (r *review) unnamedHooks() {
	for _, h := range abi.Hooks {
		exported := r.exports(h)
		if exported && !slices.Contains(r.info.Hooks, h) && !r.everyHookExported() {
			r.add("hook not named", "name it under hooks in plugin.yaml, or take the export away",
				"the module exports %s, which the manifest does not name: it is never called", h)
		}
	}
}

// everyHookExported: libraries for guests export all hooks, whatever the plugin
// handles.
func (r *review) everyHookExported() bool {
	return !slices.ContainsFunc(abi.Hooks, func(h abi.Hook) bool { return !r.exports(h) })
}

func (r *review) exports(h abi.Hook) bool {
	return slices.ContainsFunc(r.info.Exports, func(e string) bool { return strings.HasPrefix(e, string(h)+" ") })
}

func (r *review) knobs() {
	for _, name := range slices.Sorted(maps.Keys(r.manifest.Knobs)) {
		k := r.manifest.Knobs[name]
		if k.Default == nil {
			r.add("knob without default", "add default to the knob in plugin.yaml",
				"knob %s has no default: where nobody sets it the plugin gets no value", name)
		}
		if k.Label == "" {
			r.add("knob without label", "add label to the knob in plugin.yaml, two or three words",
				"knob %s has no label: forms show its name", name)
		}
	}
}

func (r *review) capabilities(all bool) {
	ops := r.meter.ops
	used := map[abi.Capability]bool{
		abi.CapHTTP: ops[abi.OpHTTP] > 0, abi.CapModel: ops[abi.OpModelComplete] > 0,
		abi.CapKV:                ops[abi.OpKVGet]+ops[abi.OpKVSet]+ops[abi.OpKVList]+ops[abi.OpKVDelete] > 0,
		abi.CapCompactionRequest: r.meter.requested || ops[abi.OpRequestCompact] > 0,
		abi.CapCompactionSummary: r.meter.summarized,
		abi.CapMessagesSearch:    ops[abi.OpMessagesSearch] > 0,
	}
	for _, c := range r.info.Capabilities {
		if !c.Asked {
			continue
		}
		if len(strings.TrimSpace(c.Reason)) < shortReason {
			r.add("short reason", "write under reason what the operator gets for it", "%s is asked for with the reason %q",
				c.Name, c.Reason)
		}
		switch {
		case !c.Granted:
			r.add("not granted", "verify it with "+c.GrantFlag()+", or replay a recording (--replay)",
				"%s is asked for and not granted here: what the plugin does with it was not verified", c.Name)
		case all && !used[c.Name]:
			r.add("unused capability", "ask for it when it is used: operators read the list",
				"%s is asked for and was not used in any call", c.Name)
		}
	}
}

func (r *review) limits() {
	granted := maps.Collect(r.info.Limits.All())
	for name, v := range r.manifest.Limits.All() {
		if v > granted[name] {
			r.add("limit above the host's", fmt.Sprintf("leave it out, or raise the host's: --limit %s=%d", name, v),
				"the manifest has limits.%s: %d, the host grants %d: a manifest only lowers limits", name, v, granted[name])
		}
	}
	for _, u := range r.meter.list() {
		if u.Share() >= closeTo {
			r.add("close to a limit", fmt.Sprintf("let it use less, or tell operators to raise it: --limit %s=N", u.Limit),
				"%s: %d of %d used in rule %q", u.Limit, u.Used, u.Allowed, u.Rule)
		}
	}
}
