package plug

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Removal are the steps that give every file back as it was.
func (r *Record) Removal(p Plan) ([]Step, error) {
	var steps []Step
	for _, t := range r.Files {
		step, err := r.giveBack(t, p)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// giveBack is what becomes of a file that was touched.
func (r *Record) giveBack(t Touched, p Plan) (Step, error) {
	now, err := read(t.Path)
	step := Step{Path: t.Path, Was: now, Will: t.Before}
	if err != nil || now == nil || digest(now) == t.After {
		if now == nil {
			step.Will = nil // the user has removed it
		}
		return step, err
	}
	switch i := slices.IndexFunc(p.Edits, func(e Edit) bool { return e.Path == t.Path }); {
	case !t.Settings && t.Before != nil && bytes.Equal(now, t.Before):
		step.Will = now // it was not reached, or is as it was again
	case t.Settings && pristine(t.Path, now, p):
		step.Will = nil // they were there before, and say what we write
	case t.Settings:
		step.Will, step.Kept = now, true // changed by the user, or theirs from the beginning
	case !t.Part:
		step.Aside = filepath.Join(filepath.Dir(r.path), "changed", filepath.Base(t.Path))
	case i < 0:
		return step, fmt.Errorf("%s: it was changed since, and this version does not know its part in it: take out by hand "+
			"what names kagewasm", t.Path)
	default:
		if step.Will, err = p.Edits[i].Take(now, t.Before); err != nil {
			return step, refused(t.Path, err.Error(), "fix it", err)
		}
	}
	return step, nil
}

// pristine reports whether settings are as this version writes them.
func pristine(path string, now []byte, p Plan) bool {
	return slices.ContainsFunc(p.Files, func(f File) bool {
		return f.Settings && f.Path == path && bytes.Equal(f.Data, now)
	})
}

// Leftovers are the steps that remove settings which lie there though nothing is installed, and nobody changed.
func Leftovers(p Plan) (steps []Step, err error) {
	for _, f := range p.Files {
		if !f.Settings {
			continue
		}
		now, err := read(f.Path)
		if err != nil {
			return nil, err
		}
		if now != nil && pristine(f.Path, now, p) {
			steps = append(steps, Step{Path: f.Path, Was: now})
		}
	}
	return steps, nil
}

// Uninstall carries out the steps of a removal, and removes the folders that were made and hold nothing else.
func (r *Record) Uninstall(steps []Step) error {
	if err := r.apply(steps); err != nil {
		return err
	}
	r.Files = nil
	for _, dir := range slices.Backward(r.Folders) {
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) &&
			!errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	r.Folders = nil
	return r.save()
}
