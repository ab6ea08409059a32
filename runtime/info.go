package runtime

import (
	"cmp"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/host"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// Info is what a plugin is and may do, for a person who decides whether to
// trust it.
type Info struct {
	Name        string `json:"name"`
	Version     string `json:"version,omitempty"`
	Description string `json:"description,omitempty"`
	Digest      string `json:"digest"`
	Size        int    `json:"size"`
	Engine      string `json:"engine"`
	ABI         int    `json:"abi"`
	// Manifest is where that is from: "inside", "given" or "none".
	Manifest string           `json:"manifest"`
	Roles    []abi.PluginRole `json:"roles"`
	Hooks    []abi.Hook       `json:"hooks"`
	Content  abi.ContentMode  `json:"content"`
	// Imports are functions, "module.Name (params)->results"; Exports
	// "name (params)->results", or "name kind" of what is no function.
	Imports []string `json:"imports"`
	Exports []string `json:"exports"`
	// Memory in bytes; nil without one. Table elements are the sum of all.
	Memory        *MemoryInfo         `json:"memory,omitempty"`
	TableElements int64               `json:"table_elements"`
	Knobs         map[string]abi.Knob `json:"knobs,omitempty"`
	// Config holds the value of each knob.
	Config       abi.Config       `json:"config,omitempty"`
	Capabilities []CapabilityInfo `json:"capabilities"`
	Secrets      []string         `json:"secrets,omitempty"`
	Limits       abi.Limits       `json:"limits"`
}

// MemoryInfo are the bounds a module gives its own memory. Max 0 is none.
type MemoryInfo struct {
	MinBytes int64 `json:"min_bytes"`
	MaxBytes int64 `json:"max_bytes,omitempty"`
}

// CapabilityInfo is a capability that is asked for or granted.
type CapabilityInfo struct {
	Name    abi.Capability `json:"name"`
	Asked   bool           `json:"asked"`
	Granted bool           `json:"granted"`
	Reason  string         `json:"reason,omitempty"`
	// Hosts are the origins the plugin asks for, GrantedHosts those it gets.
	Hosts        []string `json:"hosts,omitempty"`
	GrantedHosts []string `json:"granted_hosts,omitempty"`
}

// GrantFlag returns what an operator writes on a command line to grant it.
func (c CapabilityInfo) GrantFlag() string { return host.GrantFlag(c.Name, c.Hosts) }

// Where the manifest of a plugin is from.
const (
	manifestInside = "inside" // in the module
	manifestGiven  = "given"  // by the host, or in a file beside the module
	manifestNone   = "none"   // made up of what the module exports
)

// Info describes the plugin. Texts of the module are safe to print, but for
// those of its knobs.
func (p *Plugin) Info() Info {
	m := p.shared.Manifest
	info := Info{
		Name: m.Name, Version: host.Shorten(m.Version, 80), Description: abi.Defuse(m.Description),
		Digest: p.shared.Digest, Size: p.size, Engine: p.engine.Name(), ABI: m.ABI, Manifest: p.source,
		Roles: m.Roles, Hooks: p.Hooks(), Content: m.Content,
		Imports: []string{}, Exports: []string{}, Capabilities: []CapabilityInfo{},
		Knobs: m.Knobs, Config: p.shared.Config, Secrets: m.Secrets, Limits: p.shared.Limits,
	}
	if len(info.Roles) == 0 {
		info.Roles = []abi.PluginRole{abi.RoleObserver}
	}
	info.Content = cmp.Or(info.Content, abi.ContentFull)
	describeModule(&info, p.shared.Module)
	for _, c := range abi.Capabilities {
		req, asked := m.Capabilities[c]
		if granted := p.grants.Allows(c); asked || granted {
			row := CapabilityInfo{
				Name: c, Asked: asked, Granted: granted, Reason: abi.Defuse(req.Reason), Hosts: slices.Clone(req.Hosts),
			}
			if c == abi.CapHTTP {
				row.GrantedHosts = slices.Clone(p.grants.HTTP)
			}
			info.Capabilities = append(info.Capabilities, row)
		}
	}
	return info
}

func describeModule(info *Info, m *wasm.Module) {
	for _, i := range m.Imports {
		sig, _ := m.Signature(i.Type)
		info.Imports = append(info.Imports, i.Module+"."+i.Name+" "+string(sig))
	}
	for _, e := range m.Exports {
		text := host.Shorten(e.Name, 120) + " "
		if sig, ok := m.ExportedFunc(e.Name); ok {
			text += host.Shorten(string(sig), 200)
		} else if int(e.Kind) < len(kindNames) {
			text += kindNames[e.Kind]
		}
		info.Exports = append(info.Exports, text)
	}
	for _, t := range m.Tables {
		info.TableElements += int64(t.Min)
	}
	for _, mem := range m.Memories {
		info.Memory = &MemoryInfo{MinBytes: int64(mem.Min) * pageBytes}
		if mem.HasMax {
			info.Memory.MaxBytes = int64(mem.Max) * pageBytes
		}
	}
}
