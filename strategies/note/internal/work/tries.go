package work

import (
	"path"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
)

// tries are the folders that an agent made among temporary files to try something in.
// What it commits there is no commit of the project. A project may lie there too: a
// folder is one of them because the agent made it.
type tries map[string]bool

// temporary are the folders of temporary files.
var temporary = []string{"/tmp", "/private/tmp", "/var/tmp", "/var/folders", "/private/var/folders"}

// take notes the folders that steps make.
func (t tries) take(steps []action.Step) {
	for i := range steps {
		if place := made(&steps[i]); place != "" {
			t[place] = true
		}
	}
}

// made is the folder that a step makes among temporary files, empty where it makes none.
func made(s *action.Step) string {
	if !begins(*s, "mkdir") && !begins(*s, "git init") && !begins(*s, "git clone") {
		return ""
	}
	words := strings.Fields(s.Text)
	place := words[len(words)-1]
	if begins(*s, "git init") && (len(words) == 2 || place[0] == '-') {
		place = s.Dir
	} else if !path.IsAbs(place) {
		place = path.Join(s.Dir, place)
	}
	if slices.ContainsFunc(temporary, func(folder string) bool { return action.Within(place, folder) }) {
		return place
	}
	return ""
}

// holds reports whether a path lies in one of the folders, or is one.
func (t tries) holds(p string) bool {
	for place := range t {
		if p == place || action.Within(p, place) {
			return true
		}
	}
	return false
}

// of is the folder of them in which all of the steps run; empty where one does not.
func (t tries) of(steps []action.Step) (place string) {
	for i := range steps {
		s := &steps[i]
		switch makes := made(s); {
		case makes != "":
			place = makes
		case t.holds(s.Dir):
			place = s.Dir
		default:
			return ""
		}
	}
	return place
}
