package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
)

// scriptCommands are what scripts can say beside testscript's own.
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"kagewasm-code": expectCode,
		"survives":      survives,
		"readlink":      readlink,
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

// run runs the command in the script's folder; its output is there for the
// lines that follow.
func run(ts *testscript.TestScript, args []string) int {
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
