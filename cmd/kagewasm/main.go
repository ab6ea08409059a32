// Command kagewasm compacts agent sessions, with plugins taking part, and
// helps to write those plugins. Run `kagewasm help` for its commands.
//
// Exit codes: 0 done (a session with nothing to do, and a compaction that
// completed by a fallback, are done), 1 failure, 2 usage or bad input.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second signal ends the process at once
	os.Exit(doMain(ctx, os.Args[1:], env{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		color:     os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(os.Stderr.Fd())),
		terminal:  term.IsTerminal(int(os.Stderr.Fd())),
		screen:    term.IsTerminal(int(os.Stdout.Fd())),
		stateHome: stateHome(),
	}))
}

// env is all a command knows of the world around it.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	color          bool   // colours on stderr
	terminal       bool   // somebody watches stderr
	screen         bool   // somebody watches stdout
	stateHome      string // the platform's folder for state; empty where there is none
}
