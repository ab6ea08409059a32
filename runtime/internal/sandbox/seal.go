package sandbox

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/kagewasm/kagewasm/runtime/internal/host"
)

// A sum is an HMAC over the name of the entry, which is the digest of the module
// and the version of what rewrote it, and over all files in it: their names, among
// them the engine's version, their lengths, and a tag of each piece. Tags are those
// of AES-GCM over data that stays in the clear: a hash would take longer than the
// rest of loading a module. Each entry has a key of its own for them, so that a
// number is used once.
const (
	saltBytes  = 32
	pieceBytes = 1 << 20
)

// seal writes the sum of an entry.
func (d *diskCache) seal(entry string) error {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails
	sum, err := d.sum(entry, salt)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(entry, sumFile), append(salt, sum...), 0o600)
}

// sealed reports whether an entry is as seal found it.
func (d *diskCache) sealed(entry string) bool {
	data, err := os.ReadFile(filepath.Join(entry, sumFile))
	if err != nil || len(data) <= saltBytes {
		return false
	}
	sum, err := d.sum(entry, data[:saltBytes])
	return err == nil && hmac.Equal(sum, data[saltBytes:])
}

// sum is the sum of an entry; the file that holds it is left out.
func (d *diskCache) sum(entry string, salt []byte) ([]byte, error) {
	block, err := aes.NewCipher(d.key.Sum("compile cache: pieces", string(salt)))
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	names, tags := "", ""
	pieces := 0
	err = filepath.WalkDir(entry, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == sumFile {
			return err
		}
		rel, err := filepath.Rel(entry, path)
		if err != nil {
			return err
		}
		data, done, err := contents(path)
		if err != nil {
			return err
		}
		defer done()
		list, err := tagAll(gcm, data, pieces)
		names += fmt.Sprintf("%d %s\n", len(data), filepath.ToSlash(rel))
		tags += string(bytes.Join(list, nil))
		pieces += len(list)
		return err
	})
	if err == nil && pieces == 0 {
		err = errors.New("nothing in it")
	}
	if err != nil {
		return nil, err
	}
	return d.key.Sum("compile cache: entry", string(salt), filepath.Base(entry), names, tags), nil
}

// contents are the bytes of a plain file, until done is called. They are mapped
// where they can be: reading them takes as long as making the tags.
func contents(path string) (data []byte, done func(), err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s: not a plain file", path)
	}
	if data = host.MapFile(f, int(info.Size())); data != nil {
		return data, func() { host.Unmap(data) }, nil
	}
	data, err = io.ReadAll(f)
	return data, func() {}, err
}

// tagAll makes the tags of the pieces of a file, on as many processors as there
// are. first is the number of the first piece: no number is used twice.
func tagAll(gcm cipher.AEAD, data []byte, first int) ([][]byte, error) {
	tags := make([][]byte, (len(data)+pieceBytes-1)/pieceBytes)
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make([]error, min(goruntime.GOMAXPROCS(0), len(tags)))
	for w := range errs {
		wg.Go(func() {
			// A file that is cut while it is mapped faults.
			defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
			defer func() {
				if r := recover(); r != nil {
					errs[w] = fmt.Errorf("the file cannot be read: %v", r)
				}
			}()
			for i := int(next.Add(1)) - 1; i < len(tags); i = int(next.Add(1)) - 1 {
				nonce := make([]byte, gcm.NonceSize())
				binary.LittleEndian.PutUint64(nonce, uint64(first+i))
				at := i * pieceBytes
				tags[i] = gcm.Seal(nil, nonce, nil, data[at:min(len(data), at+pieceBytes)])
			}
		})
	}
	wg.Wait()
	return tags, errors.Join(errs...)
}
