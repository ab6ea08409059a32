//go:build !wasip1

package guest

import (
	"fmt"
	"io"
	"os"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/guest/internal/memhost"
)

// Main serves one call natively, for a debugger or a pipe: the hook is the
// program's argument, the input comes from standard input, the output goes to
// standard output and the log to standard error. Stored data lasts for the
// call. It ends the process: 0, 1 where the handler failed, 2 for bad usage.
func Main() {
	os.Exit(command(registered.plugin, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

func command(p Plugin, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) != 1 || !abi.Hook(args[0]).Valid() {
		fmt.Fprintf(stderr, "usage: give one hook (%s, %s or %s) as argument and its input on standard input\n",
			abi.HookPreCompact, abi.HookPostCompact, abi.HookTurnEnd)
		return 2
	}
	doc, err := io.ReadAll(stdin)
	if err != nil {
		fmt.Fprintln(stderr, "read input:", err)
		return 2
	}
	host := new(memhost.Host)
	if in, err := decodeInput(doc); err == nil {
		host.Messages = in.Messages
	}
	out, err := p.Serve(abi.Hook(args[0]), doc, host)
	for _, l := range host.Logs {
		fmt.Fprintf(stderr, "%s: %s\n", l.Level, l.Message)
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		if abi.CodeOf(err) == abi.CodeBadInput {
			return 2
		}
		return 1
	}
	if len(out) == 0 {
		out = []byte("null")
	}
	fmt.Fprintf(stdout, "%s\n", out)
	return 0
}
