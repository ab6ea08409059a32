package work

import (
	"path"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
)

// tries are folders that an agent made. What it does in those among temporary files is to try something, and not told
// of the project; a project may lie among temporary files too, so a folder is one of them as the agent made it. Others
// it made with a repository of their own: where git ran outside of them too what it commits there is no commit of the
// project, and else one of them is the project.
type tries struct {
	made    map[string]bool // true of those among temporary files
	outside bool            // git ran in none of them
}

// temporary are the folders of temporary files.
var temporary = []string{"/tmp", "/private/tmp", "/var/tmp", "/var/folders", "/private/var/folders"}

// take notes the folders that steps make.
func (t *tries) take(steps []action.Step) {
	for i := range steps {
		s := &steps[i]
		switch place := made(s); {
		case place == "":
		case slices.ContainsFunc(temporary, func(folder string) bool { return action.Within(place, folder) }):
			t.made[place] = true
		case begins(*s, "git init") && (place != s.Dir || makes(steps[:i], place)) && !t.made[place]:
			t.made[place] = false
		case begins(*s, "git init"):
			t.outside = true
		}
	}
}

// makes reports whether steps make a folder.
func makes(steps []action.Step, folder string) bool {
	return slices.ContainsFunc(steps, func(s action.Step) bool { return slices.Contains(s.Makes, folder) })
}

// branchFlags are those of git init before the name of a branch.
var branchFlags = []string{"-b", "--initial-branch"}

// made is the folder that a step makes or puts a repository into, empty where it does neither.
func made(s *action.Step) string {
	if !begins(*s, "mkdir") && !begins(*s, "git init") && !begins(*s, "git clone") {
		return ""
	}
	words := strings.Fields(s.Text)
	place := words[len(words)-1]
	switch {
	case begins(*s, "git init") && (len(words) == 2 || place[0] == '-' ||
		slices.Contains(branchFlags, words[len(words)-2])):
		return s.Dir
	case path.IsAbs(place):
		return place
	}
	return path.Join(s.Dir, place)
}

// holds reports whether a path lies in one of the folders among temporary files, or is one.
func (t *tries) holds(p string) bool {
	return strings.Contains(p, "$(mktemp") || t.lies(p, func(place string) bool { return t.made[place] })
}

// any reports whether a path lies in one of the folders, or is one.
func (t *tries) any(p string) bool { return t.holds(p) || t.lies(p, func(string) bool { return true }) }

// own reports whether a path lies in one of the folders that is not the project, or is one.
func (t *tries) own(p string) bool { return t.holds(p) || t.outside && t.any(p) }

func (t *tries) lies(p string, counts func(place string) bool) bool {
	for place := range t.made {
		if counts(place) && (p == place || action.Within(p, place)) {
			return true
		}
	}
	return false
}

// of is the folder of those among temporary files in which all of the steps run; empty where one does not.
func (t *tries) of(steps []action.Step) (place string) {
	for i := range steps {
		s := &steps[i]
		switch makes := made(s); {
		case makes != "" && t.holds(makes):
			place = makes
		case t.holds(s.Dir):
			place = s.Dir
		default:
			return ""
		}
	}
	return place
}

// amongTemporary is the folder of temporary files in which steps run, where it is that of all of them: no project's.
func amongTemporary(steps []action.Step) string {
	if len(steps) == 0 || !slices.Contains(temporary, steps[0].Dir) ||
		slices.ContainsFunc(steps, func(s action.Step) bool { return s.Dir != steps[0].Dir }) {
		return ""
	}
	return steps[0].Dir
}

// inOwn is the folder in which steps run, where that is one with a repository of its own, or one that the same script
// made; else empty.
func (t *tries) inOwn(script, steps []action.Step) string {
	if len(steps) == 0 {
		return ""
	}
	place := steps[0].Dir
	if place == "" || !makes(script, place) && !t.any(place) ||
		slices.ContainsFunc(steps, func(s action.Step) bool { return s.Dir != place }) {
		return ""
	}
	return place
}
