package runtime

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/runtime/internal/host"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

const (
	hookSignature wasm.Signature = "()->i32"
	pageBytes                    = 1 << 16
)

// refusal says why a module is not taken, and what can be done.
func refusal(message, hint string) *wasm.FormError {
	return &wasm.FormError{Message: message, Hint: hint}
}

// linker knows the imports a module may have: module, name, signature.
type linker map[string]map[string]wasm.Signature

// newLinker collects every import a guest may have, with its signature.
func newLinker() (linker, error) {
	wasi, err := host.WASISignatures()
	l := linker{host.WASIModule: wasi}
	for module, funcs := range host.Functions {
		l[module] = make(map[string]wasm.Signature, len(funcs))
		for _, f := range funcs {
			l[module][f.Name] = f.Signature
		}
	}
	return l, err
}

// vet refuses a module that must not be compiled. It reads the parsed module
// alone, before the engine sees a byte.
func (l linker) vet(m *wasm.Module, limits abi.Limits, anyExport bool) error {
	for _, check := range []func() error{
		func() error { return l.checkImports(m) },
		func() error { return checkExports(m, anyExport) },
		func() error { return checkMemory(m, limits) },
		func() error { return checkTables(m, limits) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// maxListed is how many faults an error lists.
const maxListed = 10

func (l linker) checkImports(m *wasm.Module) error {
	var faults []string
	for _, imp := range m.Imports {
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
	return refusal(
		"imports the host does not have: "+strings.Join(faults, ", ")+more,
		"a plugin may import "+abi.ImportModule+", "+abi.ExtismModule+" and "+host.WASIModule,
	)
}

func (l linker) checkImport(m *wasm.Module, imp wasm.Import) string {
	full := host.Shorten(imp.Module, 80) + "." + host.Shorten(imp.Name, 80)
	want, known := l[imp.Module][imp.Name]
	switch {
	case imp.Kind != wasm.KindFunc:
		return full + " (a " + kindNames[imp.Kind] + ")"
	case !known:
		return full
	}
	if got, ok := m.Signature(imp.Type); !ok || got != want {
		return fmt.Sprintf("%s as %s (it is %s)", full, host.Shorten(string(got), 80), want)
	}
	return ""
}

func checkExports(m *wasm.Module, anyExport bool) error {
	seen := make(map[string]bool, len(m.Exports))
	for _, e := range m.Exports {
		if seen[e.Name] {
			return refusal(fmt.Sprintf("two exports named %q", host.Shorten(e.Name, 80)), "build the plugin again")
		}
		seen[e.Name] = true
	}
	hooks := hooksOf(m)
	for _, h := range hooks {
		if sig, ok := m.ExportedFunc(string(h)); !ok || sig != hookSignature {
			return refusal(
				fmt.Sprintf("export %s: it is %s, a hook is a function %s", h, orNone(string(sig)), hookSignature),
				"a hook takes nothing and returns an i32: 0, or nonzero for a failure",
			)
		}
	}
	if len(hooks) == 0 && !anyExport {
		return refusal(
			"it exports no hook ("+joinNames(abi.Hooks)+")",
			"export a function "+string(hookSignature)+" named for a hook; build Go plugins with -buildmode=c-shared",
		)
	}
	return nil
}

func orNone(sig string) string {
	if sig == "" {
		return "no function"
	}
	return host.Shorten(sig, 80)
}

func checkMemory(m *wasm.Module, limits abi.Limits) error {
	if len(m.Memories) > 1 {
		return refusal(fmt.Sprintf("%d memories, 1 allowed", len(m.Memories)), "build without the multi-memory proposal")
	}
	limit := int64(limits.MemoryMB) << 20
	for _, mem := range m.Memories {
		if need := int64(mem.Min) * pageBytes; need > limit {
			return refusal(
				fmt.Sprintf("it starts with %d MiB of memory, %d MiB allowed", need>>20, limits.MemoryMB),
				"raise its memory limit (--memory-mb), or link it with less initial memory",
			)
		}
	}
	return nil
}

func checkTables(m *wasm.Module, limits abi.Limits) error {
	var elements uint64
	for _, t := range m.Tables {
		elements += uint64(t.Min)
	}
	if elements > uint64(limits.TableElements) {
		return refusal(fmt.Sprintf("tables of %d elements, %d allowed", elements, limits.TableElements), host.TableHint)
	}
	return nil
}

func joinNames[T ~string](list []T) string { return strings.Join(lists.Strings(list), ", ") }

var kindNames = [...]string{"function", "table", "memory", "global"}

// hooksOf are the hooks a module exports, whatever they are.
func hooksOf(m *wasm.Module) []abi.Hook {
	return lists.Filter(abi.Hooks, func(h abi.Hook) bool {
		_, ok := m.Export(string(h))
		return ok
	})
}
