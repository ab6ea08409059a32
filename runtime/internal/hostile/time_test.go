package hostile_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/runtime/internal/host"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/runtime"
)

// a guest that takes for ever ends soon after its deadline.
func TestHostileTime(t *testing.T) {
	features.Proves(t, "N1")
	newSandbox(t, runtime.Options{}).tryAll(t, some(Time(), 10), briefly)
}

// The same guests end by fuel: none of them runs without using it up, and each
// uses as much every time.
func TestHostileFuel(t *testing.T) {
	const most = 2_500_000 // that one checkpoint may charge: 16 MiB
	fuel := int64(soak.Count(200_000, 1_000_000, 5_000_000))
	s := newSandbox(t, runtime.Options{})
	for _, g := range some(Time(), 7) {
		g.Code = abi.CodeFuel
		t.Run(g.Name, func(t *testing.T) {
			limits := abi.Limits{TimeoutMS: 60_000, Fuel: fuel}
			first, _ := s.try(t, g, limits)
			p, err := s.load(t, g, g.Wasm(), limits)
			if err != nil {
				t.Fatal(err)
			}
			again, _ := s.call(t, g, p)
			if first.Fuel < fuel || first.Fuel > fuel+most || again.Fuel != first.Fuel {
				t.Errorf("%d units of fuel, then %d, %d allowed", first.Fuel, again.Fuel, fuel)
			}
		})
	}
}

// Calls nested too deep end before the host's stack does.
func TestHostileStack(t *testing.T) {
	s := newSandbox(t, runtime.Options{})
	s.tryAll(t, some(Stack(), 4), abi.Limits{})
	s.try(t, Chain(abi.CodeStack), abi.Limits{StackBytes: 1 << 20})
}

// Any function a guest can import, called for ever: with zeroes, and with
// numbers that are good addresses and large lengths.
func TestHostileImports(t *testing.T) {
	s := newSandbox(t, runtime.Options{Counter: plugintest.Bytes{}})
	funcs := imports(t)
	for i, f := range soak.Sample(funcs, 25, len(funcs)) {
		// In `make test` one of them.
		for _, arg := range []int64{0, 1 << 20}[i%2*soak.Count(1, 0, 0):][:soak.Count(1, 2, 2)] {
			t.Run(fmt.Sprintf("%s.%s(%d)", f.module, f.name, arg), func(t *testing.T) {
				g := Repeats(f.module, f.name, f.signature, arg)
				limits := abi.Limits{TimeoutMS: 20}
				if g.Code = repeated(f.name, arg); g.Code != abi.CodeDeadline {
					limits.TimeoutMS = 2_000
				}
				s.try(t, g, limits)
			})
		}
	}
}

// repeated is what ends a loop of a function.
func repeated(name string, arg int64) abi.Code {
	zero := arg == 0
	switch name {
	case "proc_exit":
		return abi.CodeExit
	case "input_set", "fd_filestat_set_times":
		return abi.CodeDenied
	case "http_request":
		return abi.CodeUsage // a request that is none
	case "load_u8", "load_u64", "store_u8", "store_u64":
		return abi.CodeTrap // there is nothing
	case "output_set":
		if !zero {
			return abi.CodeTrap
		}
	case "fd_read", "fd_pread", "fd_write", "fd_pwrite", "poll_oneoff", "fd_renumber", "sock_recv", "sock_send",
		"fd_prestat_dir_name":
		if !zero {
			return abi.CodeQuota // a million is too many
		}
	}
	if strings.HasPrefix(name, "path_") && !zero {
		return abi.CodeQuota // as long a path
	}
	return abi.CodeDeadline
}

// importable is a function that a guest may import.
type importable struct{ module, name, signature string }

// imports are all such functions, in order.
func imports(t *testing.T) (all []importable) {
	t.Helper()
	wasi, err := host.WASISignatures()
	if err != nil {
		t.Fatal(err)
	}
	for name, signature := range wasi {
		all = append(all, importable{host.WASIModule, name, string(signature)})
	}
	for module, funcs := range host.Functions {
		for _, f := range funcs {
			all = append(all, importable{module, f.Name, string(f.Signature)})
		}
	}
	slices.SortFunc(all, func(a, b importable) int {
		return cmp.Or(strings.Compare(a.module, b.module), strings.Compare(a.name, b.name))
	})
	return all
}
