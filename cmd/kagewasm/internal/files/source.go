package files

import (
	"context"
	"hash/maphash"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"time"
	"unsafe"

	"github.com/kagewasm/kagewasm/abi"
)

// Source is a file that a process reads once, and makes another one of. The bytes of a large file stay the kernel's:
// they take memory while somebody looks at them.
type Source struct {
	path string
	data []byte
	// file is open where data is no copy. Then sum is of data, and at when the file was written.
	file *os.File
	seed maphash.Seed
	sum  uint64
	at   time.Time
}

// leastMapped is how large a file is of which no copy is made.
const leastMapped = 4 << 20

// Open is [Read], of a source that is not nil without a copy where the file is large. Its bytes may be looked at within
// [Source.Guard] alone.
func (s *Source) Open(ctx context.Context, stdin io.Reader, path string) (data []byte, err error) {
	if s != nil && path != "-" && s.mapped(path) {
		return s.data, nil
	}
	return Read(ctx, stdin, path)
}

// mapped reports whether the file is large, and its bytes can be had without a copy.
func (s *Source) mapped(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	info, err := f.Stat()
	if err == nil && info.Mode().IsRegular() && info.Size() >= leastMapped {
		s.data = mapFile(f, int(info.Size()))
	}
	if s.data == nil {
		f.Close()
		return false
	}
	s.path, s.file, s.at, s.seed = path, f, info.ModTime(), maphash.MakeSeed()
	s.sum = maphash.Bytes(s.seed, s.data)
	return true
}

// Copied reports whether the bytes are a copy, which takes memory all the time.
func (s *Source) Copied() bool { return s == nil || s.file == nil }

// Rest says that the bytes are not looked at for a while.
func (s *Source) Rest() {
	if !s.Copied() {
		forget(s.data)
	}
}

// Check returns an error where the file holds other bytes than it did, so that what was read may be of both. What was
// written behind them is no matter.
func (s *Source) Check() error {
	if s.Copied() {
		return nil
	}
	info, err := s.file.Stat()
	if err == nil && info.Size() == int64(len(s.data)) && info.ModTime().Equal(s.at) {
		return nil
	}
	var now maphash.Hash
	now.SetSeed(s.seed)
	n, err := io.Copy(&now, io.NewSectionReader(s.file, 0, int64(len(s.data))))
	if err != nil || n < int64(len(s.data)) || now.Sum64() != s.sum {
		return s.changed()
	}
	return nil
}

func (s *Source) changed() error {
	return &abi.Error{Code: abi.CodeBadInput, Op: "read", Message: s.path + ": it was written over while it was read",
		Hint: "try again when nobody writes to it"}
}

// Guard runs what looks at the bytes, on this goroutine. That the file was cut meanwhile is an error.
func (s *Source) Guard(work func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		fault, ok := v.(interface {
			runtime.Error
			Addr() uintptr
		})
		if !ok || fault.Addr()-uintptr(unsafe.Pointer(unsafe.SliceData(s.data))) >= uintptr(len(s.data)) {
			panic(v)
		}
		err = s.changed()
	}()
	return work()
}
