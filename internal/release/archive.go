package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/kagewasm/kagewasm/internal/atomicfile"
)

// checksumsFile is the file with the SHA-256 of each archive, as sha256sum -c reads it.
const checksumsFile = "SHA256SUMS"

// archive builds the program for a platform and packs it with what is common to all: a zip for Windows, else a tar.gz.
func (r *release) archive(ctx context.Context, t target, common []entry) error {
	program, err := r.build(ctx, t)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	list := append(slices.Clone(common), entry{t.program(), data, 0o755})
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	name := "kagewasm_" + r.version + "_" + t.os + "_" + t.arch
	write, suffix := r.tarball, ".tar.gz"
	if t.os == "windows" {
		write, suffix = r.zipped, ".zip"
	}
	var b bytes.Buffer
	if err := write(&b, name, list); err != nil {
		return err
	}
	fmt.Printf("%s%s: %.1f MB, program %.1f MB\n", name, suffix, float64(b.Len())/1e6, float64(len(data))/1e6)
	return atomicfile.WriteFile(filepath.Join(r.out, name+suffix), b.Bytes(), 0o644)
}

// tarball writes files below a folder, which belong to nobody in particular.
func (r *release) tarball(w io.Writer, dir string, list []entry) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, e := range list {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: dir + "/" + e.name, Mode: int64(e.mode), Size: int64(len(e.data)),
			ModTime: r.time, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(e.data); err != nil {
			return err
		}
	}
	if err := t.Close(); err != nil {
		return err
	}
	return z.Close()
}

func (r *release) zipped(w io.Writer, dir string, list []entry) error {
	z := zip.NewWriter(w)
	for _, e := range list {
		h := &zip.FileHeader{Name: dir + "/" + e.name, Method: zip.Deflate, Modified: r.time}
		h.SetMode(e.mode)
		f, err := z.CreateHeader(h)
		if err == nil {
			_, err = f.Write(e.data)
		}
		if err != nil {
			return err
		}
	}
	return z.Close()
}

// checksums writes the checksums of all archives.
func (r *release) checksums() error {
	list, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, f := range list {
		data, err := os.ReadFile(filepath.Join(r.out, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), f.Name())
	}
	return atomicfile.WriteFile(filepath.Join(r.out, checksumsFile), b.Bytes(), 0o644)
}
