package hostile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	goruntime "runtime"
	"runtime/debug"
	"syscall"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/cost"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/runtime"
)

// memory is bounded, whoever's it is.
func TestHostileMemory(t *testing.T) {
	features.Proves(t, "N1")
	newSandbox(t, runtime.Options{}).tryAll(t, some(Memory(), 10), abi.Limits{TimeoutMS: 2_000})
}

// memory is what the process has resident, from a time on.
type memory struct{ before int64 }

// watchMemory begins to watch. Where it cannot, it says so, and nothing is
// held; on Linux it must be able to.
func watchMemory(t *testing.T) memory {
	t.Helper()
	if cost.Raced {
		t.Log("memory is not held: the race detector has several times as much")
		return memory{-1}
	}
	// The collector comes by as it does in a program that says nothing of it, and not as seldom as tests may have it.
	percent := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(percent) })
	for range 2 { // what was pooled goes with the second collection
		debug.FreeOSMemory()
	}
	const peak = "/proc/self/clear_refs"
	switch err := os.WriteFile(peak, []byte("5"), 0); { // resets the peak
	case err == nil:
		return memory{resident(t, "VmRSS")}
	case goruntime.GOOS != "linux", errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist), errors.Is(err,
		syscall.EROFS), !hasProc():
		t.Logf("memory is not held: %v", err)
	default:
		t.Errorf("memory cannot be measured: %v", err)
	}
	return memory{-1}
}

// hasProc reports whether the kernel's files about this process are there.
func hasProc() bool {
	_, err := os.Stat("/proc/self/status")
	return err == nil
}

// within holds that the process took at most n bytes more meanwhile.
func (m memory) within(t *testing.T, n int64) {
	if took := m.taken(t); took > n {
		t.Errorf("the process took %d MiB, %d allowed", took>>20, n>>20)
	}
}

// taken is how many bytes more the process had at most, 0 where that cannot be
// measured.
func (m memory) taken(t *testing.T) int64 {
	if m.before < 0 {
		return 0
	}
	return resident(t, "VmHWM") - m.before
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
