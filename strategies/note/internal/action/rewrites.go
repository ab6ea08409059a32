package action

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lazy"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// rewriters are programs that write the files anew that they are given, each with the words of which one has it do so:
// without any it always does.
var rewriters = func() map[string][]string {
	list := make(map[string][]string)
	for _, entry := range wordLists["rewriters"] {
		program, option, _ := strings.Cut(entry, " ")
		if list[program] = append(list[program], option); option == "" {
			list[program] = nil
		}
	}
	return list
}()

// onlyTells are options with which a rewriter says what it would do.
var onlyTells = []string{"--check", "--diff", "--dry-run", "--list-different"}

// rewrites are the files that a rewriter is given and changes: names with an ending, as any other may be a folder.
func rewrites(name string, args []string) []string {
	options, ok := rewriters[name]
	has := func(option string) bool {
		return len(option) == 2 && hasOption(args, option) || slices.Contains(args, option)
	}
	if !ok || len(options) > 0 && !slices.ContainsFunc(options, has) || slices.ContainsFunc(onlyTells, has) {
		return nil
	}
	return lists.Filter(withoutOptions(args), func(f string) bool {
		return path.Ext(f) != "" && path.Base(f) != path.Ext(f)
	})
}

// restored are the files that git puts back to what a commit has: those behind "--" of a checkout, or of a restore.
func restored(args []string) []string {
	at := slices.Index(args, "--")
	switch {
	case len(args) < 2:
		return nil
	case at > 0 && (args[0] == "checkout" || args[0] == "restore"):
		return lists.Filter(args[at+1:], isNoFolder)
	case args[0] != "restore" || slices.Contains(args, "--staged") && !slices.Contains(args, "--worktree"):
		return nil
	}
	var names []string
	for i, w := range args[1:] {
		if given := args[i]; w[:min(1, len(w))] != "-" && given != "-s" && given != "--source" && isNoFolder(w) {
			names = append(names, w)
		}
	}
	return names
}

func isNoFolder(name string) bool {
	return name != "." && name != ".." && !strings.HasSuffix(name, "/")
}

// given is what an option is given: the next word, or what stands behind "=" or behind a short one.
func given(args []string, short, long string) string {
	for i, w := range args {
		next := ""
		if i+1 < len(args) {
			next = args[i+1]
		}
		value, isLong := strings.CutPrefix(w, long+"=")
		behind, isShort := strings.CutPrefix(w, short)
		switch {
		case long != "" && isLong:
			return value
		case long != "" && w == long:
			return next
		case short == "" || strings.HasPrefix(w, "--") || w == "" || w[0] != '-':
		case isShort && behind != "":
			return behind
		case strings.HasSuffix(w, short[1:]): // the last of several: -sLo
			return next
		case strings.HasSuffix(w, short[1:]+"-"): // -qO-
			return "-"
		}
	}
	return ""
}

// fetched is the file that a program loads something from an address into, empty where it shows it.
func fetched(name string, args []string) string {
	address := ""
	for _, w := range args {
		if strings.Contains(w, "://") {
			address, _, _ = strings.Cut(w, "?")
		}
	}
	last := path.Base(address)
	if strings.Count(address, "/") < 3 || path.Ext(last) == "" {
		last = ""
	}
	switch {
	case name == "wget" && slices.Contains(args, "--spider"):
		return ""
	case name == "wget":
		return strings.TrimPrefix(cmp.Or(given(args, "-O", "--output-document"), last), "-")
	}
	if file := given(args, "-o", "--output"); file != "" {
		return strings.TrimPrefix(file, "-")
	}
	if hasOption(args, "-O") || slices.Contains(args, "--remote-name") {
		return last
	}
	return ""
}

// changes reads which files are changed by a program that is none of the simple ones of [named.program].
func (n *named) changes(name string, args []string) {
	names := withoutOptions(args)
	switch {
	case name == "dd":
		for _, w := range args {
			if file, ok := strings.CutPrefix(w, "of="); ok {
				n.add(Created, file)
			}
		}
	case name == "truncate":
		n.add(Edited, lists.Filter(names, func(w string) bool { return w != given(args, "-s", "--size") })...)
	case name == "install" && !hasOption(args, "-d"):
		names = lists.Filter(names, func(w string) bool {
			return w != given(args, "-m", "--mode") && w != given(args, "-o", "--owner") && w != given(args, "-g", "--group")
		})
		if len(names) > 1 {
			n.places(false, names[:len(names)-1], names[len(names)-1])
		}
	case name == "curl" || name == "wget":
		n.add(Created, fetched(name, args))
	case name == "patch":
		names = lists.Filter(names, func(w string) bool {
			return w != given(args, "-i", "--input") && w != given(args, "-p", "--strip")
		})
		n.add(Edited, names[:min(1, len(names))]...)
	case name == "git":
		n.add(Edited, restored(args)...)
	case name == "yq" && hasOption(args, "-i") && len(names) > 1:
		n.add(Edited, names[1:]...)
	default:
		n.add(Edited, rewrites(name, args)...)
	}
}

// languages are programs that run lines of a language which stand in the script.
var languages = set.Of("python", "python3", "node", "bun", "deno", "ruby")

// ran are the lines that such a program is given by the script: behind -c or -e, or fed to it.
func ran(c *toolcall.Command, script string) string {
	if len(c.Words) == 0 || !languages[c.Words[0]] {
		return ""
	}
	if lines := cmp.Or(given(c.Words, "-c", ""), given(c.Words, "-e", "--eval")); lines != "" {
		return lines
	}
	if len(c.Words) == 1 || c.Words[1] == "-" {
		return script
	}
	return ""
}

// opened are the files that lines of such a language open to write, by names that stand there.
func opened(lines string) (files []string) {
	if lines == "" {
		return nil
	}
	for _, m := range opens().FindAllStringSubmatch(lines, -1) {
		files = append(files, cmp.Or(m[1:]...))
	}
	return files
}

var opens = lazy.Regexp(`\bopen\(\s*["']([^"'\n]+)["']\s*,\s*(?:mode\s*=\s*)?["'](?:[wax]|r\+)|` +
	`\b(?:writeFileSync|writeFile|File\.write)\(\s*["']([^"'\n]+)["']\s*,|\bPath\(\s*["']([^"'\n]+)["']\s*\)\.write_`)
