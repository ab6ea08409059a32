package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/store/kv"
)

// scriptCommands are what scripts can say beside testscript's own.
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"kagewasm":      succeed,
		"kagewasm-code": expectCode,
		"survives":      survives,
		"readlink":      readlink,
		"kept":          kept,
		"keep":          keep,
	}
}

// kept is `kept STATE NAMESPACE KEY [TEXT]`: a state keeps a value under the key, in which
// the text stands; it is on standard output. A key that ends with a slash is any below it.
func kept(ts *testscript.TestScript, neg bool, args []string) {
	m, err := state.LookAtMemory(context.Background(), ts.MkAbs(args[0]))
	ts.Check(err)
	defer m.Close()
	key := args[2]
	if strings.HasSuffix(key, "/") {
		keys, err := m.List(context.Background(), args[1], key)
		ts.Check(err)
		key = append(keys, "none")[0]
	}
	value, found, err := m.Get(context.Background(), args[1], key)
	ts.Check(err)
	fmt.Fprint(ts.Stdout(), value)
	if len(args) > 3 {
		found = strings.Contains(value, args[3])
	}
	if found == neg {
		ts.Fatalf("%s %s: %v, %q", args[1], args[2], found, value)
	}
}

// keep is `keep STATE NAMESPACE KEY FILE`: somebody puts what a file holds under the key; with
// ! and no file they take the value away.
func keep(ts *testscript.TestScript, neg bool, args []string) {
	s, err := store.Open(context.Background(), filepath.Join(ts.MkAbs(args[0]), state.SessionsFile), store.Options{})
	ts.Check(err)
	defer s.Close()
	m := s.Memory(kv.Options{})
	if neg {
		ts.Check(m.Delete(context.Background(), args[1], args[2]))
		return
	}
	ts.Check(m.Set(context.Background(), args[1], args[2], ts.ReadFile(args[3])))
}

// succeed is `kagewasm ARGS...`: the command succeeds.
func succeed(ts *testscript.TestScript, neg bool, args []string) {
	if code := run(ts, args); (code != 0) != neg {
		ts.Fatalf("exit code %d", code)
	}
}

// expectCode is `! kagewasm-code N ARGS...`: the command fails with exactly
// that exit code.
func expectCode(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if !neg {
		ts.Fatalf("write ! kagewasm-code N ARGS: it is for failures")
	}
	code := run(ts, args[1:])
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// survives is `survives MODULE CODE [FLAGS...]`: a compaction with the module
// completes by drop, and the failure of that code is in the report.
func survives(ts *testscript.TestScript, neg bool, args []string) {
	module, want := args[0], abi.Code(args[1])
	report := module + "-report.json"
	line := append([]string{"compact", ts.Getenv("SESSION"), "--window", "8000", "--state", ":memory:",
		"--plugin", ts.Getenv("BAD") + "/" + module + ".wasm", "--out", module +
			"-out.jsonl", "--report", report, "-q"}, args[2:]...)
	if code := run(ts, line); code != 0 {
		ts.Fatalf("%s: exit code %d", module, code)
	}
	data := ts.ReadFile(report)
	var r kagewasm.Report
	ts.Check(json.Unmarshal([]byte(data), &r))
	if !r.Compacted || !r.Fallback || r.Strategy != "drop" || r.ReasonCode != abi.ReasonCompacted {
		ts.Fatalf("%s: compacted %v, fallback %v, strategy %q, reason %s", module, r.Compacted, r.Fallback, r.Strategy,
			r.ReasonCode)
	}
	for _, f := range r.Failures {
		if f.Code == want && f.Plugin == module && f.Hook == abi.HookPreCompact && f.Phase != "" {
			return
		}
	}
	ts.Fatalf("%s: no failure of code %s with plugin, hook and phase in %s", module, want, data)
}

// run runs the command in the script's folder; its output is there for the lines that follow.
// In CI it is a process. A call is six times as fast, and takes the folder and the environment
// of this one: scripts run one after the other. `exec kagewasm` always is a process.
func run(ts *testscript.TestScript, args []string) int {
	if soak.Count(0, 1, 1) == 1 {
		return runProcess(ts, args)
	}
	home, err := os.Getwd()
	ts.Check(err)
	ts.Check(os.Chdir(ts.MkAbs(".")))
	defer os.Chdir(home)
	defer setenv("PWD", ts.MkAbs("."))()
	for _, name := range []string{"HOME", "TMPDIR", "KEY"} {
		defer setenv(name, ts.Getenv(name))()
	}
	return doMain(context.Background(), args, env{
		stdin: strings.NewReader(""), stdout: ts.Stdout(), stderr: ts.Stderr(), stateHome: ts.Getenv("STATE_HOME"),
	})
}

// setenv sets a variable of the environment until the function it returns is called. An empty
// value is none.
func setenv(name, value string) (restore func()) {
	before, was := os.LookupEnv(name)
	set := func(value string, there bool) {
		if there {
			_ = os.Setenv(name, value) // of a name that is one
		} else {
			_ = os.Unsetenv(name)
		}
	}
	set(value, value != "")
	return func() { set(before, was) }
}

func runProcess(ts *testscript.TestScript, args []string) int {
	err := ts.Exec("kagewasm", args...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	ts.Check(err)
	return 0
}

// readlink is `readlink LINK TARGET`: LINK is still a link, to TARGET.
func readlink(ts *testscript.TestScript, neg bool, args []string) {
	got, err := os.Readlink(ts.MkAbs(args[0]))
	ts.Check(err)
	if got != ts.MkAbs(args[1]) && got != args[1] {
		ts.Fatalf("%s points to %s", args[0], got)
	}
}
