package action

import (
	"path"
	"slices"

	"github.com/kagewasm/kagewasm/internal/lists"
	"github.com/kagewasm/kagewasm/internal/toolcall"
)

// Patches remembers the patches that a session shows, by the files that hold them: a command that applies one later
// says nothing of what it changes. The zero value is ready.
type Patches struct{ held []held }

// held is a file that holds a patch.
type held struct {
	path  string
	files []File // that the patch changes
}

// Take takes a call and its result: the patches that it writes or shows, and the files that those change which it
// applies.
func (p *Patches) Take(a *Action, result string) {
	p.apply(a)
	p.held = append(p.held, a.holds...)
	if len(a.Files) == 1 && a.Files[0].Use == Read {
		if files := patched("\n" + result); len(files) > 0 {
			p.held = append(p.held, held{a.Files[0].Path, files})
		}
	}
}

// apply adds the files that patches change to the steps that apply them.
func (p *Patches) apply(a *Action) {
	if !slices.ContainsFunc(a.Steps, func(s Step) bool { return len(s.Applies) > 0 }) {
		return
	}
	now := append(slices.Clone(p.held), a.holds...)
	a.eachStep(func(s *Step) {
		for _, name := range s.Applies {
			for _, h := range slices.Backward(now) {
				if h.path == name || SameFile(h.path, name) {
					s.change(lists.Map(h.files, func(f File) File { f.Path = in(s.Dir, f.Path); return f })...)
					break
				}
			}
		}
	})
}

// eachStep has the steps of a script changed: they may be remembered for others.
func (a *Action) eachStep(change func(s *Step)) {
	a.Steps, a.Files = slices.Clone(a.Steps), nil
	for i := range a.Steps {
		s := &a.Steps[i]
		s.Files = slices.Clone(s.Files)
		change(s)
		a.Files = append(a.Files, s.Files...)
	}
}

// change adds files to those of a step that it does not name.
func (s *Step) change(files ...File) {
	for _, f := range files {
		if !slices.ContainsFunc(s.Files, func(o File) bool { return path.Clean(o.Path) == path.Clean(f.Path) }) {
			s.Files = append(s.Files, f)
		}
	}
}

// applied reads which files a command changes by a patch: one that it is fed, or those that files hold.
func (n *named) applied(g *given, fed string) {
	if level := g.value("-p"); level != "" && level != "1" || g.doubt || g.has("--cached", "--directory", "--include",
		"--exclude") {
		return
	}
	for _, name := range g.operands {
		n.applies = append(n.applies, in(n.dir, name))
	}
	if len(g.operands) == 0 {
		n.files = append(n.files, lists.Map(patched("\n"+fed), func(f File) File { f.Path = in(n.dir, f.Path); return f })...)
	}
}

// holdsPatches are the patches that commands write into files.
func holdsPatches(a *Action) (list []held) {
	for i := range a.Commands {
		c := &a.Commands[i]
		if files := patched("\n" + c.Fed()); len(files) > 0 && len(c.Writes) == 1 {
			list = append(list, held{in(c.Dir, c.Writes[0]), files})
		}
	}
	return list
}

// patches are programs that change files by a patch that they are fed.
func patches(c *toolcall.Command) bool {
	return len(c.Words) > 0 && (c.Words[0] == "patch" || c.Words[0] == "git" && len(c.Words) > 1 && c.Words[1] == "apply")
}

// fedPatch reports whether a script feeds a patch to a program that applies it.
func fedPatch(a *Action) bool {
	for i := range a.Commands {
		if patches(&a.Commands[i]) && len(patched("\n"+a.fed(i))) > 0 {
			return true
		}
	}
	return false
}
