package demogen

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Tree is the files of a project by path.
type Tree map[string]string

// parseTree reads files that are written as a script: the path as verb.
func parseTree(script []byte) Tree {
	t := make(Tree)
	for _, e := range parse(script) {
		t[e.verb] = e.body + "\n"
	}
	return t
}

// read returns the lines from first to last with their numbers; last 0 is the
// end of the file.
func (t Tree) read(name string, first, last int) (string, bool) {
	text, ok := t[name]
	if !ok {
		return fmt.Sprintf("read_file: open %s: no such file or directory", name), false
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if last == 0 || last > len(lines) {
		last = len(lines)
	}
	return numbered(lines, max(first, 1), last), true
}

func numbered(lines []string, first, last int) string {
	var b strings.Builder
	for i := first; i <= last; i++ {
		fmt.Fprintf(&b, "%4d\t%s\n", i, lines[i-1])
	}
	return strings.TrimRight(b.String(), "\n")
}

// list returns what is in a folder, folders with a slash.
func (t Tree) list(dir string) (string, bool) {
	seen := make(map[string]bool)
	for name := range t {
		rest := name
		if dir != "." {
			var ok bool
			if rest, ok = strings.CutPrefix(name, dir+"/"); !ok {
				continue
			}
		}
		entry, _, below := strings.Cut(rest, "/")
		if below {
			entry += "/"
		}
		seen[entry] = true
	}
	if len(seen) == 0 {
		return fmt.Sprintf("list_dir: open %s: no such file or directory", dir), false
	}
	return strings.Join(slices.Sorted(maps.Keys(seen)), "\n"), true
}

// grep returns the lines below dir that match.
func (t Tree) grep(pattern, dir string) (string, bool) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "grep: " + err.Error(), false
	}
	var hits []string
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if dir != "." && name != dir && !strings.HasPrefix(name, dir+"/") {
			continue
		}
		for i, line := range strings.Split(strings.TrimSuffix(t[name], "\n"), "\n") {
			if re.MatchString(line) {
				hits = append(hits, fmt.Sprintf("%s:%d:%s", name, i+1, line))
			}
		}
	}
	if len(hits) == 0 {
		return "no matches", true
	}
	return strings.Join(hits, "\n"), true
}

// edit replaces the one place where was stands, and shows its ends with a line
// around it.
func (t Tree) edit(name, was, now string) (string, bool) {
	text, ok := t[name]
	if !ok {
		return fmt.Sprintf("edit_file: open %s: no such file or directory", name), false
	}
	switch n := strings.Count(text, was); {
	case n == 0:
		return fmt.Sprintf("edit_file: %s: old_text not found; read the file again, it may have changed", name), false
	case n > 1:
		return fmt.Sprintf("edit_file: %s: old_text found %d times; give more of what stands around it", name, n), false
	}
	before, after, _ := strings.Cut(text, was)
	t[name] = before + now + after
	first := strings.Count(before, "\n") + 1
	last := first + strings.Count(strings.TrimSuffix(now, "\n"), "\n")
	var shown string
	if last-first <= 5 {
		shown, _ = t.read(name, first-1, last+1)
	} else {
		head, _ := t.read(name, first-1, first+1)
		tail, _ := t.read(name, last-1, last+1)
		shown = head + "\n   ...\n" + tail
	}
	return fmt.Sprintf("edited %s, lines %d-%d:\n%s", name, first, last, shown), true
}

// write creates a file or replaces it whole.
func (t Tree) write(name, text string) (string, bool) {
	verb := "created"
	if _, ok := t[name]; ok {
		verb = "replaced"
	}
	t[path.Clean(name)] = text
	return fmt.Sprintf("%s %s (%d lines, %d bytes)", verb, name, strings.Count(text, "\n"), len(text)), true
}
