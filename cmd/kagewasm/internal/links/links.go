// Package links says where the links on a path lead: [Ways] and [Target].
//
// A link that somebody else put into a folder that everybody can write to, such as
// /tmp, is not followed. It is what the kernel does with such links where it is asked
// to open them, and here paths are resolved before.
package links

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/kagewasm/kagewasm/internal/owner"
)

// maxLinks is how many links are followed at most.
const maxLinks = 255

var (
	errLinks   = errors.New("too many links")
	errPlanted = errors.New("a link of another user, in a folder that everybody can write to: name what it leads to")
)

// Ways are the paths of a file: the given one, and those that the links on it lead to,
// one after the other, all absolute. The last has no links. What is not there has
// none. Errors are *fs.PathError.
func Ways(path string) ([]string, error) {
	at, err := filepath.Abs(path)
	var list []string
	for err == nil && at != "" {
		if list = append(list, at); len(list) > maxLinks {
			return nil, &fs.PathError{Op: "follow", Path: path, Err: errLinks}
		}
		at, err = next(at)
	}
	return list, err
}

// Target is where a path leads, whether anything is there yet or not.
func Target(path string) (string, error) {
	ways, err := Ways(path)
	if err != nil {
		return "", err
	}
	return ways[len(ways)-1], nil
}

// next is a path with its first link resolved; it is empty where there is none.
func next(path string) (string, error) {
	const separator = string(filepath.Separator)
	at := filepath.VolumeName(path) + separator
	names := strings.Split(strings.TrimPrefix(path, at), separator)
	for i, name := range names {
		link := filepath.Join(at, name)
		switch info, err := os.Lstat(link); {
		case errors.Is(err, fs.ErrNotExist):
			return "", nil
		case err != nil:
			return "", err
		case info.Mode()&fs.ModeSymlink == 0:
			at = link
			continue
		case planted(at, info):
			return "", &fs.PathError{Op: "follow", Path: link, Err: errPlanted}
		}
		target, err := os.Readlink(link)
		if !filepath.IsAbs(target) {
			target = filepath.Join(at, target)
		}
		return filepath.Join(append([]string{target}, names[i+1:]...)...), err
	}
	return "", nil
}

// planted reports whether a link in a folder may be a trap.
func planted(folder string, link fs.FileInfo) bool {
	dir, err := os.Stat(folder)
	if err != nil || dir.Mode()&fs.ModeSticky == 0 || dir.Mode().Perm()&0o002 == 0 {
		return false
	}
	whose, ok := owner.Of(link)
	folders, _ := owner.Of(dir)
	return ok && whose != os.Geteuid() && whose != folders
}
