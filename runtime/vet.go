package runtime

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

const (
	hookSignature signature = "()->i32"
	// maxTableElements bounds all tables of a module together. An element
	// costs the host eight bytes.
	maxTableElements = 1_000_000
	pageBytes        = 1 << 16
	wasiModule       = "wasi_snapshot_preview1"
)

// linker knows the imports a module may have: module, name, signature.
type linker map[string]map[string]signature

// vet refuses a module that must not be compiled. It reads the parsed module
// alone, before the engine sees a byte.
func (l linker) vet(m *module, limits abi.Limits, anyExport bool) error {
	for _, check := range []func() error{
		func() error { return l.checkImports(m) },
		func() error { return checkExports(m, anyExport) },
		func() error { return checkMemory(m, limits) },
		func() error { return checkTables(m) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// maxListed is how many faults an error lists.
const maxListed = 10

func (l linker) checkImports(m *module) error {
	var faults []string
	for _, imp := range m.imports {
		if fault := l.checkImport(m, imp); fault != "" && !slices.Contains(faults, fault) {
			faults = append(faults, fault)
		}
	}
	if len(faults) == 0 {
		return nil
	}
	more := ""
	if n := len(faults) - maxListed; n > 0 {
		faults, more = faults[:maxListed], fmt.Sprintf(", and %d more", n)
	}
	return &errForm{
		"imports the host does not have: " + strings.Join(faults, ", ") + more,
		"a plugin may import " + abi.ImportModule + ", " + abi.ExtismModule + " and " + wasiModule,
	}
}

func (l linker) checkImport(m *module, imp importEntry) string {
	full := shorten(imp.module, 80) + "." + shorten(imp.name, 80)
	want, known := l[imp.module][imp.name]
	switch {
	case imp.kind != kindFunc:
		return full + " (a " + kindNames[imp.kind] + ")"
	case !known:
		return full
	}
	if got, ok := m.signature(imp.typ); !ok || got != want {
		return fmt.Sprintf("%s as %s (it is %s)", full, shorten(string(got), 80), want)
	}
	return ""
}

func checkExports(m *module, anyExport bool) error {
	seen := make(map[string]bool, len(m.exports))
	for _, e := range m.exports {
		if seen[e.name] {
			return &errForm{fmt.Sprintf("two exports named %q", shorten(e.name, 80)), "build the plugin again"}
		}
		seen[e.name] = true
	}
	hooks := m.hooks()
	for _, h := range hooks {
		if sig, ok := m.export(string(h)); !ok || sig != hookSignature {
			return &errForm{
				fmt.Sprintf("export %s: it is %s, a hook is a function %s", h, orNone(string(sig)), hookSignature),
				"a hook takes nothing and returns an i32: 0, or nonzero for a failure",
			}
		}
	}
	if len(hooks) == 0 && !anyExport {
		return &errForm{
			"it exports no hook (" + joinHooks(abi.Hooks) + ")",
			"export a function " + string(hookSignature) + " named for a hook; build Go plugins with -buildmode=c-shared",
		}
	}
	return nil
}

func orNone(sig string) string {
	if sig == "" {
		return "no function"
	}
	return shorten(sig, 80)
}

func checkMemory(m *module, limits abi.Limits) error {
	if len(m.memories) > 1 {
		return &errForm{fmt.Sprintf("%d memories, 1 allowed", len(m.memories)), "build without the multi-memory proposal"}
	}
	limit := int64(limits.MemoryMB) << 20
	for _, mem := range m.memories {
		if need := int64(mem.min) * pageBytes; need > limit {
			return &errForm{
				fmt.Sprintf("it starts with %d MiB of memory, %d MiB allowed", need>>20, limits.MemoryMB),
				"raise its memory limit (--memory-mb), or link it with less initial memory",
			}
		}
	}
	return nil
}

func checkTables(m *module) error {
	var elements uint64
	for _, t := range m.tables {
		elements += uint64(t.min)
	}
	if elements > maxTableElements {
		return &errForm{fmt.Sprintf("tables of %d elements, %d allowed", elements, maxTableElements), "a plugin needs a table element for each function it calls indirectly"}
	}
	return nil
}

// shorten cuts foreign text for an error message.
func shorten(s string, n int) string {
	s = abi.Defuse(s)
	if len(s) <= n {
		return s
	}
	return cutText(s, n) + "..."
}

// cutText returns at most n bytes of s, whole characters.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n]
}

func joinHooks(hooks []abi.Hook) string { return joinNames(hooks) }

func joinNames[T ~string](list []T) string {
	s := make([]string, len(list))
	for i, v := range list {
		s[i] = string(v)
	}
	return strings.Join(s, ", ")
}
