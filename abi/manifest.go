package abi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/strictjson"
)

// Where a manifest stands.
const (
	// ManifestSection is the name of the custom section that holds the manifest
	// inside a module, as JSON.
	ManifestSection = "kagewasm.manifest"
	// SidecarSuffix is what a module's file name ends in, instead of .wasm, for
	// the YAML manifest of a module that has no section.
	SidecarSuffix = ".plugin.yaml"
)

// PluginRole is what a plugin may do.
type PluginRole string

const (
	// RoleObserver reads, retains and injects.
	RoleObserver PluginRole = "observer"
	// RoleCompactor may return a whole message list; at most one an agent.
	RoleCompactor PluginRole = "compactor"
)

// Manifest is what a plugin says about itself. Unknown fields are errors.
type Manifest struct {
	// Name is lower case letters, digits, "-" and "_", at most 64. Stored data
	// lies under it.
	Name        string `json:"name"`
	Version     string `json:"version"`
	ABI         int    `json:"abi"`
	Description string `json:"description,omitempty"`
	// Roles of the plugin. Default: observer. The single "role" that
	// manifests in the wild use is accepted too.
	Roles []PluginRole `json:"roles,omitempty"`
	// Hooks the module exports. Default: those it exports.
	Hooks []Hook `json:"hooks,omitempty"`
	// Content is how messages arrive: "full" (default) or "lazy" (without
	// bodies, to be fetched with messages.get).
	Content ContentMode `json:"content,omitempty"`
	// Knobs an operator can turn, by name.
	Knobs map[string]Knob `json:"knobs,omitempty"`
	// Capabilities the plugin asks for, with a reason each. Nothing is granted
	// by asking.
	Capabilities map[Capability]Request `json:"capabilities,omitempty"`
	// Secrets are names of values that the operator provides. They reach the
	// headers of http requests (see [HTTPRequest]) and never the plugin.
	Secrets []string `json:"secrets,omitempty"`
	// Limits lower the host's own.
	Limits Limits `json:"limits,omitzero"`
}

// ContentMode is how message bodies reach a plugin.
type ContentMode string

const (
	ContentFull ContentMode = "full"
	ContentLazy ContentMode = "lazy"
)

// Capability is something beyond computing that a plugin may be allowed. Log
// lines, token counts and lazy bodies need none.
type Capability string

const (
	CapKV                Capability = "kv"    // storage in the plugin's own namespace
	CapHTTP              Capability = "http"  // requests to the hosts named
	CapModel             Capability = "model" // completions at the operator's cost
	CapCompactionRequest Capability = "compaction.request"
	CapCompactionSummary Capability = "compaction.summary" // an observer's summary or cancel
	CapMessagesSearch    Capability = "messages.search"    // what compactions superseded
)

// Capabilities are all capabilities.
var Capabilities = []Capability{CapKV, CapHTTP, CapModel, CapCompactionRequest, CapCompactionSummary,
	CapMessagesSearch}

// Request is a plugin's wish for a capability.
type Request struct {
	// Reason is shown to the operator who is asked to grant it.
	Reason string `json:"reason"`
	// Hosts are where an http request goes: HOST or HOST:PORT for https,
	// http://HOST:PORT for what is not encrypted. The operator who grants
	// decides, and may grant other ones.
	Hosts []string `json:"hosts,omitempty"`
}

// maxFault is how long a message about a manifest may be, in bytes.
const maxFault = 500

// maxName is how long the name of a plugin or a knob may be.
const maxName = 64

// ValidName reports whether s can name a plugin or a knob: lower-case letters,
// digits, and behind the first also - and _, at most 64 of them.
//
// It uses no regular expression: to compile one took most of a guest's start,
// and guests never call this.
func ValidName(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
		case i > 0 && (c == '-' || c == '_'):
		default:
			return false
		}
	}
	return s != "" && len(s) <= maxName
}

// UnmarshalJSON reads a manifest and translates what manifests in the wild
// say: "role" for roles, and "hook_timeout_sec" for limits.timeout_ms.
func (m *Manifest) UnmarshalJSON(b []byte) error {
	type plain Manifest
	wire := struct {
		*plain
		Role           json.RawMessage `json:"role"`
		RolesOrOne     json.RawMessage `json:"roles"`
		HookTimeoutSec float64         `json:"hook_timeout_sec"`
	}{plain: (*plain)(m)}
	*m = Manifest{}
	if err := strictjson.Decode(b, &wire); err != nil {
		return err
	}
	for _, raw := range []json.RawMessage{wire.Role, wire.RolesOrOne} {
		roles, err := oneOrMany[PluginRole](raw)
		if err != nil {
			return fmt.Errorf("roles: %w", err)
		}
		m.Roles = append(m.Roles, roles...)
	}
	ms := math.Ceil(wire.HookTimeoutSec * 1000)
	if ms < 0 || ms > math.MaxInt32 {
		return fmt.Errorf("hook_timeout_sec: %v is no time limit", wire.HookTimeoutSec)
	}
	m.Limits.TimeoutMS = cmp.Or(m.Limits.TimeoutMS, int(ms))
	return nil
}

func oneOrMany[T ~string](raw json.RawMessage) ([]T, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	var many []T
	if raw[0] != '"' {
		return many, json.Unmarshal(raw, &many)
	}
	var one T
	err := json.Unmarshal(raw, &one)
	return []T{one}, err
}

// Has reports whether the plugin has the role; a manifest without roles is an
// observer's.
func (m *Manifest) Has(r PluginRole) bool {
	return slices.Contains(m.Roles, r) || len(m.Roles) == 0 && r == RoleObserver
}

// Validate checks the manifest and says what is wrong and how to fix it.
func (m *Manifest) Validate() error {
	bad := func(format string, args ...any) error {
		message := fmt.Sprintf(format, args...)
		if len(message) > maxFault { // it quotes what is wrong, which may be of any length
			message = strings.ToValidUTF8(message[:maxFault], "") + "..."
		}
		return &Error{Code: CodeBadInput, Op: "manifest", Plugin: m.Name, Phase: PhaseLoad, Message: message}
	}
	switch {
	case !ValidName(m.Name):
		return bad("name %q: use lower case letters, digits, - and _, at most 64", m.Name)
	case m.ABI == 0:
		return bad("abi is missing: write abi: %d", Version)
	case m.ABI != Version:
		return bad("abi %d: this host speaks abi %d", m.ABI, Version)
	case m.Content != "" && m.Content != ContentFull && m.Content != ContentLazy:
		return bad("content %q: use full or lazy", m.Content)
	}
	for _, r := range m.Roles {
		if r != RoleObserver && r != RoleCompactor {
			return bad("role %q: use observer or compactor", r)
		}
	}
	for _, h := range m.Hooks {
		if !h.Valid() {
			return bad("hook %q: known are pre_compact, post_compact and turn_end", h)
		}
	}
	if m.Has(RoleCompactor) && len(m.Hooks) > 0 && !slices.Contains(m.Hooks, HookPreCompact) {
		return bad("role compactor without the hook pre_compact: name it under hooks")
	}
	if limit := m.Limits.negative(); limit != "" {
		return bad("limits: %s is negative, and not from 1 to the host's own", limit)
	}
	for _, name := range slices.Sorted(maps.Keys(m.Knobs)) {
		if !ValidName(name) {
			return bad("knob %q: use lower case letters, digits, - and _, at most 64", name)
		}
		k := m.Knobs[name]
		if err := k.Validate(); err != nil {
			return bad("knob %s: %v", name, err)
		}
	}
	for _, c := range slices.Sorted(maps.Keys(m.Capabilities)) {
		req := m.Capabilities[c]
		if !slices.Contains(Capabilities, c) {
			return bad("capability %q: known are %s", c, join(Capabilities))
		}
		if strings.TrimSpace(req.Reason) == "" {
			return bad("capability %s: say why, under reason", c)
		}
		if c == CapHTTP && len(req.Hosts) == 0 {
			return bad("capability http: name the hosts, under hosts")
		}
	}
	return nil
}

// Configure returns the value of every knob: the given one where there is one,
// else the default; a knob without either has none. Values for knobs that do
// not exist, and values that a knob does not take, are errors.
func (m *Manifest) Configure(values Config) (Config, error) {
	usage := func(format string, args ...any) error {
		return &Error{Code: CodeUsage, Op: "configure", Plugin: m.Name, Message: fmt.Sprintf(format, args...)}
	}
	out := make(Config, len(m.Knobs))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		raw := values[name]
		k, ok := m.Knobs[name]
		if !ok {
			return nil, usage("no knob %q: it has %s", name, knobNames(m.Knobs))
		}
		if err := k.Check(raw); err != nil {
			return nil, usage("knob %s: %v", name, err)
		}
		out[name] = raw
	}
	for name, k := range m.Knobs {
		if _, ok := out[name]; !ok && k.Default != nil {
			out[name] = k.Default
		}
	}
	return out, nil
}

func knobNames(knobs map[string]Knob) string {
	if len(knobs) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(knobs)), ", ")
}

func join[T ~string](list []T) string { return strings.Join(lists.Strings(list), ", ") }
