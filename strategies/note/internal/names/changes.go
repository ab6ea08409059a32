package names

import (
	"cmp"
	"strconv"
	"strings"
)

// facts are what is known of the changes to a file. Of edits the last place is
// kept, and no text: what stood there before is superseded.
type facts struct {
	created, deleted bool
	written          bool // all of it, and whether it was there before is not known, or it was
	again            bool // it was deleted, and is there again as a folder
	perhaps          bool // it may have been deleted, by a pattern in a folder that is not known
	edits            int
	lines            string // those of the last edit, empty where they are not known
	moved            string // where it stands now
	was              string // its name before it was moved here, where that was another one
	at               int    // the message of the last change
}

// String is what stands behind the name of a modified file: "×3 (created first, last
// lines 340-352)". It is empty where the file was edited once, and no more is known: most were.
func (f facts) String() string {
	count := ""
	var parts []string
	if f.created {
		parts = append(parts, "created")
	} else if f.written {
		parts = append(parts, "written")
	}
	if f.edits > 1 {
		if count = timesMark + strconv.Itoa(f.edits); f.created {
			parts[0] += madeFirst // the edits are counted, and came behind that
		}
	} else if f.edits == 1 {
		parts = append(parts, "edited")
	}
	if f.was != "" {
		parts = append(parts, wasMark+f.was)
	}
	switch {
	case f.deleted:
		parts = append(parts, "deleted")
	case f.again:
		parts = append(parts, madeAgain)
	case f.perhaps:
		parts = append(parts, perhapsDeleted)
	case f.moved == Elsewhere || strings.ContainsAny(f.moved, "(), "):
		parts = append(parts, "moved")
	case f.moved != "":
		parts = append(parts, "moved to "+f.moved)
	case f.lines != "":
		what := "line "
		if strings.Contains(f.lines, "-") {
			what = "lines "
		}
		if f.edits > 1 {
			what = "last " + what
		}
		parts = append(parts, what+f.lines)
	case f.edits == 0 && !f.created && !f.written && f.was == "":
		parts = append(parts, movedHere)
	}
	if len(parts) == 0 || f == (facts{edits: 1, at: f.at}) {
		return count
	}
	return count + " (" + strings.Join(parts, ", ") + ")"
}

// madeFirst is said of a file that was created, and then edited as often as is counted.
const madeFirst = " first"

// madeAgain is said of a folder that was deleted and is there again.
const madeAgain = "deleted and made again"

// perhapsDeleted is said of a file that a pattern may have held by which files were deleted.
const perhapsDeleted = "perhaps deleted"

// wasMark is said of a file that was moved over another name: its changes were made under the one before.
const wasMark = "was "

// movedHere is said of a file of which no more is known.
const movedHere = "moved here"

// Elsewhere is where a file was moved of which it is not told.
const Elsewhere = "elsewhere"

// gone reports whether the file is no longer at its place.
func (f *facts) gone() bool { return f.deleted || f.moved != "" }

// merge takes in another change, or those that are known of the same file by another
// name. A file that is written again after it was deleted is there again.
func (f *facts) merge(other facts) {
	earlier, later := *f, other
	if later.at < earlier.at {
		earlier, later = later, earlier
	}
	if earlier.deleted && (later.created || later.written) {
		earlier.was = "" // that one is gone
	}
	*f = facts{created: earlier.created || later.created, written: earlier.written || later.written,
		edits: earlier.edits + later.edits, at: later.at, deleted: later.deleted, again: later.again,
		perhaps: later.perhaps, moved: later.moved, was: cmp.Or(later.was, earlier.was),
		lines: cmp.Or(later.lines, earlier.lines)}
	if !later.created && !later.written && later.edits == 0 && !later.gone() && !later.again && !later.perhaps {
		f.deleted, f.again, f.perhaps, f.moved = earlier.deleted, earlier.again, earlier.perhaps, earlier.moved
	}
}
