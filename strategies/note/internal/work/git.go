package work

import (
	"path"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/toolcall"
	"github.com/kagewasm/kagewasm/strategies/note/internal/action"
	"github.com/kagewasm/kagewasm/strategies/note/internal/outcome"
)

// Git is what a script did to the repository of the project.
type Git struct {
	// Used: git ran. Tried: it ran in a repository that was made to try something in.
	Used, Tried bool
	// Commit is the last commit that it made, its hash and subject, and Branch the branch that is checked out, as far
	// as its output tells.
	Commit, Branch string
	// Staged are the files that it staged by name, "all" where it staged all.
	Staged []string
	// Unstaged: what was staged may be no more.
	Unstaged bool
	// Pushed: it pushed; MayPush: it may have. MayCommit: another commit may be the last one, and its output does not
	// tell which.
	Pushed, MayPush, MayCommit bool
}

// git reads what a script did to the repository. One to try something in is none of the project's.
func (w *Work) git(a *action.Action, output string, o outcome.Outcome) (g Git) {
	acts := lists.Filter(a.Steps, func(s action.Step) bool { return s.Kind == action.Acts })
	at := slices.IndexFunc(a.Commands, func(c toolcall.Command) bool {
		ran := len(c.Words) > 1 && c.Words[0] == "git"
		w.tries.outside = w.tries.outside || ran && c.Words[1] != "init" && !w.tries.any(c.Dir)
		own := ran && w.tries.own(c.Dir)
		g.Tried = g.Tried || own
		return ran && !own
	})
	if g.Used = at >= 0; !g.Used || o.Failed || o.Told || len(acts) > 0 && w.tries.of(acts) != "" ||
		w.tries.outside && w.tries.inOwn(nil, acts) != "" {
		return g
	}
	g.Branch = branch(output)
	if list := w.committed(a, output); len(list) > 0 {
		g.Commit = list[len(list)-1]
		if place := w.tries.inOwn(nil, acts); place != "" {
			g.Commit += " in " + place
		}
	}
	for i := range acts {
		switch s := &acts[i]; {
		case begins(*s, "git commit"):
			g.MayCommit = g.MayCommit || g.Commit == ""
			g.Staged, g.Unstaged = nil, true
		case begins(*s, "git push"):
			g.Pushed, g.MayPush = o.Passed, true
		case begins(*s, "git add") && o.Passed:
			g.Staged = append(g.Staged, staged(s.Text)...)
		case begins(*s, "git stash"), begins(*s, "git restore"), begins(*s, "git checkout"), begins(*s, "git switch"):
			g.Unstaged = true
		case begins(*s, "git reset"), begins(*s, "git merge"), begins(*s, "git pull"), begins(*s, "git rebase"),
			begins(*s, "git revert"), begins(*s, "git cherry-pick"), begins(*s, "git am"):
			g.Unstaged, g.MayCommit = true, g.Commit == ""
		}
	}
	return g
}

// staged are the files that "git add" names.
func staged(command string) (files []string) {
	for _, word := range strings.Fields(command)[2:] {
		switch {
		case word == "-A" || word == "--all" || word == ".":
			return []string{"all"}
		case word[0] == '-':
		case strings.ContainsAny(word, "$`*\"'"):
			return nil
		default:
			files = append(files, path.Base(word))
		}
	}
	return files
}

// branch is the branch that the output of git says is checked out.
func branch(output string) (name string) {
	for line := range strings.Lines(clip.Head(output, 8000)) {
		line = strings.TrimSpace(line)
		if rest, ok := strings.CutPrefix(line, "On branch "); ok {
			name = rest
		} else if _, rest, ok := strings.Cut(line, "witched to "); ok && strings.HasSuffix(line, "'") {
			_, rest, _ = strings.Cut(rest, "'")
			name = strings.TrimSuffix(rest, "'")
		} else if _, _, ok := commit(line); ok {
			if inner, _, _ := strings.Cut(line[1:], " "); inner != "detached" {
				name = inner
			}
		}
	}
	if strings.ContainsAny(name, " \t'\"") {
		return ""
	}
	return name
}
