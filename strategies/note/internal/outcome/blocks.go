package outcome

import (
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lower"
	"github.com/kagewasm/kagewasm/internal/set"
)

// Most test runners tell a failure in a few lines that go together: the test or its place, what is wrong, what was
// expected and what came. Many compilers and linters put the place on one line and the message on another one, or
// write both in a way of their own. Their shapes are few:
//
//   - a line that ends in a place, and says nothing itself: what is wrong stands below it;
//   - what was expected and what came, on lines of their own: what it is about stands above them;
//   - an error that ends with a colon: the next line says what it is;
//   - a message with the number of a line, below the name of the file;
//   - a message behind a place, marked as an error.

const (
	maxBelow = 4 // lines of a message below a place
	maxAbove = 6 // lines above what was expected that are looked at
)

// blocks reads such blocks off an output, from its beginning to its end.
type blocks struct {
	lines []string
	file  int  // the line that names the file which the next lines are about, -1 where none does
	table bool // it is the title of a table
	named bool // it is in a block
	ended int  // the line behind the last block
	quiet bool // what failed is summed up elsewhere
}

// at is the block that begins with a line, nil where none does.
func (b *blocks) at(i int) []int {
	line := bare(b.lines[i])
	b.heads(i, line)
	if !b.may(line) {
		return nil
	}
	block, listed := b.begun(i, line)
	if len(block) == 0 || isPassing(line) || isFrame(line) || isWarning(line) || isLibrary(line) {
		return nil
	}
	b.named = b.named || listed
	return block
}

// begun is the block that a line seems to begin. Listed: it is an error among those of a file.
func (b *blocks) begun(i int, line string) (block []int, listed bool) {
	switch {
	case b.file >= 0 && b.file < i && isListed(line, b.table):
		if !b.named {
			block = []int{b.file}
		}
		return append(block, i), true
	case isMarked(line) && !SaysError(line): // else it is one of the lines of the outcome
		return append([]int{i}, b.details(i)...), false
	case ofMaven(b.lines[i]):
		return []int{i}, false
	case saysNothing(line):
		if below := b.below(i); len(below) > 0 {
			return append([]int{i}, below...), false
		}
	case valueIn(line) != "":
		if values := b.values(i); len(values) > 0 {
			return append(b.above(i), values...), false
		}
	case strings.HasSuffix(line, ":") && (namesError(line+" x") || startsAny(line, "error: ", "error during ")),
		isFailedCase(line):
		if next := b.next(i); next > 0 {
			return []int{i, next}, false
		}
	}
	return nil, false
}

// may reports whether a block may begin with a line, at a glance: most lines begin none.
func (b *blocks) may(line string) bool {
	return strings.ContainsAny(line, ":([") || b.file >= 0 && clip.Digits(line) > 0 || strings.HasPrefix(line, "In ") ||
		strings.Contains(line, " of `") || strings.Contains(line, " to `") || isFailedCase(line)
}

// isFailedCase reports whether a line is that of a test of Gradle which failed: why stands below it.
func isFailedCase(line string) bool {
	return strings.HasSuffix(line, " FAILED") && strings.Contains(line, " > ") && !strings.HasPrefix(line, ">")
}

// ofMaven reports whether a line of Maven has a place in a class or a file, and says what is wrong there.
func ofMaven(line string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(clip.Head(line, maxLine)), "[ERROR] ")
	place, said, _ := strings.Cut(strings.TrimSpace(rest), " ")
	_, at, _ := strings.Cut(place, ":")
	return ok && strings.TrimSpace(said) != "" && clip.Digits(strings.TrimLeft(at, "[")) > 0
}

// heads remembers the file that the next lines are about: it stands alone on its line, or as the title of a table.
func (b *blocks) heads(i int, line string) {
	name, table := strings.CutPrefix(line, "Line ")
	if name = strings.TrimSpace(name); isFile(name) && !strings.ContainsAny(name, " :") &&
		(table || strings.Contains(name, "/") || b.lines[i][0] != ' ') {
		b.file, b.table, b.named = i, table, false
	} else if line == "" {
		b.file = -1
	}
}

// isListed reports whether a line is an error among those of a file: "12:7  error  'x' is never used", or " 77  Call to
// an undefined method" in a table.
func isListed(line string, table bool) bool {
	n := clip.Digits(line)
	if n == 0 {
		return false
	}
	rest := line[n:]
	if column, ok := strings.CutPrefix(rest, ":"); ok {
		rest = strings.TrimSpace(column[clip.Digits(column):])
		level, said, _ := strings.Cut(rest, " ")
		return clip.Digits(column) > 0 && strings.TrimSpace(said) != "" &&
			(strings.Trim(lower.Text(level), ":") == "error" || level == "✖" || level == "×")
	}
	said := strings.TrimSpace(rest)
	return table && strings.HasPrefix(rest, "  ") && strings.Contains(said, " ") && !isCode(line)
}

// isMarked reports whether a line has a place in a file, and behind it a message, in one of the ways that a line which
// merely quotes a file does not have, or says what a linker misses, or what a push was refused.
func isMarked(line string) bool {
	rest, marked := line, false
	for _, mark := range []string{"e: ", "ERROR in "} { // of Kotlin, of webpack
		if after, ok := strings.CutPrefix(line, mark); ok {
			rest, marked = after, true
		}
	}
	after, plain, ok := located(rest)
	said := strings.TrimLeft(after, " :-")
	switch {
	case strings.Contains(line, "undefined reference to ") || strings.Contains(line, "multiple definition of "),
		startsAny(line, "! [rejected]", "! [remote rejected]"):
		return true
	case !ok || !strings.Contains(said, " ") || isWarning(said):
		return false
	case marked:
		return true
	case plain:
		return strings.HasPrefix(after, " - error")
	}
	return true
}

// details are the lines behind a message that belong to it: they are indented, and say of what kind something is.
func (b *blocks) details(i int) (list []int) {
	for k := i + 1; k < min(len(b.lines), i+3); k++ {
		if name, rest, ok := strings.Cut(strings.TrimSpace(b.lines[k]), ":"); !ok || rest == "" || !detailNames[name] {
			break
		}
		list = append(list, k)
	}
	return list
}

// detailNames are what javac calls them.
var detailNames = set.Of("symbol", "location", "required", "found", "reason")

// saysNothing reports whether a line ends in a place, or names one and says no more than that there is an error.
func saysNothing(line string) bool {
	if endsInPlace(line) {
		const more = "In file included from " // and other frames
		return !startsAny(line, "at ", "❯", "-->", "# ", more, "from ") && !isLog(line)
	}
	if rest, _, ok := located(line); ok {
		said := lower.Text(strings.Trim(rest, " :-"))
		said, _ = strings.CutPrefix(said, "error")
		said = strings.Trim(said, " :")
		return (said == "" || said == "failure" || said[0] == '[' && strings.HasSuffix(said, "]")) && !isLog(line)
	}
	return strings.HasSuffix(line, ":") && strings.Contains(line, "Error at ") && hasPlaceIn(line) && !isLog(line)
}

// below are the lines of the message below a place, up to an empty one.
func (b *blocks) below(i int) (list []int) {
	for k := i + 1; k < min(len(b.lines), i+1+2*maxBelow) && len(list) < maxBelow; k++ {
		line := bare(b.lines[k])
		switch {
		case line == "" && (len(list) == 0 || !strings.HasSuffix(bare(b.lines[list[len(list)-1]]), ":")):
			return list
		case line == "" || isCode(line) || isFrame(line) || endsInPlace(line) || b.pointedAt(k):
		case isPassing(line) || SaysExit(line) || len(list) > 0 && saysNothing(line) || strings.HasPrefix(line, "---"):
			return list
		default:
			list = append(list, k)
		}
	}
	return list
}

// pointedAt reports whether a line is code, at a part of which the next line points.
func (b *blocks) pointedAt(i int) bool {
	return i+1 < len(b.lines) && strings.Contains(b.lines[i+1], "^") && isCode(clip.Head(b.lines[i+1], maxLine))
}

// wanted and got are how test runners call what was expected, and what came.
var (
	wanted = set.Of("expected", "want", "wanted", "left")
	got    = set.Of("received", "actual", "got", "right")
)

// valueIn is the name of the value that a line says, in small letters; empty where it says none.
func valueIn(line string) string {
	name, rest, ok := strings.Cut(clip.Head(line, maxError), ":")
	if name = lower.Text(strings.TrimSpace(name)); ok && strings.TrimSpace(rest) != "" &&
		!strings.HasSuffix(rest, ",") && (wanted[name] || got[name]) {
		return name
	}
	return ""
}

// values are the lines of what was expected, and of what came, from the first of both on; nil where one is missing.
func (b *blocks) values(i int) []int {
	first := valueIn(bare(b.lines[i]))
	if first == "" {
		return nil
	}
	for k := i + 1; k < min(len(b.lines), i+1+maxBehind); k++ {
		if name := valueIn(bare(b.lines[k])); name != "" && wanted[name] != wanted[first] {
			return []int{i, k}
		}
	}
	return nil
}

// above are the lines above what was expected that say what it is about: the next one, and those that name an error, up
// to one with a place.
func (b *blocks) above(i int) (list []int) {
	for k := i - 1; k >= max(b.ended, i-maxAbove); k-- {
		line := bare(b.lines[k])
		placed := hasPlaceIn(line)
		if line == "" || isCode(line) || isFrame(line) || isPassing(line) || SaysExit(line) ||
			len(list) > 0 && (strings.HasSuffix(line, ":") || !placed && !looksLikeError(line)) {
			continue
		}
		if list = append([]int{k}, list...); placed {
			break
		}
	}
	return list
}

// next is the line that says what an error is which ends with a colon, 0 where none does.
func (b *blocks) next(i int) int {
	for k := i + 1; k < min(len(b.lines), i+1+maxBehind); k++ {
		if line := bare(b.lines[k]); line != "" {
			if isCode(line) || isFrame(line) {
				return 0
			}
			return k
		}
	}
	return 0
}

// isPassing reports whether a line says that something passed, or was left out.
func isPassing(line string) bool {
	return startsAny(line, "✓", "✔", "ok ", "ok\t", "PASS", "--- PASS", "--- SKIP", "=== ", "[       OK", "[INFO]", "-- ")
}

// isWarning reports whether a line says of what level it is, and that is none of an error.
func isWarning(line string) bool {
	low := lower.Text(clip.Head(line, maxError))
	return startsAny(low, "warning", "warn ", "[warn", "note:", "info:", "w: ", "i: ", "cmake warning") ||
		strings.Contains(low, ": warning") || strings.Contains(low, ": note:") || strings.Contains(low, " - warning") ||
		strings.Contains(low, "cmake warning")
}
