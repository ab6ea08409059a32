package state

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/atomicfile"
	"github.com/kagewasm/kagewasm/internal/owner"
)

// What a server has in its state folder.
const (
	TokenFile  = "serve-token"
	SocketFile = "serve.sock"
	serveLock  = "serve.lock"
	// yieldLock is held beside it by a server in the background.
	yieldLock = "serve-background.lock"
)

// Served is the state folder of a server. One server at a time has it. Close it.
type Served struct {
	Dir       string // empty where nothing is kept
	Token     string
	TokenFile string // empty where the token is kept nowhere
	// Socket is where its socket lies; empty where there is no folder for it.
	Socket string
	lock   *flock.Flock
	yields *flock.Flock // nil where it does not run in the background
}

// Serve takes a state folder for a server, and makes its token where there is none.
func Serve(dir, home string, say func(string)) (*Served, error) {
	dir = cmp.Or(dir, home)
	switch dir {
	case "":
		return nil, NoHome()
	case InMemory:
		return &Served{Token: rand.Text()}, nil
	}
	if _, err := seal(dir, home, say); err != nil {
		return nil, err
	}
	s := &Served{Dir: dir, TokenFile: filepath.Join(dir, TokenFile), Socket: filepath.Join(dir, SocketFile),
		lock: flock.New(filepath.Join(dir, serveLock), flock.SetPermissions(0o600))}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if got, err := s.lock.TryLockContext(ctx, 20*time.Millisecond); !got {
		return nil, &abi.Error{Code: abi.CodeBusy, Op: "serve", Message: dir + ": another server has this state folder",
			Hint: "use that one, end it with kagewasm serve --stop, or give another folder with --state DIR", Err: err}
	}
	var err error
	if s.Token, err = token(s.TokenFile); err != nil {
		return nil, errors.Join(unusable(err), s.Close())
	}
	return s, nil
}

// Yield says that the server runs in the background, and goes when somebody wants one of their own.
func (s *Served) Yield() error {
	if s.lock == nil {
		return nil
	}
	s.yields = flock.New(filepath.Join(s.Dir, yieldLock), flock.SetPermissions(0o600))
	return s.yields.Lock()
}

// Background says whether a server runs in the background over the state folder.
func Background(dir string) bool { return held(filepath.Join(dir, yieldLock)) }

// Unserved waits until no server has a state folder.
func Unserved(ctx context.Context, dir string) error {
	lock := flock.New(filepath.Join(dir, serveLock), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil {
		return err
	}
	return lock.Unlock()
}

// Close gives the folder back.
func (s *Served) Close() error {
	if s.lock == nil {
		return nil
	}
	var err error
	if s.yields != nil {
		err = s.yields.Unlock()
	}
	return errors.Join(err, s.lock.Unlock())
}

// Taken says whether a server has the state folder: one that runs, starts or ends.
func Taken(dir string) bool { return held(filepath.Join(dir, serveLock)) }

// held says whether a process has the lock of a path. Two who ask at once share it, and take each other for none.
func held(path string) bool {
	lock := flock.New(path, flock.SetPermissions(0o600))
	if info, err := os.Stat(lock.Path()); err != nil || !info.Mode().IsRegular() {
		return false
	}
	free, err := lock.TryRLock()
	return err != nil || !free || lock.Unlock() != nil
}

// token reads the token, or makes one.
func token(path string) (string, error) {
	t, err := ReadToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return t, err
	}
	t = rand.Text() + rand.Text()
	return t, atomicfile.WriteFile(path, []byte(t+"\n"), 0o600)
}

// ReadToken reads the token of a server. A file that others can read is refused: they
// may have.
func ReadToken(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	_, known := owner.Of(info) // on Windows neither owner nor permissions say who can read it
	if !info.Mode().IsRegular() || known && info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s: others can read it: delete it, and the next server makes another one", path)
	}
	data, err := os.ReadFile(path)
	if t := strings.TrimSpace(string(data)); err != nil || len(t) >= 26 {
		return t, err
	}
	return "", fmt.Errorf("%s: it holds no token: delete it, and the next server makes another one", path)
}
