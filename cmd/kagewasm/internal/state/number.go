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

// number is what a folder of a state keeps under a name; 0 where it keeps nothing.
func number(dir, folder string, name []string) int {
	data, _ := os.ReadFile(numberFile(dir, folder, name))
	n, _ := strconv.Atoi(strings.TrimSpace(string(data))) // what is no number counts for none
	return max(0, n)
}

// setNumber keeps a number, and takes the file away where it is 0.
func setNumber(dir, folder string, name []string, n int) error {
	path := numberFile(dir, folder, name)
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

// numberFile is the file of a name, empty where nothing is kept.
func numberFile(dir, folder string, name []string) string {
	if dir == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join(name, "\x00")))
	return filepath.Join(dir, folder, hex.EncodeToString(sum[:8]))
}
