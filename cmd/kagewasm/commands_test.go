package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/soak"
)

// scriptCommands are what scripts can say beside testscript's own.
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"kagewasm":      succeed,
		"kagewasm-code": expectCode,
		"survives":      survives,
		"readlink":      readlink,
	}
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
	var exit *exec.ExitError
	if errors.As(err, &exit) {
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
