package ui

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/kit"
	"github.com/kagewasm/kagewasm/runtime"
)

// Info shows what a plugin is, what it wants, and what it would get.
func Info(p Printer, i runtime.Info) {
	p.Linef("%s %s", p.paint(bold, i.Name), i.Version)
	if i.Description != "" {
		p.Linef("  %s", i.Description)
	}
	p.field("digest", "%s", i.Digest)
	p.field("size", "%s", bytesOf(i.Size))
	p.field("manifest", "%s, abi %d", manifestFrom[i.Manifest], i.ABI)
	p.field("roles", "%s", Joined(i.Roles))
	p.field("hooks", "%s", Joined(i.Hooks))
	p.field("content", "%s", i.Content)
	if i.Memory != nil {
		most := "as its limit allows"
		if i.Memory.MaxBytes > 0 {
			most = bytesOf(i.Memory.MaxBytes)
		}
		p.field("memory", "from %s to %s", bytesOf(i.Memory.MinBytes), most)
	}
	showLimits(p, i.Limits)
	for _, c := range i.Capabilities {
		if !c.Asked {
			continue // granted to whoever asks
		}
		p.field("capability", "%s", capabilityLine(p, c))
		if !c.Granted {
			p.field("", "%s", p.paint(dim, "grant it: "+c.GrantFlag()))
		}
	}
	if !slices.ContainsFunc(i.Capabilities, func(c runtime.CapabilityInfo) bool { return c.Asked }) {
		p.field("capability", "none asked for")
	}
	if len(i.Secrets) > 0 {
		p.field("secrets", "%s", strings.Join(i.Secrets, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(i.Knobs)) {
		k := i.Knobs[name]
		p.field("knob", "%s = %s  %s", name, string(i.Config[name]), p.paint(dim, knobLine(k)))
	}
	imports := p.labelled("imports")
	for _, module := range byModule(i.Imports) {
		imports("%s", module)
	}
	exports := p.labelled("exports")
	for _, name := range i.Exports {
		exports("%s", name)
	}
}

// manifestFrom says where a manifest is from.
var manifestFrom = map[string]string{
	"inside": "inside the module",
	"given":  "in a file beside the module",
	"none":   "none: an observer of the hooks it exports",
}

// byModule lists imports by the module they are from, the names of those of one
// on a line; --json has their signatures.
func byModule(imports []string) []string {
	var lines []string
	last := ""
	for _, i := range imports {
		i, _, _ = strings.Cut(i, " ")
		at := strings.LastIndex(i, ".")
		module, name := i[:max(at, 0)], i[at+1:]
		if module == last && len(lines) > 0 {
			lines[len(lines)-1] += ", " + name
		} else {
			lines = append(lines, module+": "+name)
		}
		last = module
	}
	if lines == nil {
		return []string{"none"}
	}
	return lines
}

func showLimits(p Printer, l abi.Limits) {
	fuel := "no bound on fuel"
	if l.Fuel > 0 {
		fuel = Number(l.Fuel) + " fuel"
	}
	p.field("limits", "%s ms, %s, %d MiB memory, %s stack, %s table elements", Number(int64(l.TimeoutMS)), fuel,
		l.MemoryMB, bytesOf(l.StackBytes), Number(int64(l.TableElements)))
	p.field("", "%s out, %s log, %s error text, %s host calls of %s", bytesOf(l.OutputBytes), bytesOf(l.LogBytes),
		bytesOf(l.ErrorBytes), Number(int64(l.HostCalls)), bytesOf(l.HostCallBytes))
}

func capabilityLine(p Printer, c runtime.CapabilityInfo) safe {
	name := string(c.Name)
	if len(c.Hosts) > 0 {
		name += " " + strings.Join(c.Hosts, ", ")
	}
	verdict := p.paint(yellow, "denied")
	if c.Granted {
		verdict = p.paint(green, strings.TrimSpace("granted "+strings.Join(c.GrantedHosts, ", ")))
	}
	return safef("%s: %s  %s", name, verdict, p.paint(dim, c.Reason))
}

func knobLine(k abi.Knob) string {
	line := string(k.Type)
	switch k.Type {
	case abi.KnobRange, abi.KnobIntRange:
		line += fmt.Sprintf(" %v to %v", k.Min, k.Max)
		if k.Step > 0 {
			line += fmt.Sprintf(" in steps of %v", k.Step)
		}
	case abi.KnobEnum:
		line += " " + strings.Join(k.Values, "|")
	}
	if k.Label != "" {
		line += ": " + k.Label
	}
	return line
}

// Built says which module was written.
func Built(p Printer, r kit.Result) {
	p.Linef("%s  %s  %s %s  %s", r.Path, bytesOf(r.Size), r.Manifest.Name, r.Manifest.Version, r.Digest)
}
