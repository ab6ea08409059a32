package atomicfile

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"sync"
)

// writing are the files that are being written: a process that ends leaves none of
// them behind, and so they are the process's, and not a caller's.
var writing unfinished

type unfinished struct {
	mu        sync.Mutex
	files     map[string]*os.Root // by their names for now
	abandoned bool
}

// beside writes data into a file with a name for now, and has finish give it its own.
func (u *unfinished) beside(root *os.Root, data []byte, perm fs.FileMode, finish func(temp string) error) error {
	temp := prefix + rand.Text()
	f, err := u.begin(root, temp, perm)
	if err != nil {
		return err
	}
	defer u.end(temp)
	if err = fill(f, data); err == nil {
		err = finish(temp)
	}
	if err != nil {
		_ = root.Remove(temp) // the first error says more
	}
	return err
}

// begin makes the file while nobody abandons it: a file that is made afterwards would stay.
func (u *unfinished) begin(root *os.Root, temp string, perm fs.FileMode) (*os.File, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.abandoned {
		return nil, errors.New("the program is about to end")
	}
	f, err := root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
	if err != nil {
		return nil, err
	}
	if u.files == nil {
		u.files = make(map[string]*os.Root)
	}
	u.files[temp] = root
	return f, nil
}

func (u *unfinished) end(temp string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.files, temp)
}

// Abandon removes what is being written, and keeps everybody from starting again:
// for a process that ends now, whoever is still at work in it. Each file is then as it
// was, or whole.
func Abandon() {
	writing.mu.Lock()
	defer writing.mu.Unlock()
	writing.abandoned = true
	for temp, root := range writing.files {
		_ = root.Remove(temp) // it may have its name already
	}
}
