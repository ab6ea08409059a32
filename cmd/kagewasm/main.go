// Command kagewasm compacts agent sessions, with plugins taking part, and
// helps to write those plugins. Run `kagewasm help` for its commands.
//
// Exit codes: 0 done (a session with nothing to do, and a compaction that
// completed by a fallback, are done), 1 failure, 2 usage or bad input.
package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/atomicfile"
)

func main() {
	collectLate()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // the second signal ends the process at once
	var patient atomic.Int64
	os.Exit(promptly(ctx, os.Args[1:], env{
		patience: &patient,
		stdin:    os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		color:     os.Getenv("NO_COLOR") == "",
		dumb:      os.Getenv("TERM") == "dumb",
		terminal:  term.IsTerminal(int(os.Stderr.Fd())),
		screen:    term.IsTerminal(int(os.Stdout.Fd())),
		outWidth:  columns(os.Stdout),
		errWidth:  columns(os.Stderr),
		stateHome: state.Home(),
	}))
}

// columns is how wide a terminal is, and 0 for whatever is none.
func columns(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// patience is how long a command has to end by itself once it was interrupted, where it
// does not ask for more.
const patience = 40 * time.Millisecond

// promptly is doMain, which ends soon after it was interrupted whatever is going on:
// the compiler of modules and the garbage collector ask nobody. What is then not
// written whole is not there at all, as after a kill.
func promptly(ctx context.Context, args []string, e env) int {
	done := make(chan int, 1)
	go func() { done <- doMain(ctx, args, e) }()
	select {
	case code := <-done:
		return code
	case <-ctx.Done():
	}
	select {
	case code := <-done:
		return code
	case <-time.After(e.patient()):
	}
	atomicfile.Abandon()
	ui.Error(e.err(), &abi.Error{Code: abi.CodeCanceled, Message: "interrupted"})
	return ui.ExitFailure
}

// env holds the streams and the folder that a command works with, so that tests can
// give it others.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	color          bool          // colours, where somebody watches
	dumb           bool          // the terminal knows no control sequences
	terminal       bool          // somebody watches stderr
	screen         bool          // somebody watches stdout
	outWidth       int           // columns of stdout, where they are known
	errWidth       int           // columns of stderr
	stateHome      string        // the platform's folder for state; empty where there is none
	patience       *atomic.Int64 // what linger asked for; nil where nobody waits
}

// linger says that the command needs so long to end once it was interrupted.
func (e env) linger(d time.Duration) {
	if e.patience != nil {
		e.patience.Store(int64(d))
	}
}

func (e env) patient() time.Duration {
	if e.patience == nil {
		return patience
	}
	return max(patience, time.Duration(e.patience.Load()))
}

// out prints to standard output, err to standard error.
func (e env) out() ui.Printer {
	return ui.Printer{W: e.stdout, Color: e.color && e.screen && !e.dumb, Width: e.outWidth}
}
func (e env) err() ui.Printer {
	return ui.Printer{W: e.stderr, Color: e.color && e.terminal && !e.dumb, Width: e.errWidth}
}

// say prints a line about what the command does beside what it was asked for.
func (e env) say(line string) { e.err().Linef("%s", line) }

// agreed asks on the terminal, and reports whether the answer is yes.
func (e env) agreed(question string, args ...any) bool {
	e.err().Askf(question+" [y/N]", args...)
	answer, _ := bufio.NewReader(e.stdin).ReadString('\n')
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// progress returns a line on standard error, which is silent where nobody watches.
func (e env) progress() *ui.Progress {
	if !e.terminal || e.dumb {
		return ui.NewProgress(nil, 0)
	}
	return ui.NewProgress(e.stderr, e.errWidth)
}

// show prints what a command has to say to standard output, in one piece: as
// JSON, or for a person.
func show[T any](e env, asJSON bool, v T, text func(ui.Printer, T)) error {
	var b bytes.Buffer
	if asJSON {
		if err := ui.JSON(&b, v); err != nil {
			return err
		}
	} else {
		p := e.out()
		p.W = &b
		text(p, v)
	}
	_, err := e.stdout.Write(b.Bytes())
	return err
}
