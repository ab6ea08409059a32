package work

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// file is a file that was changed.
type file struct {
	path             string
	created, deleted bool
	over             bool // it was there before it was written
	again            bool // it was deleted, and is there again as a folder
	perhaps          bool // it may have been deleted, by a pattern in a folder that is not known
	edits            int
	to               string // where it was moved
}

// changed takes a call that was to change files, and how it ended.
func (w *Work) changed(a *action.Action, text string, o outcome.Outcome) {
	f := &a.Files[0]
	if !o.Passed {
		what := strings.TrimSpace(a.Tool + " " + w.Name(f.Path) + " " + f.Lines())
		if len(o.Lines) > 0 {
			text = o.Lines[0]
		}
		w.fails(failed{what: what, key: what, path: f.Path, said: said(text)})
		return
	}
	for _, f := range a.Files {
		w.change(f)
	}
}

// change notes what was done to a file.
func (w *Work) change(ch action.File) {
	if ch.Use == action.Read {
		return
	}
	w.settled("", ch.Path)
	for _, c := range w.checks {
		c.stale = c.stale || ch.Use != action.Deleted // what was made to try something goes
	}
	f := w.file(ch.Path)
	if ch.Use != action.Deleted { // a folder that was deleted is there again
		w.files = slices.DeleteFunc(w.files, func(o *file) bool {
			return o != f && o.deleted && action.Within(ch.Path, o.path)
		})
	}
	switch ch.Use {
	case action.Created:
		f.over = ch.Over && !f.created || f.over
		f.created, f.deleted, f.again, f.perhaps, f.to = true, false, false, false, ""
	case action.Edited:
		f.edits, f.deleted, f.perhaps = f.edits+1, false, false
	case action.Deleted:
		for _, other := range w.files {
			if other == f || action.Within(other.path, ch.Path) {
				other.deleted, other.again = true, false
			}
		}
	case action.Moved:
		f.to = ch.To
	}
}

// removed notes that a step deleted the files that patterns hold, as far as they were changed before, and made folders:
// those that were deleted before are there again, with nothing in them.
func (w *Work) removed(s *action.Step) {
	for _, f := range w.files {
		f.perhaps = f.perhaps || slices.ContainsFunc(s.Removes, func(p string) bool { return action.MayMatch(p, f.path, "") })
		f.deleted = f.deleted || slices.ContainsFunc(s.Removes, func(p string) bool { return action.Matches(p, f.path, "") })
		if f.deleted && slices.ContainsFunc(s.Makes, func(folder string) bool {
			return f.path == folder || action.Within(folder, f.path)
		}) {
			f.deleted, f.again = false, true
		}
	}
}

// file is the one at a path, which it may have been given as an absolute one and as a
// relative one. It is put last.
func (w *Work) file(at string) *file {
	i := slices.IndexFunc(w.files, func(f *file) bool { return f.path == at })
	if i < 0 {
		i = slices.IndexFunc(w.files, func(f *file) bool {
			return action.SameFile(f.path, at)
		})
	}
	f := &file{path: at}
	if i >= 0 {
		f = w.files[i]
		w.files = slices.Delete(w.files, i, i+1)
	}
	w.files = append(w.files, f)
	return f
}

// changedFiles are the files as they are told, those that were changed last behind the others: of more than have room
// with what was done to them the first ones are named alone.
func changedFiles(files []*file, name func(path string) string) []string {
	told := lists.Map(files, func(f *file) string { return f.text(name) })
	more := len(told) - maxListed
	if more <= 0 || more > maxNamed {
		return told
	}
	first := lists.Map(files[:more+1], func(f *file) string { return name(f.path) })
	return append([]string{strings.Join(first, ", ")}, told[more+1:]...)
}

// maxNamed is how many files are named alone before those that were changed last.
const maxNamed = 12

// text is the file as it is told: name says what it is called.
func (f *file) text(name func(path string) string) string {
	var how []string
	if f.created && f.over {
		how = append(how, "written anew")
	} else if f.created {
		how = append(how, "written")
	}
	if f.edits > 1 {
		how = append(how, fmt.Sprintf("edited ×%d", f.edits))
	} else if f.edits == 1 {
		how = append(how, "edited")
	}
	if f.to != "" {
		how = append(how, "moved to "+f.place())
	}
	if f.deleted {
		how = append(how, "deleted")
	}
	if f.again {
		how = append(how, "deleted and made again")
	}
	if f.perhaps && !f.deleted {
		how = append(how, "perhaps deleted")
	}
	return name(f.path) + " (" + strings.Join(how, ", ") + ")"
}

// place is where the file was moved, from the folder on that both places share. A file that keeps its name is told with
// a folder at least: it is what differs.
func (f *file) place() string {
	to := behind(path.Dir(f.path), f.to)
	if to != path.Base(f.path) {
		return to
	}
	if folder := path.Base(path.Dir(f.to)); folder != "." && folder != "/" {
		return folder + "/" + to
	}
	return "./" + to
}

// behind is a path without the folders that it shares with another one's folder.
func behind(folder, p string) string {
	for folder != "." && folder != "/" {
		if rest, ok := strings.CutPrefix(p, folder+"/"); ok {
			return rest
		}
		folder = path.Dir(folder)
	}
	return p
}
