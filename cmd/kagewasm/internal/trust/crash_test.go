//go:build unix

package trust_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/trust"
	"github.com/kagewasm/kagewasm/config"
	"github.com/kagewasm/kagewasm/internal/soak"
)

// adder is set in a process that trusts configurations: the folder of the list, and
// that of the configurations. limit is the size of its files.
const (
	adder = "KAGEWASM_TEST_ADDER"
	limit = "KAGEWASM_TEST_LIMIT"
)

func TestMain(m *testing.M) {
	if dirs := os.Getenv(adder); dirs != "" {
		state, configs, _ := strings.Cut(dirs, string(os.PathListSeparator))
		add(trust.List{Dir: state}, configs)
		return
	}
	os.Exit(m.Run())
}

// process runs add in another process.
func process(t *testing.T, state, configs string, env ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(append(os.Environ(), adder+"="+state+string(os.PathListSeparator)+configs), env...)
	return cmd
}

// add trusts configurations one after the other, and says of each when it is done: for
// ever, or with a limit until one fails.
func add(list trust.List, configs string) {
	paths, err := filepath.Glob(configs + "/*/" + config.FileName)
	if bytes, aerr := strconv.ParseUint(os.Getenv(limit), 10, 64); aerr == nil {
		signal.Ignore(syscall.SIGXFSZ)
		err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: bytes, Max: bytes})
	}
	for err == nil {
		rand.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
		for _, path := range paths {
			var c *config.Config
			if c, err = config.Load(path); err == nil {
				err = list.Add(context.Background(), c)
			}
			if err != nil {
				break
			}
			fmt.Println(path)
		}
	}
	fmt.Println("failed:", err)
}

// left is what lies in the folder of the list, but for what belongs there.
func left(t *testing.T, state string) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(state, "trust"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if !slices.Contains([]string{"trusted", "lock"}, e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

// TestKilled: what was trusted is trusted, whenever the process is killed that trusts
// the next; and the next process takes away what that left behind.
func TestKilled(t *testing.T) {
	dir, state := t.TempDir(), filepath.Join(t.TempDir(), "state")
	write(t, dir+"/.git/HEAD", "")
	for i := range 20 {
		write(t, fmt.Sprintf("%s/%d/%s", dir, i, config.FileName), sends)
	}
	list, trusted := trust.List{Dir: state}, make(map[string]bool)
	for range soak.Count(10, 50, 300) {
		cmd := process(t, state, dir)
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		lines.Scan() // it is at it
		trusted[lines.Text()] = true
		time.AfterFunc(time.Duration(rand.IntN(5000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		for lines.Scan() {
			trusted[lines.Text()] = true
		}
		_ = cmd.Wait() // killed
		for path := range trusted {
			if err := list.Check(read(t, path)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := list.Add(t.Context(), read(t, dir+"/0/"+config.FileName)); err != nil {
		t.Fatal(err)
	}
	if names := left(t, state); len(names) > 0 {
		t.Errorf("left behind: %q", names)
	}
}

// TestDiskFull: where the disk takes no more than so many bytes of the list, trusting
// fails and says so, and everything is as it was.
func TestDiskFull(t *testing.T) {
	dir, state := t.TempDir(), filepath.Join(t.TempDir(), "state")
	write(t, dir+"/.git/HEAD", "")
	list := trust.List{Dir: state}
	old, c := read(t, write(t, dir+"/old/"+config.FileName, sends)),
		read(t, write(t, dir+"/new/a/"+config.FileName, sends))
	if err := list.Add(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	for bytes := 0; bytes < 150; bytes += 20 {
		t.Run(fmt.Sprint(bytes, " bytes"), func(t *testing.T) {
			out, err := process(t, state, dir+"/new", fmt.Sprint(limit, "=", bytes)).Output()
			if said := string(out); err != nil || !strings.HasPrefix(said, "failed: write "+state) ||
				strings.Contains(said, ".tmp-") {
				t.Errorf("%q, %v", said, err)
			}
			if list.Check(old) != nil || list.Check(c) == nil {
				t.Error("the list is another one")
			}
			if names := left(t, state); len(names) > 0 {
				t.Errorf("left behind: %q", names)
			}
		})
	}
	if err := list.Add(t.Context(), c); err != nil || list.Check(c) != nil {
		t.Errorf("with room again: %v", err)
	}
}
