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

// Removal are the steps that give every file back as it was. What is found of ours beside what the record says goes
// too: the record may be lost, or lie in another state folder.
func (r *Record) Removal(p Plan) ([]Step, error) { return r.removal(p, nil) }

// Undo are the steps that give back what the record tells of, and nothing else.
func (r *Record) Undo(p Plan) (steps []Step, err error) { return r.recorded(p, nil) }

// recorded are the steps that give back what the record tells of, but for some files.
func (r *Record) recorded(p Plan, stay map[string]bool) (steps []Step, err error) {
	for _, t := range r.Files {
		if stay[t.Path] {
			continue
		}
		step, err := r.giveBack(t, p)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// removal are the steps of a removal, but for some files.
func (r *Record) removal(p Plan, stay map[string]bool) (steps []Step, err error) {
	if steps, err = r.recorded(p, stay); err != nil {
		return nil, err
	}
	for _, f := range slices.Concat(p.Files, p.Former.Files) {
		if stay[f.Path] || r.find(f.Path) != nil {
			continue
		}
		now, err := read(f.Path)
		if err != nil {
			return nil, err
		}
		if !f.ours(now) && !(now != nil && pristine(f.Path, now, p)) {
			continue
		}
		step := Step{Path: f.Path, Was: now, gone: true, folder: f.folder}
		if !bytes.Equal(now, f.Data) {
			step.Aside = r.aside(f.Path)
		}
		steps = append(steps, step)
	}
	for _, e := range slices.Concat(p.Edits, p.Former.Edits) {
		if stay[e.Path] || r.find(e.Path) != nil {
			continue
		}
		now, err := read(e.Path)
		if err != nil {
			return nil, err
		}
		if now == nil || !e.Has(now) {
			continue
		}
		left, err := e.without(now, nil)
		if err != nil {
			return nil, err
		}
		steps = append(steps, Step{Path: e.Path, Was: now, Will: left, gone: true})
	}
	return steps, nil
}

// aside is where a file of ours is kept that somebody may have changed.
func (r *Record) aside(path string) string {
	return filepath.Join(filepath.Dir(r.path), "changed", filepath.Base(path))
}

// giveBack is what becomes of a file that was touched.
func (r *Record) giveBack(t Touched, p Plan) (Step, error) {
	now, err := read(t.Path)
	step := Step{Path: t.Path, Was: now, Will: t.Before, gone: true}
	for _, f := range p.Files {
		if f.Path == t.Path {
			step.folder = f.folder
		}
	}
	if err != nil || now == nil || digest(now) == t.After {
		if now == nil {
			step.Will = nil // the user has removed it
		}
		return step, err
	}
	switch e := p.edit(t.Path); {
	case !t.Settings && t.Before != nil && bytes.Equal(now, t.Before):
		step.Will = now // it was not reached, or is as it was again
	case t.Settings && pristine(t.Path, now, p):
		step.Will = nil // they were there before, and say what we write
	case t.Settings:
		step.Will, step.Kept = now, true // changed by the user, or theirs from the beginning
	case !t.Part:
		step.Aside = r.aside(t.Path)
	case e == nil:
		return step, fmt.Errorf("%s: it was changed since, and this version does not know its part in it: take out by hand "+
			"what names kagewasm", t.Path)
	default:
		step.Will, err = e.without(now, t.Before)
	}
	return step, err
}

// pristine reports whether settings are as this version writes them.
func pristine(path string, now []byte, p Plan) bool {
	return slices.ContainsFunc(p.Files, func(f File) bool {
		return f.Settings && f.Path == path && bytes.Equal(f.Data, now)
	})
}

// Found reports whether steps take out what no record tells of, beside settings of ours that nobody changed.
func (r *Record) Found(p Plan, steps []Step) bool {
	return slices.ContainsFunc(steps, func(s Step) bool {
		return r.find(s.Path) == nil && !(s.Will == nil && pristine(s.Path, s.Was, p))
	})
}

// Left are the files that lie in folders of ours behind a removal, and are not ours or of another version.
func Left(steps []Step) (files []string) {
	for _, dir := range foldersOf(steps) {
		_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				files = append(files, path)
			}
			return nil // what cannot be read holds nothing
		})
	}
	return files
}

// foldersOf are the folders of ours in which files lie that go.
func foldersOf(steps []Step) (folders []string) {
	for _, s := range steps {
		if s.folder != "" && s.Will == nil && !slices.Contains(folders, s.folder) {
			folders = append(folders, s.folder)
		}
	}
	return folders
}

// Uninstall carries out the steps of a removal, and removes the folders that were made and hold nothing else.
func (r *Record) Uninstall(steps []Step) error {
	if err := r.apply(steps); err != nil {
		return err
	}
	r.Files = nil
	folders := slices.Clone(r.Folders)
	for _, s := range steps {
		if s.folder == "" || s.Will != nil {
			continue
		}
		for dir := filepath.Dir(s.Path); len(dir) >= len(s.folder); dir = filepath.Dir(dir) {
			folders = append(folders, dir)
		}
	}
	slices.Sort(folders) // outer ones first
	for _, dir := range slices.Backward(slices.Compact(folders)) {
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTEMPTY) &&
			!errors.Is(err, syscall.ENOTDIR) && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	r.Folders = nil
	return r.save()
}
