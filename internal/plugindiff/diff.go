package plugindiff

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/runtime"
)

// Update holds the differences between two versions of a plugin. The texts of
// modules in it are safe to print.
type Update struct {
	Old         Version      `json:"old"`
	New         Version      `json:"new"`
	Permissions []Permission `json:"permissions"`
	// Withheld lists what the new version asks for and is not granted, whether the
	// old one asked for it or not. What comes of it does not show in a survey.
	Withheld []string `json:"withheld"`
	Changes  []Change `json:"changes"`
}

// Version identifies a module.
type Version struct {
	Name    string `json:"plugin"`
	Version string `json:"version,omitempty"`
	Digest  string `json:"digest"`
	Size    int    `json:"size"` // in bytes
}

func version(i runtime.Info) Version {
	return Version{Name: i.Name, Version: i.Version, Digest: i.Digest, Size: i.Size}
}

// Permission is something that the new version may do, or asks to do, and the old
// one does not.
type Permission struct {
	Kind Kind   `json:"kind"`
	Name string `json:"name"`
	// Old and New are values of limits.
	Old string `json:"old,omitempty"`
	New string `json:"new,omitempty"`
	// Reason is the manifest's own, of a capability.
	Reason string `json:"reason,omitempty"`
	// Withheld is set for a capability or a host that is not granted.
	Withheld bool `json:"withheld,omitempty"`
}

// Kind says what a permission is about.
type Kind string

const (
	KindCapability Kind = "capability"
	KindHost       Kind = "host"   // an origin that requests go to
	KindSecret     Kind = "secret" // a value for the headers of requests
	KindLimit      Kind = "limit"  // what the old version kept below the host's limit
	KindRole       Kind = "role"   // compactor, for what was an observer
	KindHook       Kind = "hook"
	KindImport     Kind = "import"
)

// Change is one line of the manifest or the module that is different. Old is
// empty for what is new, New for what is gone.
type Change struct {
	What string `json:"what"`
	Old  string `json:"old,omitempty"`
	New  string `json:"new,omitempty"`
}

// Compare compares two loaded plugins. Both should be loaded with the same
// grants and limits: it is what they ask for that tells them apart.
func Compare(old, new runtime.Info) *Update {
	u := &Update{Old: version(old), New: version(new), Permissions: []Permission{}, Withheld: Withheld(new),
		Changes: []Change{}}
	u.capabilities(old, new)
	u.lists(old, new)
	u.limits(old.Limits, new.Limits)
	u.identity(old, new)
	u.knobs(old.Knobs, new.Knobs)
	return u
}

// Withheld are the capabilities that a plugin asks for and is not granted.
func Withheld(i runtime.Info) []string {
	names := []string{}
	for _, c := range i.Capabilities {
		if c.Asked && !c.Granted {
			names = append(names, string(c.Name))
		}
	}
	return names
}

func (u *Update) permit(p Permission) { u.Permissions = append(u.Permissions, p) }

func (u *Update) change(what, old, new string) {
	if old != new {
		u.Changes = append(u.Changes, Change{What: what, Old: abi.Defuse(old), New: abi.Defuse(new)})
	}
}

func (u *Update) capabilities(old, new runtime.Info) {
	was := make(map[abi.Capability]runtime.CapabilityInfo)
	for _, c := range old.Capabilities {
		if c.Asked {
			was[c.Name] = c
		}
	}
	for _, c := range new.Capabilities {
		if !c.Asked {
			continue
		}
		before, asked := was[c.Name]
		delete(was, c.Name)
		if !asked {
			u.permit(Permission{Kind: KindCapability, Name: string(c.Name), Reason: c.Reason, Withheld: !c.Granted})
		} else {
			u.change("reason of "+string(c.Name), before.Reason, c.Reason)
		}
		for _, h := range without(c.Hosts, before.Hosts) {
			u.permit(Permission{Kind: KindHost, Name: abi.Defuse(h), Withheld: !slices.Contains(c.GrantedHosts, h)})
		}
		for _, h := range without(before.Hosts, c.Hosts) {
			u.change("host", h, "")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		u.change("capability", string(name), "")
	}
}

// lists compares the sets that describe a plugin. What is new in one is a
// permission.
func (u *Update) lists(old, new runtime.Info) {
	for _, l := range []struct {
		kind     Kind
		old, new []string
	}{
		{KindRole, lists.Strings(old.Roles), lists.Strings(new.Roles)},
		{KindHook, lists.Strings(old.Hooks), lists.Strings(new.Hooks)},
		{KindSecret, old.Secrets, new.Secrets},
		{KindImport, old.Imports, new.Imports},
	} {
		for _, name := range without(l.new, l.old) {
			u.permit(Permission{Kind: l.kind, Name: abi.Defuse(name)})
		}
		for _, name := range without(l.old, l.new) {
			u.change(string(l.kind), name, "")
		}
	}
	for _, name := range without(new.Exports, old.Exports) {
		u.change("export", "", name)
	}
	for _, name := range without(old.Exports, new.Exports) {
		u.change("export", name, "")
	}
}

// limits compares what both are held to; 0 of fuel is none.
func (u *Update) limits(old, new abi.Limits) {
	before := maps.Collect(old.All())
	for name, n := range new.All() {
		u.limit(name, int64(before[name]), int64(n), n > before[name])
	}
	u.limit("fuel", old.Fuel, new.Fuel, old.Fuel > 0 && (new.Fuel == 0 || new.Fuel > old.Fuel))
}

func (u *Update) limit(name string, old, new int64, raised bool) {
	switch {
	case raised:
		u.permit(Permission{Kind: KindLimit, Name: name, Old: limit(old), New: limit(new)})
	case old != new:
		u.change("limit "+name, limit(old), limit(new))
	}
}

func limit(n int64) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprint(n)
}

func (u *Update) identity(old, new runtime.Info) {
	u.change("name", old.Name, new.Name)
	u.change("version", old.Version, new.Version)
	u.change("description", old.Description, new.Description)
	u.change("content", string(old.Content), string(new.Content))
	u.change("memory", memory(old.Memory), memory(new.Memory))
}

// memory describes the memory that a module declares, in bytes.
func memory(m *runtime.MemoryInfo) string {
	switch {
	case m == nil:
		return "none"
	case m.MaxBytes == 0:
		return fmt.Sprintf("from %d", m.MinBytes)
	}
	return fmt.Sprintf("from %d to %d", m.MinBytes, m.MaxBytes)
}

// without returns the elements of list that other lacks.
func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(other, s) })
}
