package agenttest

import (
	"os"
	"testing"
	"time"
)

// Folder is a new folder for programs that start others, which may outlive the test for a
// moment and write there: it is removed when all of them have let go of it.
func Folder(tb testing.TB) string {
	tb.Helper()
	dir, err := os.MkdirTemp("", "kagewasm-")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		var err error
		for range 300 {
			if err = os.RemoveAll(dir); err == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		tb.Error(err)
	})
	return dir
}
