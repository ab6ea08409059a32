package config

import (
	"crypto/sha256"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/kagewasm/kagewasm/internal/yamldoc"
)

// stamp is what a file looked like when it was read: enough to see without
// reading it that it is still the same.
type stamp struct {
	path string
	info fs.FileInfo // nil where there was no file
	sum  [sha256.Size]byte
	// fresh files were written just before they were read: another write of the
	// same length may have left the same time, so only their bytes tell.
	fresh bool
}

// granularity is how coarse the clock of a file system may be.
const granularity = 2 * time.Second

// takeStamp looks at a file before it is read, so that a change meanwhile is
// seen as one.
func takeStamp(path string, now time.Time) stamp {
	s := stamp{path: path}
	info, err := os.Stat(path)
	if err != nil {
		return s
	}
	s.info = info
	s.fresh = now.Sub(info.ModTime()) < granularity
	s.sum = digest(path, info)
	return s
}

// same reports whether the file is as it was. The stamp it returns saves work
// the next time.
func (s stamp) same(now time.Time) (stamp, bool) {
	info, err := os.Stat(s.path)
	switch {
	case err != nil:
		return s, s.info == nil
	case s.info == nil:
		return s, false
	case !s.fresh && info.ModTime().Equal(s.info.ModTime()) && info.Size() == s.info.Size() && os.SameFile(info, s.info):
		return s, true
	}
	next := takeStamp(s.path, now)
	return next, next.info != nil && next.sum == s.sum
}

// digest is of as many bytes as anything that is read may have.
func digest(path string, info fs.FileInfo) (sum [sha256.Size]byte) {
	if !info.Mode().IsRegular() {
		return sum
	}
	f, err := os.Open(path)
	if err != nil {
		return sum
	}
	defer f.Close()
	h := sha256.New()
	_, _ = io.Copy(h, io.LimitReader(f, yamldoc.MaxBytes+1))
	return [sha256.Size]byte(h.Sum(nil))
}
