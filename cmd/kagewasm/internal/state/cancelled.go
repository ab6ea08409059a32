package state

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

const (
	// cancelledFolder has a file for each session whose last compactions plugins cancelled, with how many those were: a
	// process may be one compaction, and a server does not run for ever.
	cancelledFolder = "cancelled"
	// maxCancelled is for how many sessions that is kept. What was not counted for the longest time is forgotten.
	maxCancelled = 1000
)

// Cancels is as [hooks.Options] has it.
type Cancels interface {
	Cancelled(s *abi.Session) (int, error)
	SetCancelled(s *abi.Session, n int) error
}

// Cancels is what counts cancels of compactions in the folder, for every process on it; nil where nothing is kept.
func (s *State) Cancels() Cancels {
	if s.dir == "" {
		return nil
	}
	return cancels{s.dir}
}

type cancels struct{ dir string }

func (c cancels) file(s *abi.Session) string {
	return numberFile(c.dir, cancelledFolder, []string{s.ID, s.AgentPath})
}

// Cancelled implements [Cancels].
func (c cancels) Cancelled(s *abi.Session) (int, error) {
	data, err := os.ReadFile(c.file(s))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	n, _ := strconv.Atoi(strings.TrimSpace(string(data))) // what is no number counts for none
	return max(0, n), nil
}

// SetCancelled implements [Cancels].
func (c cancels) SetCancelled(s *abi.Session, n int) error {
	if n == 1 { // a row begins
		c.makeRoom()
	}
	return setNumber(c.dir, cancelledFolder, []string{s.ID, s.AgentPath}, n)
}

// makeRoom forgets a session where there are too many.
func (c cancels) makeRoom() {
	folder := filepath.Join(c.dir, cancelledFolder)
	list, err := os.ReadDir(folder)
	if err != nil || len(list) < maxCancelled {
		return
	}
	oldest, when := "", time.Time{}
	for _, f := range list {
		if info, err := f.Info(); err == nil && (oldest == "" || info.ModTime().Before(when)) {
			oldest, when = f.Name(), info.ModTime()
		}
	}
	_ = os.Remove(filepath.Join(folder, oldest)) // one too many harms nobody
}
