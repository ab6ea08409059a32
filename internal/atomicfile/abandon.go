package atomicfile

import (
	"crypto/rand"
	"errors"
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

// beside writes a file under a name for now, which it makes.
func (u *unfinished) beside(root *os.Root, write func(temp string) error) error {
	temp := prefix + rand.Text()
	if err := u.begin(root, temp); err != nil {
		return err
	}
	defer u.end(temp)
	return write(temp)
}

func (u *unfinished) begin(root *os.Root, temp string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.abandoned {
		return errors.New("the program is about to end")
	}
	if u.files == nil {
		u.files = make(map[string]*os.Root)
	}
	u.files[temp] = root
	return nil
}

func (u *unfinished) end(temp string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.files, temp)
}

// Abandon removes what is being written, and keeps everybody from beginning anew:
// for a process that ends now, whoever is still at work in it. Each file is then as it
// was, or whole.
func Abandon() {
	writing.mu.Lock()
	defer writing.mu.Unlock()
	writing.abandoned = true
	for temp, root := range writing.files {
		_ = root.Remove(temp) // it may not be there yet, or have its name already
	}
}
