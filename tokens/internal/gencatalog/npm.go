package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/kagewasm/kagewasm/tokens/internal/catalog"
)

// npmPackage is an unpacked npm package.
type npmPackage struct {
	source catalog.Source
	files  map[string][]byte // by path inside the package
}

var day = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`)

func openPackage(path, date string) (*npmPackage, error) {
	if !day.MatchString(date) {
		return nil, fmt.Errorf("%s: the date of publication %q is no YYYY-MM-DD", path, date)
	}
	tgz, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	files, err := untar(tgz)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	sum := sha256.Sum256(tgz)
	p := &npmPackage{files: files, source: catalog.Source{Date: date, SHA256: hex.EncodeToString(sum[:])}}
	var meta struct{ Name, Version, License string }
	if err := json.Unmarshal(files["package.json"], &meta); err != nil {
		return nil, fmt.Errorf("%s: package.json: %w", path, err)
	}
	if meta.License != "MIT" {
		return nil, fmt.Errorf("%s: licence %q: check that it may be embedded", path, meta.License)
	}
	p.source.Name, p.source.Version, p.source.License = meta.Name, meta.Version, meta.License
	return p, nil
}

func untar(tgz []byte) (map[string][]byte, error) {
	zr, err := gzip.NewReader(bytes.NewReader(tgz))
	if err != nil {
		return nil, err
	}
	files := make(map[string][]byte)
	for tr := tar.NewReader(zr); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(tr)
		if err != nil {
			return nil, err
		}
		files[strings.TrimPrefix(h.Name, "package/")] = body
	}
}
