package plug

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/files"
)

// Steps are what an installation does to each file, in the order of the plan. What an earlier one did is undone first
// where the plan has no such file any more.
func (r *Record) Steps(p Plan) ([]Step, error) {
	var steps []Step
	planned := make(map[string]bool)
	for _, f := range p.Files {
		now, err := read(f.Path)
		if err != nil {
			return nil, err
		}
		will := f.Data
		if f.Settings && now != nil {
			will = now
		}
		planned[f.Path] = true
		step := Step{Path: f.Path, Was: now, Will: will, folder: f.folder}
		if r.find(f.Path) == nil && f.ours(now) && step.Changes() {
			step.Aside = r.aside(f.Path)
		}
		steps = append(steps, step)
	}
	for _, e := range p.Edits {
		now, err := read(e.Path)
		if err != nil {
			return nil, err
		}
		base, err := r.base(e, now)
		if err != nil {
			return nil, err
		}
		will, err := e.Put(base)
		if err != nil {
			return nil, refused(e.Path, err.Error(), "fix it", err)
		}
		if now != nil && e.Same != nil && e.Same(now, will) {
			will = now
		}
		planned[e.Path] = true
		steps = append(steps, Step{Path: e.Path, Was: now, Will: will})
	}
	former, err := r.removal(p, planned)
	return append(steps, former...), err
}

// base is a file without our part.
func (r *Record) base(e Edit, now []byte) ([]byte, error) {
	t := r.find(e.Path)
	switch {
	case t == nil && now != nil && e.Has(now): // of an installation whose record is lost
		return e.without(now, nil)
	case t == nil:
		return now, nil
	case digest(now) == t.After, bytes.Equal(now, t.Before): // as we wrote it, or nothing of ours is in it
		return t.Before, nil
	case now == nil:
		return nil, nil
	}
	return e.without(now, t.Before)
}

// Install carries out the steps of a plan. The record is written first, so that an installation that stops on the way
// can be taken out.
func (r *Record) Install(p Plan, steps []Step, kagewasm string, s Setup) error {
	r.Kagewasm, r.Agent, r.Calls = kagewasm, s.Version, s.Calls
	edits := make(map[string]Edit)
	for _, e := range p.Edits {
		edits[e.Path] = e
	}
	files := make(map[string]File)
	for _, f := range p.Files {
		files[f.Path] = f
	}
	for _, s := range steps {
		if s.gone {
			continue
		}
		before := s.Was
		e, part := edits[s.Path]
		if part {
			var err error
			if before, err = r.base(e, s.Was); err != nil {
				return err
			}
		} else if files[s.Path].ours(s.Was) {
			before = nil // of an installation whose record is lost
		}
		t := r.find(s.Path)
		if t == nil {
			r.Files = append(r.Files, Touched{Path: s.Path, Before: before})
			t = &r.Files[len(r.Files)-1]
		}
		if part {
			t.Before, t.Part = before, true
		}
		switch t.Settings = files[s.Path].Settings; {
		case !t.Settings:
			t.After = digest(s.Will)
		case s.Changes():
			t.After = digest(s.Will) // settings that were there already are the user's
		}
	}
	if err := r.makeFolders(steps); err != nil {
		return err
	}
	return r.apply(steps)
}

// makeFolders makes the folders of files that are new, and remembers them.
func (r *Record) makeFolders(steps []Step) error {
	for _, s := range steps {
		if s.gone {
			continue
		}
		for dir := filepath.Dir(s.Path); ; dir = filepath.Dir(dir) {
			if _, err := os.Stat(dir); err == nil || slices.Contains(r.Folders, dir) {
				break
			}
			r.Folders = append(r.Folders, dir)
		}
	}
	slices.Sort(r.Folders)
	if err := r.save(); err != nil {
		return err
	}
	for _, dir := range r.Folders {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// apply writes and removes files.
func (r *Record) apply(steps []Step) error {
	for _, s := range steps {
		if s.Aside != "" {
			if err := os.MkdirAll(filepath.Dir(s.Aside), 0o700); err != nil {
				return err
			}
			if err := files.WritePrivate(s.Aside, s.Was); err != nil {
				return err
			}
		}
		switch {
		case !s.Changes():
		case s.Will == nil:
			if err := ignoreMissing(os.Remove(s.Path)); err != nil {
				return err
			}
		default:
			if err := files.Write(s.Path, s.Will); err != nil {
				return err
			}
		}
		if s.gone {
			r.Files = slices.DeleteFunc(r.Files, func(t Touched) bool { return t.Path == s.Path })
		}
	}
	return r.save()
}
