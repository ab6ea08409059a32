package sandbox

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"sync/atomic"
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

// piece is a part of a file, and its tag.
type piece struct {
	path   string
	offset int64
	length int
	tag    []byte
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
	list, names, err := pieces(entry)
	if err != nil {
		return nil, err
	}
	if err := tagAll(gcm, list); err != nil {
		return nil, err
	}
	var tags strings.Builder
	for _, p := range list {
		tags.Write(p.tag)
	}
	return d.key.Sum("compile cache: entry", string(salt), filepath.Base(entry), names, tags.String()), nil
}

// pieces are those of all files below an entry, in order, and the names of the
// files with their lengths.
func pieces(entry string) (list []*piece, names string, err error) {
	err = filepath.WalkDir(entry, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name() == sumFile {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s: not a plain file", path)
		}
		rel, err := filepath.Rel(entry, path)
		if err != nil {
			return err
		}
		names += fmt.Sprintf("%d %s\n", info.Size(), filepath.ToSlash(rel))
		for at := int64(0); at < info.Size(); at += pieceBytes {
			list = append(list, &piece{path: path, offset: at, length: int(min(pieceBytes, info.Size()-at))})
		}
		return nil
	})
	if err == nil && len(list) == 0 {
		err = errors.New("nothing in it")
	}
	return list, names, err
}

// tagAll makes the tags of pieces, on as many processors as there are.
func tagAll(gcm cipher.AEAD, list []*piece) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	workers := min(goruntime.GOMAXPROCS(0), len(list))
	errs := make([]error, workers)
	for w := range workers {
		wg.Go(func() {
			buf := make([]byte, pieceBytes)
			for errs[w] == nil {
				i := int(next.Add(1)) - 1
				if i >= len(list) {
					return
				}
				errs[w] = list[i].sign(gcm, i, buf)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// sign reads a piece and makes its tag; number is used for no other piece.
func (p *piece) sign(gcm cipher.AEAD, number int, buf []byte) error {
	f, err := os.Open(p.path)
	if err != nil {
		return err
	}
	defer f.Close()
	data := buf[:p.length]
	if _, err := f.ReadAt(data, p.offset); err != nil {
		return err
	}
	nonce := make([]byte, gcm.NonceSize())
	binary.LittleEndian.PutUint64(nonce, uint64(number))
	p.tag = gcm.Seal(nil, nonce, nil, data)
	return nil
}
