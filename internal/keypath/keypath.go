// Package keypath names the file of a key of a plugin's storage, and the key of a
// file: [Of] and [Key] for the storage itself, [Name] where a person looks for
// it.
//
// A key is a path below the namespace's folder, so that "facts/x.md" is the
// file facts/x.md. The rules, which make the mapping one to one:
//
//   - letters, digits, ".", "_" and "-" of ASCII stand for themselves, every
//     other byte is %XX, in capitals;
//   - the name of a file has a dot in it and the name of a folder has none, so
//     the keys "a" and "a/b" do not meet: in folders a dot is %2E, and a file
//     without a dot of its own ends in ".kv";
//   - a dot at either end of a name is %2E: nothing is hidden, and nothing is
//     lost on systems that strip it;
//   - a name over 200 bytes goes on in folders whose names end in "~".
//
// A file whose name these rules would not write is the key that it spells where
// a person may have named it so, "notes/Coffee brewing.md", see [Plain], and
// no key otherwise.
package keypath

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"

	"github.com/kagewasm/kagewasm/abi"
)

const (
	bareSuffix = ".kv"
	moreSuffix = "~"
	maxName    = 200
)

// Of is the path of a key. The key has to be valid.
func Of(key string) string {
	folder, leaf := "", key
	if i := strings.LastIndexByte(key, '/'); i >= 0 {
		folder, leaf = Folder(key[:i])+"/", key[i+1:]
	}
	name := escape(leaf, true)
	if len(name) <= maxName && strings.Contains(name, ".") && !strings.HasSuffix(name, bareSuffix) {
		return folder + name
	}
	return folder + strings.Join(split(escape(leaf, false)), "/") + bareSuffix
}

// Folder is the path of the folder that holds the keys below prefix + "/".
func Folder(prefix string) string {
	var names []string
	for seg := range strings.SplitSeq(prefix, "/") {
		names = append(names, split(escape(seg, false))...)
	}
	return strings.Join(names, "/")
}

// split cuts a name that is too long, not inside %XX.
func split(name string) (names []string) {
	for len(name) > maxName {
		cut := maxName
		if i := strings.LastIndexByte(name[:cut], '%'); i > cut-3 {
			cut = i
		}
		names = append(names, name[:cut]+moreSuffix)
		name = name[cut:]
	}
	return append(names, name)
}

// pathKey is the key of a path, and whether it is one.
func pathKey(path string) (key string, ok bool) {
	var b strings.Builder
	names := strings.Split(path, "/")
	for i, name := range names {
		last := i == len(names)-1
		part, more := strings.CutSuffix(name, moreSuffix)
		if last {
			part = strings.TrimSuffix(part, bareSuffix)
		}
		text, err := url.PathUnescape(part)
		if err != nil || last && more {
			return "", false
		}
		b.WriteString(text)
		if !last && !more {
			b.WriteByte('/')
		}
	}
	key = b.String()
	return key, abi.CheckKey(key) == nil && Of(key) == path
}

// Plain reports whether a key, as it is, is a good name of a file on any
// system: letters and digits of any script, spaces and a few signs, a dot in the
// name of the file and none in those of folders.
func Plain(key string) bool {
	segs := strings.Split(key, "/")
	for i, seg := range segs {
		switch {
		case len(seg) > maxName, strings.Trim(seg, ". ") != seg, strings.HasSuffix(seg, bareSuffix),
			strings.ContainsFunc(seg, notPlain):
			return false
		case strings.Contains(seg, ".") != (i == len(segs)-1):
			return false
		}
	}
	return abi.CheckKey(key) == nil
}

func notPlain(r rune) bool {
	return !unicode.In(r, unicode.Letter, unicode.Mark, unicode.Digit) && !strings.ContainsRune(" ._-+@#&'(),[]!", r)
}

// Name is the path of the file in which a person looks for a key, below a
// folder of an export: the key itself where it makes a good name.
func Name(key string) string {
	if Plain(key) {
		return key
	}
	return Of(key)
}

// Key is the key of a file that Name or a person has named, and whether
// it is one. Key(Name(key)) is key.
func Key(path string) (key string, ok bool) {
	if key, ok := pathKey(path); ok {
		return key, true
	}
	return path, Plain(path)
}

// escape writes a segment; dots says whether those inside stay.
func escape(seg string, dots bool) string {
	var b strings.Builder
	for i := 0; i < len(seg); i++ {
		c := seg[i]
		if stands(c) || c == '.' && dots && i > 0 && i < len(seg)-1 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

// stands reports whether a byte stands for itself.
func stands(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
