package pick

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/kagewasm/kagewasm/store"
)

// Place is where somebody is who names no session.
type Place struct {
	// Dir is the working directory, absolute.
	Dir string
	// Agent is the name of the program that asks, such as claude-code.
	Agent string
}

// Nearest is the session that is meant where none is named, and why it is taken: of those of the working directory, or
// of the program where none is, or of all, the one that changed last. It is nil where nothing is stored.
func Nearest(ctx context.Context, s *store.Store, at Place) (nearest *store.Session, why string, err error) {
	best := -1
	err = each(ctx, s, func(one store.Session) bool {
		if n := at.rank(&one); n > best {
			best, nearest = n, &one
		}
		return best < len(reasons)-1
	})
	if err != nil || nearest == nil {
		return nil, "", err
	}
	return nearest, reasons[best], nil
}

// reasons say why a session was taken, the best last.
var reasons = []string{
	"the latest of all: none is known to be of this folder or this program",
	"the latest of this program: none is known to be of this folder",
	"the latest of this folder",
	"the latest of this program in this folder",
}

// rank is the number of the reason for taking a session.
func (at Place) rank(one *store.Session) (n int) {
	if at.program(one.Source) {
		n++
	}
	if at.here(one.Source) {
		n += 2
	}
	return n
}

// here reports whether a session is of the working directory: its file lies there, or in a folder that a program
// named after it, such as -home-me-project.
func (at Place) here(source string) bool {
	if at.Dir == "" || !filepath.IsAbs(source) {
		return false
	}
	if rel, err := filepath.Rel(at.Dir, source); err == nil && filepath.IsLocal(rel) {
		return true
	}
	named := dashed(at.Dir)
	return named != "" && named == dashed(filepath.Base(filepath.Dir(source)))
}

// dashed is a path as programs make one name of it.
func dashed(path string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
			return r
		}
		return '-'
	}, path), "-")
}

// program reports whether a session is of the program that asks: its source is called like it, or a folder of it is,
// as ~/.claude is of claude-code.
func (at Place) program(source string) bool {
	name, _, _ := strings.Cut(strings.ToLower(at.Agent), "-")
	if name == "" {
		return false
	}
	for part := range strings.FieldsFuncSeq(strings.ToLower(source), func(r rune) bool { return r == '/' || r == '\\' }) {
		if part = strings.TrimPrefix(part, "."); part == name || strings.HasPrefix(part, name+"-") {
			return true
		}
	}
	return false
}
