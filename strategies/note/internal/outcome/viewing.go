package outcome

import (
	"path"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// Logs, files, pages and rows talk of errors and of codes. A command that only shows them did not fail by what they
// say: it failed where its harness says so, or where the program itself complains before anything else.

// Flags reports whether results of commands have the flag of an error: a harness that sets it says of the others that
// they ended well, and a code in what they show is another one's.
func (k *Known) Flags(msgs []abi.Message) bool {
	for _, r := range k.results(msgs) {
		if r.answer.IsError {
			return true
		}
	}
	return false
}

// onlyShows reports whether a script does nothing but show text: each of its commands shows it, or passes it on.
func onlyShows(list []toolcall.Command) bool {
	any, piped := false, false
	for i := range list {
		c := &list[i]
		shows := views(c)
		if len(c.Writes)+len(c.Appends) > 0 || !shows && !c.SetsScene() && !(piped && isOne(c, passers)) ||
			isEditor(c.Words) {
			return false
		}
		any = any || shows
		piped = c.Then == "|"
	}
	return any
}

// shows reports whether a script shows text, alone or for other commands to read.
func shows(list []toolcall.Command) bool { return onlyShows(list) || ShowsText(list) }

// views reports whether a command shows what stands somewhere else.
func views(c *toolcall.Command) bool {
	if isOne(c, viewers) || isOne(c, readers) {
		return true
	} else if len(c.Words) < 2 {
		return false
	}
	args := c.Words[1:]
	switch program := path.Base(c.Words[0]); {
	case logged[program]:
		i := slices.Index(args, "logs")
		return i >= 0 && !slices.Contains(args[:i], "run") && !slices.Contains(args[:i], "exec")
	case program == "git":
		return slices.ContainsFunc(args, func(w string) bool { return viewers["git "+w] }) &&
			(args[0] == "-C" || args[0] == "--no-pager" || args[0] == "-P")
	case program == "curl":
		return !slices.ContainsFunc(args, savesOrSends)
	case program == "gh":
		return slices.Contains(args[:min(2, len(args))], "view")
	case asked[program]:
		return slices.ContainsFunc(args, func(w string) bool {
			return strings.HasPrefix(lower.Text(strings.TrimSpace(w)), "select ")
		})
	}
	return false
}

// savesOrSends reports whether an option of curl makes it more than show a page.
func savesOrSends(w string) bool {
	if strings.HasPrefix(w, "--") {
		return startsAny(w, "--output", "--remote", "--data", "--request", "--form", "--upload", "--json")
	}
	return strings.HasPrefix(w, "-") && strings.ContainsAny(w, "oOXdFT")
}

// readers show text too, and what they show last is told as of any command; logged are programs of which "logs" does,
// and asked are those that are asked for rows. Passers pass on what they are given.
var (
	readers = set.Of("more", "nl", "zcat", "zless", "zgrep", "egrep", "fgrep", "strings", "dmesg", "journalctl",
		"git stash show", "git reflog", "printf")
	logged = set.Of("docker", "podman", "nerdctl", "docker-compose", "podman-compose", "kubectl", "oc", "heroku", "fly",
		"flyctl", "vercel", "pm2", "aws", "gcloud", "railway", "wrangler")
	asked   = set.Of("sqlite3", "psql", "mysql", "mariadb", "duckdb")
	passers = set.Of("sort", "uniq", "cut", "tr", "column", "fold", "rev", "tac")
)

// complaints are how programs begin to say that they could not show it, besides with their name.
var complaints = map[string][]string{
	"git":     {"fatal: ", "error: "},
	"kubectl": {"Error from server", "error: ", "Error: unknown", "Unable to connect to the server", "The connection to "},
	"docker": {"Error response from ", "Error: No such ", "Error: Cannot ", "Cannot connect to the Docker daemon",
		"permission denied while ", "no such service", "no configuration file", "unknown "},
	"sqlite3": {"Error: in prepare", "Error: near ", "Error: no such table", "Error: no such column",
		"Error: unable to open", "Error: incomplete", "Error: stepping", "Parse error", "Runtime error"},
	"psql":       {"ERROR:  ", "FATAL:  ", "could not connect"},
	"mysql":      {"ERROR "},
	"curl":       {"HTTP/"},
	"gh":         {"failed to ", "could not ", "HTTP 4", "HTTP 5", "To get started with GitHub CLI", "GraphQL: "},
	"journalctl": {"Failed to ", "No journal files"},
	"rg":         {"regex parse error", "error: "},
	"find":       {"error: "},
}

// beginsWithCode reports whether a result begins with the line in which a harness tells a code: what is shown ends with
// those of other programs.
func beginsWithCode(text string) bool {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return SaysExit(strings.TrimSpace(line))
}

// isOwn reports whether the first line of what a script shows is an error of what was to show it: of the program, of a
// shell, or where other commands read what is shown, of a runtime.
func isOwn(list []toolcall.Command, text string) bool {
	name, _, ok := strings.Cut(firstLine(text), ":")
	return complains(list, text) || !onlyShows(list) && ok && (runtimes[name] || strings.HasPrefix(name, "Error from ") ||
		strings.HasPrefix(name, "Error response "))
}

// runtimes begin errors of programs that read what is shown.
var runtimes = set.Of("fatal", "error", "Traceback (most recent call last)")

// complains reports whether the first line of what a script put out is a program's own that was to show something, or
// a shell's: "cat: a.txt: No such file or directory", "Error from server (NotFound)".
func complains(list []toolcall.Command, text string) bool {
	line := firstLine(text)
	name, _, _ := strings.Cut(line, ":")
	return name != line && shellNames[name] || slices.ContainsFunc(list, func(c toolcall.Command) bool {
		if len(c.Words) == 0 {
			return false
		}
		program := path.Base(c.Words[0])
		return name != line && name == program || startsAny(line, complaints[program]...)
	})
}

// shellNames begin errors of shells.
var shellNames = set.Of("bash", "sh", "zsh", "/bin/sh", "/bin/bash", "(eval)")

// firstLine is the first line of a result that its harness did not write.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = unwrap(strings.TrimSpace(line)); line != "" && !SaysExit(line) {
			return line
		}
	}
	return ""
}
