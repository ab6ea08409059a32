package folder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/keypath"
	"github.com/kagewasm/kagewasm/internal/lineage"
	"github.com/kagewasm/kagewasm/store/kv"
)

// ImportOptions say how a folder is read. The zero value keeps both where a
// file and a stored value of its name differ.
type ImportOptions struct {
	// Replace lets files take the place of stored values of the same name.
	Replace bool
	// DryRun stores nothing, and says what would be.
	DryRun bool
	// Quotas are those of the KV, which a folder has to fit by itself. The zero
	// value is the KV's default.
	Quotas kv.Options
}

// Import stores every text file of a folder and of those in it under the key
// that its name is; see [keypath.Key]. Hidden files, links and what is not
// text are skipped, each with a reason. All is stored in one step or nothing is,
// also where the process ends in between; it is refused with CodeQuota where the
// namespace is full. What is stored is the first module's that uses it, or goes to
// the line of modules that has the namespace.
func Import(ctx context.Context, kv KV, ns, dir string, o ImportOptions) (*Report, error) {
	r := &Report{Namespace: ns, Dir: dir, DryRun: o.DryRun, Files: []File{}}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, &abi.Error{Code: abi.CodeBadInput, Op: "import", Message: err.Error(), Err: err,
			Hint: "name a folder of files"}
	}
	defer root.Close()
	in := &importer{Report: r, ctx: ctx, kv: kv, root: root, opts: o, names: make(map[string]string)}
	if err := in.read(); err != nil {
		return nil, err
	}
	if err := in.beside(); err != nil {
		return nil, err
	}
	if o.DryRun || len(in.changes) == 0 {
		return r, nil
	}
	if err := lineage.Offer(ctx, kv, ns); err != nil {
		return nil, err
	}
	if err := kv.Apply(ctx, ns, in.changes); err != nil {
		return nil, err
	}
	return r, nil
}

type importer struct {
	*Report
	ctx     context.Context
	kv      KV
	root    *os.Root
	opts    ImportOptions
	names   map[string]string // of files, by key
	changes []kv.Change
	bytes   int64
}

// read looks at all files and decides about each.
func (in *importer) read() error {
	quotas := in.opts.Quotas.WithDefaults()
	return fs.WalkDir(in.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case in.ctx.Err() != nil:
			return in.ctx.Err()
		case err != nil:
			return fault("import", name, err)
		case name == ".":
			return nil
		case strings.HasPrefix(d.Name(), "."):
			in.skip(name, "hidden")
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return nil
		case !d.Type().IsRegular():
			in.skip(name, "a link, or no plain file")
			return nil
		}
		if err := in.file(name, quotas.MaxValueBytes); err != nil {
			return err
		}
		if len(in.changes) > quotas.MaxKeys || in.bytes > quotas.MaxBytes {
			why := fmt.Sprintf("%s: more than %d files or %d bytes of text", in.Dir, quotas.MaxKeys, quotas.MaxBytes)
			return &abi.Error{Code: abi.CodeQuota, Op: "import", Message: why, Hint: "import a part of it"}
		}
		return nil
	})
}

// beside counts what is stored already and is of no file.
func (in *importer) beside() error {
	keys, err := in.kv.List(in.ctx, in.Namespace, "")
	if err != nil {
		return err
	}
	in.New = len(keys) == 0
	files := make(map[string]bool)
	for _, f := range in.Files {
		files[f.Key] = true
	}
	for _, key := range keys {
		if _, named := in.names[key]; !named && !files[key] {
			in.Others++
		}
	}
	return nil
}

func (in *importer) skip(name, why string) {
	in.Files = append(in.Files, File{Name: name, Action: Skipped, Why: why})
}

// file decides about one file.
func (in *importer) file(name string, most int) error {
	key, ok := keypath.Key(name)
	if !ok {
		in.skip(name, "its name cannot be a key: use letters, digits, spaces and ._-, a dot in the name of the "+
			"file, and none in those of folders")
		return nil
	}
	if other, taken := in.names[key]; taken {
		in.skip(name, "the same key as "+other)
		return nil
	}
	in.names[key] = name
	text, err := in.text(name, most)
	switch {
	case errors.Is(err, errLong):
		in.skip(name, fmt.Sprintf("more than %d bytes", most))
		return nil
	case err != nil:
		return fault("import", name, err)
	case !utf8.ValidString(text):
		in.skip(name, "not text (utf-8)")
		return nil
	}
	f := File{Name: name, Key: key, Action: Added, Bytes: int64(len(text))}
	old, found, err := in.kv.Get(in.ctx, in.Namespace, key)
	switch {
	case err != nil:
		return err
	case !found:
	case old == text:
		f.Action = Unchanged
	case in.opts.Replace:
		f.Action = Replaced
	default:
		f.Action, f.Key = KeptBoth, otherKey(key, text)
		if there, _, err := in.kv.Get(in.ctx, in.Namespace, f.Key); err != nil {
			return err
		} else if there == text {
			f.Action = Unchanged // imported before
		}
		old = ""
	}
	if f.Action != Unchanged {
		in.changes = append(in.changes, kv.Change{Key: f.Key, Value: text, Expect: &old})
		in.bytes += f.Bytes
	}
	in.Files = append(in.Files, f)
	return nil
}

var errLong = errors.New("too long")

func (in *importer) text(name string, most int) (string, error) {
	f, err := in.root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(b) > most {
		err = errLong
	}
	return string(b), err
}

// otherKey is a key for a text whose own is taken. The same text gets the same.
func otherKey(key, text string) string {
	sum := sha256.Sum256([]byte(text))
	ext := path.Ext(key)
	name := strings.TrimSuffix(key, ext)
	suffix := "-imported-" + hex.EncodeToString(sum[:4]) + ext
	if most := abi.MaxKeyBytes - len(suffix); len(name) > most {
		name = strings.ToValidUTF8(name[:most], "")
	}
	return name + suffix
}
