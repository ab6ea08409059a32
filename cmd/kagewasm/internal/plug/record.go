package plug

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/files"
)

// Record is what an installation did. It lies in the state folder.
type Record struct {
	// Kagewasm is the version that installed, Agent that of the agent then.
	Kagewasm string    `json:"kagewasm"`
	Agent    string    `json:"agent,omitempty"`
	Calls    Calls     `json:"calls"`
	Files    []Touched `json:"files"`
	// Folders are those that were made, outer ones first.
	Folders []string `json:"folders,omitempty"`

	path string
}

// Touched is a file of an installation.
type Touched struct {
	Path string `json:"path"`
	// Before is the file as it was, After the digest of what was written.
	Before   []byte `json:"before"` // null for no file
	After    string `json:"after"`
	Settings bool   `json:"settings,omitempty"`
	Part     bool   `json:"part,omitempty"` // it is the user's file, with a part of ours
}

// Open reads the record of an agent's installation below a folder; it is empty where there is none.
func Open(folder, agent string) (*Record, error) {
	r := &Record{path: filepath.Join(folder, agent+".json")}
	data, err := read(r.path)
	if err != nil || data == nil {
		return r, err
	}
	return r, json.Unmarshal(data, r)
}

// Installed reports whether there is an installation.
func (r *Record) Installed() bool { return len(r.Files) > 0 }

// find is the entry of a file, or nil.
func (r *Record) find(path string) *Touched {
	for i := range r.Files {
		if r.Files[i].Path == path {
			return &r.Files[i]
		}
	}
	return nil
}

// save writes the record, or removes it where nothing is installed any more.
func (r *Record) save() error {
	if !r.Installed() {
		return ignoreMissing(os.Remove(r.path))
	}
	if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
		return err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return err
	}
	return files.WritePrivate(r.path, b.Bytes())
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// digest is nothing for no file.
func digest(data []byte) string {
	if data == nil {
		return ""
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
