package state

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/kagewasm/kagewasm/internal/atomicfile"
)

// cancelledFolder has a file for each session whose last compactions plugins
// cancelled, with how many those were: a process is one compaction, and could not
// count them.
const cancelledFolder = "cancelled"

// Cancelled is how many compactions of a session were cancelled in a row; 0 where
// nothing is kept.
func (s *State) Cancelled(session ...string) int {
	data, _ := os.ReadFile(s.cancelled(session))
	n, _ := strconv.Atoi(strings.TrimSpace(string(data))) // what is no number counts for none
	return max(0, n)
}

// SetCancelled keeps the number.
func (s *State) SetCancelled(n int, session ...string) error {
	path := s.cancelled(session)
	if path == "" {
		return nil
	}
	if n == 0 {
		if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.WriteFile(path, []byte(strconv.Itoa(n)+"\n"), 0o600)
}

// cancelled is the file of a session, empty where nothing is kept.
func (s *State) cancelled(session []string) string {
	if s.dir == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join(session, "\x00")))
	return filepath.Join(s.dir, cancelledFolder, hex.EncodeToString(sum[:8]))
}
