package outcome

import (
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/set"
)

// Many runtimes and services say that something failed in a form of their own. Texts to read talk of these too: a form
// is believed where it begins a line of a short output, or the last one of a longer.

// maxForms is how long an output is in which each line is looked at, in bytes.
const maxForms = 2000

// inForm is the first line of an output that tells a failure in the form of a runtime or a service, empty where none
// does.
func inForm(text string) string {
	if len(text) > maxForms {
		text = strings.TrimSpace(clip.Tail(text, maxForms))
		text = text[strings.LastIndexByte(text, '\n')+1:]
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); hasForm(line) {
			return line
		}
	}
	return ""
}

// hasForm reports whether a line begins in such a form, or is one of Ruby, which names the error last.
func hasForm(line string) bool {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "**": // Elixir: "** (ArgumentError) lease is frozen"
		return len(rest) > 1 && rest[0] == '(' && rest[1] >= 'A' && rest[1] <= 'Z' && strings.Contains(rest, ") ")
	case "CONFLICT": // git
		return strings.HasPrefix(rest, "(") && strings.Contains(rest, "): ")
	case "(error)": // redis
		return rest != ""
	case "permission", "Permission", "access", "Access": // "permission denied: policy ledger-ro forbids put"
		return rest == "denied" || rest == "denied." || strings.HasPrefix(rest, "denied: ")
	case "AccessDenied:", "AccessDeniedException:", "PermissionDenied:", "Forbidden:":
		return rest != ""
	case "HTTP":
		return isBadStatus(rest) && strings.Contains(rest, " ")
	case "MCP":
		return strings.HasPrefix(rest, "error -")
	case "Code:": // vault: "Code: 403. Errors:"
		return isBadStatus(rest) && strings.Contains(rest, "Errors:")
	case "Job": // systemd
		return strings.HasPrefix(rest, "for ") && strings.Contains(rest, " failed because ")
	case "MOVED": // redis: "MOVED 3999 10.0.4.7:6381"
		n := clip.Digits(rest)
		return n > 0 && strings.HasPrefix(rest[n:], " ") && strings.Contains(rest[n:], ":")
	case "Command", "command":
		return strings.HasPrefix(rest, "timed out after ")
	}
	return refuses[word] && rest != "" ||
		strings.Contains(line, "An error occurred (") && strings.Contains(line, ") when calling the ") || // AWS
		strings.Contains(word, ":") && strings.HasPrefix(rest, "<ERROR> ") || // MinIO
		strings.Contains(line, ":in ") && (strings.HasSuffix(line, "Error)") || strings.HasSuffix(line, "Exception)"))
}

// isBadStatus reports whether a text begins with the status of an answer that says that something failed.
func isBadStatus(s string) bool {
	return clip.Digits(s) == 3 && (s[0] == '4' || s[0] == '5')
}

// refuses are the words with which redis begins to say no, as programs print them.
var refuses = set.Of("WRONGTYPE", "NOAUTH", "WRONGPASS", "CLUSTERDOWN", "CROSSSLOT")

// replies are those, and others that are plain words where they stand alone.
var replies = set.Of("WRONGTYPE", "NOAUTH", "WRONGPASS", "CLUSTERDOWN", "CROSSSLOT", "MOVED", "READONLY", "OOM",
	"CONFLICT")
