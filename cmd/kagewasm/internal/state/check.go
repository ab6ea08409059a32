package state

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/ui"
	"github.com/kagewasm/kagewasm/internal/atomicfile"
	"github.com/kagewasm/kagewasm/internal/owner"
)

// examination looks through a state, and repairs it where it may.
type examination struct {
	ui.Health
	home   string
	repair bool
}

// Check says what is wrong with a state, and changes nothing.
func Check(ctx context.Context, dir, home string) (*ui.Health, error) {
	return (&examination{Health: ui.Health{Dir: dir}, home: home}).run(ctx)
}

// Repair is Check, and repairs what can be.
func Repair(ctx context.Context, dir, home string) (*ui.Health, error) {
	return (&examination{Health: ui.Health{Dir: dir}, home: home, repair: true}).run(ctx)
}

func (x *examination) run(ctx context.Context) (*ui.Health, error) {
	x.Problems = []ui.Problem{}
	if err := x.folders(); err != nil {
		return nil, err
	}
	if err := x.key(); err != nil {
		return nil, err
	}
	if _, err := os.Stat(filepath.Join(x.Dir, KVFile)); err != nil || lost(x.Dir) != nil {
		return &x.Health, nil //nolint:nilerr // it was told of
	}
	kept, err := LookAtMemory(ctx, x.Dir)
	if err != nil {
		return nil, err
	}
	defer kept.Close()
	return &x.Health, x.namespaces(ctx, kept)
}

// found notes a problem, and repairs it where there is a way and leave.
func (x *examination) found(p ui.Problem, repair func() error) error {
	if repair != nil && x.repair {
		if err := repair(); err != nil {
			return err
		}
		p.Repaired = true
	}
	x.Problems = append(x.Problems, p)
	return nil
}

// folders looks at whose the folders and files are.
func (x *examination) folders() error {
	for _, part := range []string{"", KVFile, SessionsFile, cacheFolder, cancelledFolder, windowFolder} {
		path := filepath.Join(x.Dir, part)
		err := owner.Check(path)
		var others *owner.Error
		switch {
		case errors.As(err, &others):
			err = x.found(ui.Problem{Where: path, What: others.Why, Repair: "make it the user's alone"},
				func() error { return makePrivate(path) })
		case part == KVFile && kept(x.Dir, false) != nil, part == SessionsFile && lost(x.Dir) != nil:
			err = x.found(ui.Problem{
				Where: path, What: "missing: what plugins keep was there", Repair: "begin with an empty one",
				Fix: "restore it from a backup",
			}, func() error {
				return atomicfile.WriteFile(filepath.Join(x.Dir, KVFile), []byte(nothingKept), 0o600)
			})
		case errors.Is(err, fs.ErrNotExist):
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func makePrivate(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.Chmod(path, 0o700)
	}
	return os.Chmod(path, 0o600)
}

// key looks at what the folder is sealed with.
func (x *examination) key() error {
	var by owner.Key
	if !same(x.Dir, x.home) {
		var err error
		if by, err = x.userKey(); err != nil {
			return refused(err)
		}
		if by == nil && x.repair {
			return nil // nothing can be sealed here
		}
	}
	_, err := owner.Read(x.Dir, by)
	err = whose(err, x.home)
	var damaged *owner.Error
	switch {
	case err == nil, errors.Is(err, fs.ErrNotExist) && fresh(x.Dir):
		return nil
	case errors.Is(err, fs.ErrNotExist):
		damaged = unsealed(x.Dir)
	case !errors.As(err, &damaged):
		return err
	}
	return x.found(ui.Problem{
		Where: damaged.Path, What: damaged.Why,
		Repair: "seal the folder with a new key, without the compiled code that is in it",
	}, func() error {
		if err := errors.Join(os.RemoveAll(filepath.Join(x.Dir, cacheFolder)), owner.Drop(x.Dir)); err != nil {
			return err
		}
		_, err := owner.Make(x.Dir, by)
		return err
	})
}

// userKey is the key in the user's own folder. A check makes none.
func (x *examination) userKey() (owner.Key, error) {
	if x.repair {
		return userKey(x.home, func(string) {})
	}
	key, err := owner.Read(x.home, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return key, err
}
