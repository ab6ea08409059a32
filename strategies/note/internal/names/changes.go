package names

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
)

// facts are what is known of the changes to a file. Of edits the last place is
// kept, and no text: what stood there before is superseded.
type facts struct {
	created, deleted bool
	edits            int
	from, to         int // the lines of the last edit, zero where unknown
}

// String is " (created, edited ×3, last lines 340-352)", empty where nothing
// is known.
func (f facts) String() string {
	var parts []string
	if f.created {
		parts = append(parts, "created")
	}
	if f.edits > 1 {
		parts = append(parts, fmt.Sprintf("edited ×%d", f.edits))
	} else if f.edits == 1 {
		parts = append(parts, "edited")
	}
	if f.deleted {
		parts = append(parts, "deleted")
	}
	if f.from > 0 && f.edits > 1 {
		parts = append(parts, fmt.Sprintf("last lines %d-%d", f.from, f.to))
	} else if f.from > 0 {
		parts = append(parts, fmt.Sprintf("lines %d-%d", f.from, f.to))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// verb reads what is done off the name of a tool or of an editor's verb.
func (f *facts) verb(name string) {
	switch n := strings.ToLower(name); {
	case strings.Contains(n, "delete"), strings.Contains(n, "remove"):
		f.deleted = true
	case strings.Contains(n, "create"), strings.Contains(n, "write"):
		f.created = true
	default:
		f.edits = 1
	}
}

// argument reads lines off the arguments of editors that count them.
func (f *facts) argument(key, value string) {
	n, err := strconv.Atoi(value)
	if err != nil || n <= 0 {
		return
	}
	switch key {
	case "start_line", "insert_line", "line_start":
		f.from, f.to = n, max(n, f.to)
	case "end_line", "line_end":
		f.to = n
	}
}

// changed notes what a call did to its file, now that it did.
func (b *builder) changed(c *call, output string) {
	ch := c.change
	if !ch.created && !ch.deleted && ch.edits == 0 {
		return
	}
	if from, to := numbered(output); from > 0 && ch.edits > 0 {
		ch.from, ch.to = from, to
	}
	name := ""
	scanPath(c.subject, func(found string, cl class) {
		if cl == path {
			name = found
		}
	})
	if it := b.items[name]; it != nil {
		it.facts.merge(ch)
	}
}

// merge takes a later change in. A file that is written again after it was
// deleted is there again.
func (f *facts) merge(later facts) {
	f.created = f.created || later.created
	f.deleted = later.deleted || f.deleted && !later.created && later.edits == 0
	f.edits += later.edits
	if later.from > 0 {
		f.from, f.to = later.from, max(later.from, later.to)
	}
}

// numbered is the first and the last number of the lines that an editor shows
// after an edit, as "   12→text" or "   12\ttext"; zero where there are none.
func numbered(output string) (from, to int) {
	for line := range strings.Lines(output) {
		line = strings.TrimLeft(line, " ")
		n := digits(line)
		if n == 0 || n > 7 || !strings.HasPrefix(line[n:], "→") && !strings.HasPrefix(line[n:], "\t") {
			continue
		}
		to, _ = strconv.Atoi(line[:n])
		from = cmp.Or(from, to)
	}
	return from, to
}

// patch notes the files that a patch changes, as the arguments of a call hold
// it: "*** Update File: a.go", or "+++ b/a.go" with "@@ -1,2 +3,4 @@" below.
func (b *builder) patch(text string) {
	if !strings.Contains(text, "*** Begin Patch") && !strings.Contains(text, "\n+++ ") {
		return
	}
	var at *item
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if name, ch, ok := patched(line); ok {
			b.subject(name, modified)
			if at = b.items[trim(name)]; at != nil {
				at.facts.merge(ch)
			}
			continue
		}
		if _, rest, ok := strings.Cut(line, "@@ -"); ok && at != nil {
			at.facts.merge(hunk(rest))
		}
	}
}

// patchHeads begin the lines of a patch that name a file.
var patchHeads = []struct {
	head string
	ch   facts
}{
	{"*** Update File: ", facts{edits: 1}},
	{"*** Add File: ", facts{created: true}},
	{"*** Delete File: ", facts{deleted: true}},
	{"+++ b/", facts{edits: 1}},
}

// patched is the file that a line of a patch says it is about.
func patched(line string) (name string, ch facts, ok bool) {
	for _, p := range patchHeads {
		if name, ok = strings.CutPrefix(line, p.head); ok {
			return strings.TrimSpace(name), p.ch, true
		}
	}
	return "", facts{}, false
}

// hunk reads the lines of the new text in "1,2 +3,4 @@".
func hunk(rest string) facts {
	_, rest, _ = strings.Cut(rest, "+")
	rest, _, _ = strings.Cut(rest, " ")
	at, size, _ := strings.Cut(rest, ",")
	from, err := strconv.Atoi(at)
	n, err2 := strconv.Atoi(size)
	if err != nil || err2 != nil || from <= 0 || n <= 0 {
		return facts{}
	}
	return facts{from: from, to: from + n - 1}
}
