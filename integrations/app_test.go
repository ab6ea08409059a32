package integrations_test

import (
	"bufio"
	"encoding/json"
	"io"
	"os/exec"
	"testing"
)

// app is an agent as its own windows drive it: lines of JSON go in, and lines of JSON come out.
type app struct {
	t     *testing.T
	in    io.WriteCloser
	lines *bufio.Scanner
	cmd   *exec.Cmd
}

func startApp(t *testing.T, cmd *exec.Cmd) *app {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	a := &app{t: t, in: in, lines: bufio.NewScanner(out), cmd: cmd}
	a.lines.Buffer(nil, 64<<20)
	t.Cleanup(a.close)
	return a
}

func (a *app) close() {
	a.in.Close()
	_ = a.cmd.Process.Kill()
	_ = a.cmd.Wait()
}

func (a *app) send(v map[string]any) {
	a.t.Helper()
	line, err := json.Marshal(v)
	if err == nil {
		_, err = a.in.Write(append(line, '\n'))
	}
	if err != nil {
		a.t.Fatal(err)
	}
}
