package process_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/process"
)

// TestMain prints the name of the process where a test asks for that.
func TestMain(m *testing.M) {
	if os.Getenv("NAME_YOURSELF") != "" {
		_, _ = os.Stdout.WriteString(process.Self())
		return
	}
	os.Exit(m.Run())
}

// TestGone: a process that has ended is gone, and one whose number another has now; this one is not, and neither is
// what ran elsewhere or is not known.
func TestGone(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "NAME_YOURSELF=1")
	out, err := cmd.Output()
	self := process.Self()
	if err != nil || self == "" || len(out) == 0 {
		t.Skipf("processes have no names here: %q, %q, %v", self, out, err)
	}
	parts := strings.Fields(self)
	with := func(i int, text string) string {
		list := append([]string(nil), parts...)
		list[i] = text
		return strings.Join(list, " ")
	}
	for name, want := range map[string]bool{self: false, string(out): true, with(3, "1"): true,
		with(0, "another-boot"): false, with(1, "pid:[1]"): false, "": false, "x": false, with(2, "x"): false} {
		if got := process.Gone(name); got != want {
			t.Errorf("%q is gone: %v, want %v", name, got, want)
		}
	}
}
