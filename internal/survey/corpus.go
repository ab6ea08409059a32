package survey

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript"
)

// Session is a session to survey, as its model would see it next.
type Session struct {
	// Name tells it from the others: its path as it was found, or a sample's.
	Name     string
	Model    string // empty where the session does not say
	Messages []abi.Message
	Tools    json.RawMessage // tool definitions; nil where there are none
}

// Corpus reads the sessions in files and folders, in any format that package
// transcript knows. What was read is kept, until its file changes. It is for
// one goroutine at a time.
type Corpus struct {
	paths []string
	known map[string]entry
}

// entry is a file as it was when it was read.
type entry struct {
	size    int64
	changed time.Time
	session *Session
	err     error
}

// Skipped is a file in a folder that is no session.
type Skipped struct {
	Path string     `json:"path"`
	Why  *abi.Error `json:"why"`
}

// NewCorpus is about the sessions in the files, and in the folders and those
// below.
func NewCorpus(paths ...string) *Corpus {
	return &Corpus{paths: paths, known: make(map[string]entry)}
}

// IsSessionFile reports whether the name of a file ends as those of sessions
// do: in .jsonl, .json or .traj.
func IsSessionFile(name string) bool {
	return slices.Contains([]string{".jsonl", ".json", ".traj"}, strings.ToLower(filepath.Ext(name)))
}

// Sessions are those that are there now, by name. A file of a folder that
// cannot be read as a session is skipped; one that was named is an error: of
// code usage where it is not there, bad_input where it is no session.
func (c *Corpus) Sessions() (sessions []*Session, skipped []Skipped, err error) {
	seen := make(map[string]bool)
	for _, root := range c.paths {
		err := walk(root, func(path string, named bool) error {
			if seen[path] {
				return nil
			}
			seen[path] = true
			s, err := c.read(path)
			switch {
			case err == nil:
				sessions = append(sessions, s)
			case named:
				return err
			default:
				skipped = append(skipped, Skipped{Path: path, Why: abi.AsError(err)})
			}
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	for path := range c.known {
		if !seen[path] {
			delete(c.known, path)
		}
	}
	return sessions, skipped, nil
}

// walk finds the files that may be sessions, in the order of their names.
func walk(root string, found func(path string, named bool) error) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return missing(err)
		case path == root && !d.IsDir():
			return found(path, true)
		case path != root && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.Type().IsRegular() && IsSessionFile(path):
			return found(path, false)
		}
		return nil
	})
}

// read reads a file, unless it is as it was.
func (c *Corpus) read(path string) (*Session, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, missing(err)
	}
	e, ok := c.known[path]
	if !ok || e.size != info.Size() || !e.changed.Equal(info.ModTime()) {
		e = entry{size: info.Size(), changed: info.ModTime()}
		e.session, e.err = readFile(path)
		c.known[path] = e
	}
	return e.session, e.err
}

func readFile(path string) (*Session, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, missing(err)
	}
	s, err := transcript.Read(path, data, transcript.Auto)
	if err != nil {
		return nil, err
	}
	return &Session{Name: path, Model: s.Model, Messages: s.Live(), Tools: s.Tools}, nil
}

func missing(err error) error {
	return &abi.Error{Code: abi.CodeUsage, Op: "sessions", Message: err.Error(),
		Hint: "name files and folders with sessions", Err: err}
}
