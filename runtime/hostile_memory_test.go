package runtime_test

import (
	"bytes"
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/hostile"
	"github.com/kagewasm/kagewasm/runtime"
)

// FEATURES N1: memory is bounded, whoever's it is.
func TestHostileMemory(t *testing.T) {
	newSandbox(t, runtime.Options{}).tryAll(t, hostile.Memory(), abi.Limits{TimeoutMS: 2_000})
}

// memory is what the process has resident, from a time on.
type memory struct{ before int64 }

// watchMemory begins to watch. Where the platform does not say, nothing is
// held.
func watchMemory(t *testing.T) memory {
	debug.FreeOSMemory()
	if raceDetector || os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) != nil { // resets the peak
		return memory{-1}
	}
	return memory{resident(t, "VmRSS")}
}

// within holds that the process took at most n bytes more meanwhile.
func (m memory) within(t *testing.T, n int64) {
	if m.before < 0 {
		return
	}
	if took := resident(t, "VmHWM") - m.before; took > n {
		t.Errorf("the process took %d MiB, %d allowed", took>>20, n>>20)
	}
}

// resident is a figure of the kernel about this process, in bytes.
func resident(tb testing.TB, what string) int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		tb.Fatal(err)
	}
	_, rest, _ := bytes.Cut(status, []byte("\n"+what+":"))
	var kb int64
	if _, err := fmt.Sscan(string(rest), &kb); err != nil {
		tb.Fatal(err)
	}
	return kb << 10
}
